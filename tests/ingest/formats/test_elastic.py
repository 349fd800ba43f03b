from __future__ import annotations

import json

import pytest
from format_samples import ELASTIC_DOTTED, ELASTIC_NESTED, at, only_bad, only_row, parsed

from aidos.ingest.formats.elastic import ElasticAnalytics

ELASTIC = ElasticAnalytics()


def test_a_nested_click() -> None:
    assert only_row(ELASTIC, json.dumps(ELASTIC_NESTED)) == {
        "client_id": "u1",
        "timestamp": at("2024-05-01T10:11:12.345000"),
        "user_query": "tent",
        "session_id": "s1",
        "query_id": None,
        "action": "click",
        "object_id": "7",
        "position": 2,
    }


def test_a_dotted_search() -> None:
    row = only_row(ELASTIC, json.dumps(ELASTIC_DOTTED))
    assert (row["action"], row["user_query"], row["object_id"], row["position"]) == ("query", "tent", None, None)


def test_a_dotted_click_finds_its_position() -> None:
    event = {**ELASTIC_DOTTED, "event.action": "search_click", "document.id": "7"}
    assert only_row(ELASTIC, json.dumps(event))["position"] == 2
    assert only_row(ELASTIC, json.dumps({**event, "document.id": "8"}))["position"] is None


def test_dots_and_nesting_may_be_mixed() -> None:
    event = {**ELASTIC_DOTTED, "search": {"results.items": [{"document.id": 7}]}, "document": {"id": 7}}
    row = only_row(ELASTIC, json.dumps(event))
    assert (row["object_id"], row["position"]) == ("7", 1)


@pytest.mark.parametrize("spelling", ["page_view", "pageview"])
def test_a_page_view_needs_no_query(spelling: str) -> None:
    event = {"@timestamp": 1714558272345, "event": {"action": spelling}, "user": {"id": "u1"}, "document": {"id": "7"}}
    row = only_row(ELASTIC, json.dumps(event))
    assert (row["action"], row["user_query"], row["object_id"], row["position"]) == ("page_view", None, "7", None)


def test_the_session_stands_in_for_a_missing_user() -> None:
    assert only_row(ELASTIC, json.dumps({**ELASTIC_DOTTED, "user.id": ""}))["client_id"] == "s1"


def test_hits_of_an_export_carry_the_event_inside() -> None:
    lines = [json.dumps({"_index": "x", "_id": "1", "_source": ELASTIC_NESTED})]
    assert only_row(ELASTIC, lines[0]) == only_row(ELASTIC, json.dumps(ELASTIC_NESTED))


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        ({"user.id": None, "session.id": None}, "missing-person", "user.id"),
        ({"@timestamp": "soon"}, "unreadable-time", "@timestamp"),
        ({"event.action": None}, "bad-line", "event.action"),
    ],
)
def test_bad_events(change: dict[str, object], kind: str, column: str) -> None:
    bad = only_bad(ELASTIC, json.dumps({**ELASTIC_DOTTED, **change}))
    assert (bad.line, bad.kind, bad.column) == (1, kind, column)
    assert "soon" not in bad.sentence
    assert "tent" not in bad.sentence


def test_bulk_lines_give_no_rows() -> None:
    assert parsed(ELASTIC, '{"create": {"_index": "x"}}', "") == []
