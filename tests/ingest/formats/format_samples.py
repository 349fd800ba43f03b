"""One small file of every format, written for these tests, and what the tests do with them all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from aidos.ingest.formats.base import BadRow, LineFormat, Row, Sample

UBI_QUERY = {
    "application": "shop",
    "query_id": "q1",
    "client_id": "c1",
    "user_query": "garden chair",
    "query_attributes": {},
    "timestamp": "2024-12-10T00:01:29.378Z",
}
UBI_EVENT = {
    "application": "shop",
    "action_name": "click",
    "query_id": "q1",
    "session_id": "s1",
    "client_id": "c1",
    "timestamp": 1733788890000,
    "message_type": None,
    "event_attributes": {"object": {"object_id": "d7", "object_id_field": "sku"}, "position": {"ordinal": 2}},
}
ELASTIC_NESTED = {
    "@timestamp": "2024-05-01T10:11:12.345Z",
    "event": {"action": "search_click"},
    "session": {"id": "s1"},
    "user": {"id": "u1"},
    "search": {"query": "tent", "results": {"items": [{"document": {"id": "9"}}, {"document": {"id": "7"}}]}},
    "document": {"id": "7", "index": "products"},
}
ELASTIC_DOTTED = {
    "@timestamp": "2024-05-01T10:11:12.345Z",
    "event.action": "search",
    "session.id": "s1",
    "user.id": "u1",
    "search.query": "tent",
    "search.results.items.document.id": ["9", "7"],
}
QLOG = {
    "user_id": "142",
    "query_id": "a1",
    "query": "rental car",
    "query_orig": "Rental  Car",
    "time": "2006-03-01T07:17:12",
    "items": [{"doc_id": "x", "rank": 1, "clicked": False}, {"doc_id": "y", "rank": 2, "clicked": True}],
}
CANONICAL = {
    "client_id": "c1",
    "timestamp": "2024-05-01 10:11:12",
    "user_query": "tent",
    "session_id": "s1",
    "query_id": "q1",
    "action": "query",
    "object_id": None,
    "position": None,
}
SOLR = (
    "2024-05-01 10:11:12.345 INFO  (qtp1-20) [c:shop s:shard1 r:core_node3 x:shop_1] o.a.s.c.S.Request [shop_1]  "
    "webapp=/solr path={path} params={{{params}}} hits=4 status=0 QTime=1"
)
POST = (
    '  <row Id="{id}" PostTypeId="{kind}" CreationDate="2011-06-21T20:19:34.730" Score="8" '
    'Body="&lt;p&gt;Which &lt;em&gt;boat&lt;/em&gt;?&lt;/p&gt;&#xA;" OwnerUserId="9" Title="Boats &amp; ships" '
    'Tags="&lt;boats&gt;&lt;sea-travel&gt;" />'
)


def as_lines(*documents: object) -> tuple[str, ...]:
    return tuple(json.dumps(document) for document in documents)


FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "ubi bulk": ("ubi", as_lines({"index": {"_index": "ubi_queries", "_id": "1"}}, UBI_QUERY)),
    "ubi queries": ("ubi", as_lines(UBI_QUERY, UBI_QUERY)),
    "ubi with few fields": (
        "ubi",
        as_lines({name: UBI_QUERY[name] for name in ("client_id", "query_id", "user_query", "timestamp")}),
    ),
    "ubi events": ("ubi", as_lines(UBI_EVENT, UBI_EVENT)),
    "ubi in hits": ("ubi", as_lines({"_index": "x", "_id": "1", "_source": UBI_EVENT})),
    "elastic nested": ("elastic", as_lines(ELASTIC_NESTED, ELASTIC_NESTED)),
    "elastic dotted": ("elastic", as_lines(ELASTIC_DOTTED, ELASTIC_DOTTED)),
    "elastic bulk": ("elastic", as_lines({"create": {"_index": "behavioral_analytics-x"}}, ELASTIC_NESTED)),
    "solr": ("solr", (SOLR.format(path="/select", params="q=tent&user=u1"),)),
    "solr started": ("solr", ("2024-05-01 10:11:12.345 INFO  (main) [ ] o.a.s.s.CoreContainerProvider Using logger",)),
    "run": ("trec-run", ("301 Q0 FT911-3 1 12.5 bm25", "301 Q0 FT911-4 2 11.0 bm25")),
    "run with tabs": ("trec-run", ("301\tQ0\tFT911-3\t1\t-12.5e-1\tbm25",)),
    "qrels": ("trec-qrels", ("301 0 FT911-3 1", "301 0 FT911-4 0", "302 0 LA01 -1")),
    "qrels with tabs": ("trec-qrels", ("1\tQ0\tD3\t3",)),
    "qlogs": ("qlogs", as_lines(QLOG, QLOG)),
    "qlogs of visits": ("qlogs", as_lines({**{k: v for k, v in QLOG.items() if k != "user_id"}, "session_id": "s"})),
    "posts": (
        "stackexchange",
        ("<?xml version='1.0'?>", "<posts>", POST.format(id=1, kind=1), POST.format(id=2, kind=2)),
    ),
    "no posts": ("stackexchange", ('<?xml version="1.0" encoding="utf-8"?>', "<posts>", "</posts>")),
    "canonical json": ("jsonl", as_lines(CANONICAL, CANONICAL)),
    "json of another kind": ("jsonl", as_lines({"user": "c1", "time": 1714558272, "q": "tent"})),
    "json without known fields": ("jsonl", as_lines({"who": {"k": "v"}, "when": 1714558272, "said": "tent"})),
    "json posts": ("jsonl", as_lines({"id": 1, "author": "m1", "created": "2024-05-01", "body": "words"})),
    "aol": ("aol", ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL", "142\trentals\t2006-03-01 07:17:12\t\t")),
    "excite": (
        "excite",
        ("2A9EABFB35F5B954\t970916105432\tsolar stove 4 1", "BED75271605EBD0C\t970916001949\tyahoo chat"),
    ),
    "csv": (
        "csv",
        ("client_id,timestamp,user_query", "c1,2024-05-01 10:11:12,tent", "c2,2024-05-01,red tent 4 1"),
    ),
}
"""A name for each sample: the format that must win, and its lines."""


def at(time: str) -> datetime:
    return datetime.fromisoformat(time)


def sample(lines: Iterable[str], name: str = "file") -> Sample:
    return Sample(name, tuple(lines))


def parsed(format_: LineFormat, *lines: str) -> list[Row | BadRow]:
    return list(format_.parse(enumerate(lines, start=1)))


def only_row(format_: LineFormat, line: str) -> dict[str, object]:
    (row,) = parsed(format_, line)
    assert isinstance(row, Row), row
    return dict(row.values)


def only_bad(format_: LineFormat, line: str) -> BadRow:
    (bad,) = parsed(format_, line)
    assert isinstance(bad, BadRow), bad
    return bad
