from __future__ import annotations

import json

import pytest
from format_samples import CANONICAL, as_lines, at, only_bad, only_row, parsed, sample

from aidos.core.records import POSTS, RUN, SEARCH_LOG
from aidos.ingest.formats.base import BadRow, Row
from aidos.ingest.formats.jsonl import JsonLines


def fitted(columns: dict[str, str], *documents: object) -> JsonLines:
    return JsonLines().fitted(sample(as_lines(*documents)), columns)


def test_fields_are_found_by_their_names() -> None:
    row = only_row(
        JsonLines(), json.dumps({"AnonID": 7.0, "QueryTime": 1714558272, "Query": " tent ", "ItemRank": "3"})
    )
    assert row == {
        "client_id": "7",
        "timestamp": at("2024-05-01T10:11:12"),
        "user_query": " tent ",
        "position": 3,
        "action": "query",
    }


def test_a_row_with_an_object_is_a_click() -> None:
    document = {"user": "c", "time": "2024-05-01", "q": "tent", "url": "u"}
    assert only_row(JsonLines(), json.dumps(document))["action"] == "click"


def test_the_canonical_columns_come_through() -> None:
    assert only_row(JsonLines(), json.dumps(CANONICAL)) == {**CANONICAL, "timestamp": at("2024-05-01T10:11:12")}


def test_columns_named_by_the_user_reach_into_nested_objects() -> None:
    document = {"who": {"device": {"key": "d1"}, "user": "x"}, "when": "2024-05-01T10:11:12", "said": "tent"}
    format_ = fitted({"client_id": "who.device.key", "timestamp": "when", "user_query": "said"}, document)
    assert only_row(format_, json.dumps(document))["client_id"] == "d1"
    assert format_.columns() == {"who.device.key": "client_id", "when": "timestamp", "said": "user_query"}


def test_nested_fields_are_found_by_their_dotted_names() -> None:
    document = {"user": {"id": "u"}, "time": 1714558272, "search": {"query": "tent"}}
    row = only_row(JsonLines(), json.dumps(document))
    assert (row["client_id"], row["user_query"]) == ("u", "tent")


def test_the_person_is_named_by_one_field_throughout() -> None:
    first = {"user": "c1", "uid": "other", "time": 1714558272, "q": "tent"}
    later = {"uid": "other", "time": 1714558272, "q": "tent"}
    good, bad = parsed(JsonLines(), *as_lines(first, later))
    assert isinstance(good, Row)
    assert isinstance(bad, BadRow)
    assert (bad.line, bad.kind, bad.column) == (2, "missing-person", "user")


def test_the_kind_of_table_follows_the_fields() -> None:
    post = {"id": 1, "author": "m1", "created": "2024-05-01", "body": "words", "tags": ["a", "b"], "votes": -2}
    result = {"qid": "1", "docno": "d", "rank": 1, "score": 0.5, "run": "bm25"}
    posts, run = fitted({}, post), fitted({}, result)
    assert (posts.schema, run.schema, fitted({}, CANONICAL).schema) == (POSTS, RUN, SEARCH_LOG)
    assert only_row(posts, json.dumps(post))["tags"] == "a b"
    assert only_row(run, json.dumps(result))["score"] == 0.5


def test_more_lines_than_a_sample_are_all_read() -> None:
    lines = as_lines(*({"user": f"c{i}", "time": 1714558272 + i, "q": "tent"} for i in range(450)))
    rows = parsed(JsonLines(), *lines)
    assert [row.line for row in rows] == list(range(1, 451))
    assert all(isinstance(row, Row) for row in rows)


def test_a_missing_column_is_named() -> None:
    bad = only_bad(JsonLines(), json.dumps({"user": "c1", "note": "secret"}))
    assert (bad.kind, bad.column) == ("missing-column", "timestamp")
    assert "secret" not in bad.sentence


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        ({"user": None}, "missing-person", "user"),
        ({"user": {"id": "x"}}, "missing-person", "user"),
        ({"time": "secret"}, "unreadable-time", "time"),
        ({"rank": "secret"}, "bad-number", "rank"),
        ({"rank": 1.5}, "bad-number", "rank"),
        ({"rank": True}, "bad-number", "rank"),
    ],
)
def test_bad_cells(change: dict[str, object], kind: str, column: str) -> None:
    document = {"user": "c1", "time": 1714558272, "q": "tent", "rank": 1}
    bad = parsed(JsonLines(), *as_lines(document, {**document, **change}))[1]
    assert isinstance(bad, BadRow)
    assert (bad.line, bad.kind, bad.column) == (2, kind, column)
    assert "secret" not in bad.sentence


def test_broken_json_is_still_json_and_not_taken_for_columns() -> None:
    seen = JsonLines().recognise(sample(['{"user": "secret", "q"', '{"user": "secret", "q"']))
    assert seen is not None
    assert seen.confidence >= 0.5
    assert "secret" not in seen.why
