"""Query logs of ir_datasets (``aol-ia``, ``tripclick/logs``): as exported JSON lines, or straight from the package.

One row for the query, and one more for each result that was clicked. The query is ``query_orig``, what was typed, or
``query`` where that is absent. The person is ``user_id``; logs that know only visits have ``session_id`` in its
place, so one person's visits then count as several people. Results that were shown and not clicked give no row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib import import_module

from aidos.core.records import SEARCH_LOG
from aidos.errors import InputError, MissingExtraError
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import (
    Document,
    UnreadableError,
    load_document,
    moment,
    person,
    sample_documents,
    text,
    whole,
)

__all__ = ["PREFIX", "QueryLogs", "qlog_lines"]

PREFIX = "ir_datasets:"
"""What names of datasets begin with where a path could stand."""


class QueryLogs:
    """Query log entries of ir_datasets as JSON lines."""

    name = "qlogs"
    title = "ir_datasets query log"
    schema = SEARCH_LOG

    def recognise(self, sample: Sample) -> Recognition | None:
        """By the fields of an entry: query_id, query, time and items."""
        documents = sample_documents(sample)
        known = sum({"query_id", "query", "time", "items"} <= document.keys() for document in documents)
        if documents and 2 * known > len(documents):
            return Recognition(1.0, "JSON documents with query_id, query, time and items, as ir_datasets has them")
        return None

    def columns(self) -> Mapping[str, str]:
        return {
            "user_id": "client_id",
            "time": "timestamp",
            "query_orig": "user_query",
            "session_id": "session_id",
            "query_id": "query_id",
            "items.clicked": "action",
            "items.doc_id": "object_id",
            "items.rank": "position",
        }

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        for number, line in lines:
            try:
                document = load_document(line)
                if document is not None:
                    for values in _actions(document):
                        yield Row(number, values)
            except UnreadableError as bad:
                yield bad.at(number)


def qlog_lines(dataset_id: str) -> Iterator[tuple[int, str]]:
    """The entries of a dataset's query log as numbered JSON lines, for ``parse``; takes ``ir_datasets:aol-ia`` too.

    The package downloads a dataset the first time it is asked for it.
    """
    try:
        package = import_module("ir_datasets")  # an extra, and slow to load
    except ImportError:
        raise MissingExtraError("reading a query log of ir_datasets", extra="ir-datasets") from None
    name = dataset_id.removeprefix(PREFIX)
    try:
        dataset = package.load(name)
    except KeyError:
        raise InputError(f"ir_datasets has no dataset named {name}", hint="see: ir_datasets list") from None
    if not dataset.has_qlogs():
        raise InputError(f"the dataset {name} of ir_datasets has no query log", hint="one that has: aol-ia")
    return ((number, _json_line(entry)) for number, entry in enumerate(dataset.qlogs_iter(), start=1))


def _json_line(entry: object) -> str:
    return json.dumps(_plain(entry), ensure_ascii=True)


def _plain(value: object) -> object:
    as_dict = getattr(value, "_asdict", None)
    if as_dict is not None:
        return {name: _plain(inner) for name, inner in as_dict().items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _actions(document: Document) -> list[dict[str, object]]:
    """The query and its clicks; all of them or, when one cannot be read, none."""
    session = text(document.get("session_id"))
    typed = document.get("query_orig") or document.get("query")
    query: dict[str, object] = {
        "client_id": person(text(document.get("user_id")) or session, "user_id"),
        "timestamp": moment(document.get("time"), "time"),
        "user_query": typed if isinstance(typed, str) else None,
        "session_id": session,
        "query_id": text(document.get("query_id")),
        "action": "query",
    }
    items = document.get("items") or ()
    if not isinstance(items, list | tuple):
        raise UnreadableError("bad-line", "items is not a list", "items")
    clicks = [click for item in items if (click := _click(item)) is not None]
    return [query, *({**query, **click} for click in clicks)]


def _click(item: object) -> dict[str, object] | None:
    """The columns of a click; None when the result was not clicked."""
    if isinstance(item, list) and len(item) in (2, 3):  # exports that lost the names keep the order
        item = dict(zip(("doc_id", "clicked") if len(item) == 2 else ("doc_id", "rank", "clicked"), item, strict=True))
    if not isinstance(item, dict):
        raise UnreadableError("bad-line", "items holds something that is not a result", "items")
    if item.get("clicked") is not True:
        return None
    return {"action": "click", "object_id": text(item.get("doc_id")), "position": whole(item.get("rank"), "items.rank")}
