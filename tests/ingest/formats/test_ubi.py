from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from format_samples import UBI_EVENT, UBI_QUERY, as_lines, at, only_bad, only_row, parsed
from hypothesis import given
from hypothesis import strategies as st

from aidos.ingest.formats.base import BadRow, Row
from aidos.ingest.formats.ubi import UserBehaviorInsights

UBI = UserBehaviorInsights()


def test_a_query() -> None:
    assert only_row(UBI, json.dumps(UBI_QUERY)) == {
        "client_id": "c1",
        "timestamp": at("2024-12-10T00:01:29.378000"),
        "user_query": "garden chair",
        "session_id": None,
        "query_id": "q1",
        "action": "query",
    }


def test_an_event_takes_the_text_of_its_query_and_counts_positions_from_one() -> None:
    rows = parsed(UBI, *as_lines(UBI_QUERY, UBI_EVENT))
    assert isinstance(rows[1], Row)
    assert dict(rows[1].values) == {
        "client_id": "c1",
        "timestamp": at("2024-12-10T00:01:30"),
        "user_query": "garden chair",
        "session_id": "s1",
        "query_id": "q1",
        "action": "click",
        "object_id": "d7",
        "position": 3,
    }


def test_an_event_before_its_query_has_no_text() -> None:
    rows = parsed(UBI, *as_lines(UBI_EVENT, UBI_QUERY))
    assert isinstance(rows[0], Row)
    assert rows[0].values["user_query"] is None


def test_an_event_takes_no_text_from_a_query_of_somebody_else() -> None:
    other = {**UBI_QUERY, "client_id": "somebody else", "user_query": "not asked here"}
    rows = parsed(UBI, *as_lines(UBI_QUERY, other, UBI_EVENT))
    assert isinstance(rows[-1], Row)
    assert rows[-1].values["user_query"] == UBI_QUERY["user_query"]


def test_two_readings_share_no_queries() -> None:
    parsed(UBI, json.dumps(UBI_QUERY))
    assert only_row(UBI, json.dumps(UBI_EVENT))["user_query"] is None


def test_the_events_own_text_goes_before_that_of_its_query() -> None:
    rows = parsed(UBI, *as_lines(UBI_QUERY, {**UBI_EVENT, "user_query": "garden"}))
    assert isinstance(rows[1], Row)
    assert rows[1].values["user_query"] == "garden"


def test_a_message_of_type_query_is_what_was_typed() -> None:
    event = {**UBI_EVENT, "query_id": "", "message_type": "QUERY", "message": "gar"}
    assert only_row(UBI, json.dumps(event))["user_query"] == "gar"
    assert only_row(UBI, json.dumps({**event, "message_type": "INFO"}))["user_query"] is None


def test_bulk_lines_and_blank_lines_are_passed_over_and_counted() -> None:
    rows = parsed(
        UBI, '{"index": {"_index": "ubi_queries"}}', json.dumps(UBI_QUERY), "", '{"create":{}}', json.dumps(UBI_EVENT)
    )
    assert [row.line for row in rows] == [2, 5]


def test_the_session_may_stand_in_the_attributes() -> None:
    event = {**UBI_EVENT, "session_id": None, "event_attributes": {"session_id": "s9"}}
    row = only_row(UBI, json.dumps(event))
    assert (row["session_id"], row["object_id"], row["position"]) == ("s9", None, None)


def test_the_user_stands_in_for_a_blank_client() -> None:
    assert only_row(UBI, json.dumps({**UBI_QUERY, "client_id": "", "user_id": 77}))["client_id"] == "77"


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        ({"client_id": None}, "missing-person", "client_id"),
        ({"client_id": "   "}, "missing-person", "client_id"),
        ({"client_id": ["c1"]}, "missing-person", "client_id"),
        ({"timestamp": "half past nine"}, "unreadable-time", "timestamp"),
        ({"timestamp": None}, "unreadable-time", "timestamp"),
        ({"event_attributes": {"position": {"ordinal": "third"}}}, "bad-number", "event_attributes.position.ordinal"),
        ({"event_attributes": {"position": {"ordinal": -1}}}, "bad-number", "event_attributes.position.ordinal"),
        ({"event_attributes": {"position": {"ordinal": 2**31 - 1}}}, "bad-number", "event_attributes.position.ordinal"),
    ],
)
def test_bad_cells(change: dict[str, object], kind: str, column: str) -> None:
    rows = parsed(UBI, "", json.dumps({**UBI_EVENT, **change}), json.dumps(UBI_EVENT))
    bad, good = rows
    assert isinstance(bad, BadRow)
    assert isinstance(good, Row)
    assert (bad.line, bad.kind, bad.column) == (2, kind, column)
    assert not any(cell in bad.sentence for cell in ("half past", "third", "garden", "d7", "s1"))


@pytest.mark.parametrize(
    "line", ['{"client_id": "secret"', "secret", '["secret"]', '"secret"', '{"a": "\\ud800secret"}', "{} secret"]
)
def test_bad_json(line: str) -> None:
    bad = only_bad(UBI, line)
    assert bad.kind == "bad-json"
    assert "secret" not in bad.sentence


def test_pairs_of_escapes_are_text() -> None:
    assert only_row(UBI, json.dumps({**UBI_QUERY, "user_query": "⛺🏕"}))["user_query"] == "⛺🏕"


def test_documents_of_other_kinds_are_bad() -> None:
    assert only_bad(UBI, '{"client_id": "c1", "timestamp": 1}').kind == "bad-line"


words = st.text(min_size=1, max_size=20).filter(lambda word: not word.isspace())
times = st.datetimes(min_value=at("1990-01-01T00:00:00"), max_value=at("2100-01-01T00:00:00")).map(
    lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000)
)
zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timedelta(minutes=minutes))


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[str, dict[str, object]]]:
    """Documents in one of their spellings, each with the row it stands for; queries come before their events."""
    typed = draw(st.dictionaries(words, words, min_size=1, max_size=4))
    out: list[tuple[str, dict[str, object]]] = []
    clients = {query_id: draw(words) for query_id in sorted(typed)}
    for query_id in draw(st.permutations(sorted(typed))):
        row = {
            "client_id": clients[query_id],
            "timestamp": draw(times),
            "user_query": typed[query_id],
            "query_id": query_id,
        }
        document = {**row, "timestamp": draw(spelled(row["timestamp"])), "query_attributes": {}}
        out.append(
            (json.dumps(document, ensure_ascii=draw(st.booleans())), {**row, "session_id": None, "action": "query"})
        )
    for query_id in draw(st.lists(st.sampled_from(sorted(typed)), max_size=5)):
        row = {
            "client_id": clients[query_id],
            "timestamp": draw(times),
            "user_query": typed[query_id],
            "session_id": draw(st.none() | words),
            "query_id": query_id,
            "action": draw(words),
            "object_id": draw(words),
            "position": draw(st.integers(1, 1000)),
        }
        document = {name: row[name] for name in ("client_id", "session_id", "query_id")}
        document |= {"action_name": row["action"], "timestamp": draw(spelled(row["timestamp"]))}
        place = {"ordinal": row["position"] - 1}
        document["event_attributes"] = {"object": {"object_id": row["object_id"]}, "position": place}
        out.append((json.dumps(document, ensure_ascii=draw(st.booleans())), row))
    return out


@st.composite
def spelled(draw: st.DrawFn, time: datetime) -> object:
    """The same moment as UTC text, text of another zone, or epoch milliseconds."""
    moment = time.replace(tzinfo=UTC)
    shift = draw(zones)
    elsewhere = (time + shift).isoformat(timespec="milliseconds")
    sign, minutes = "-" if shift < timedelta(0) else "+", abs(shift) // timedelta(minutes=1)
    return draw(
        st.sampled_from(
            [
                time.isoformat(timespec="milliseconds") + "Z",
                time.isoformat(),
                f"{elsewhere}{sign}{minutes // 60:02}:{minutes % 60:02}",
                round(moment.timestamp() * 1000),
            ]
        )
    )


@given(logs(), st.booleans())
def test_generated_documents_come_back_as_their_rows(log: list[tuple[str, dict[str, object]]], bulk: bool) -> None:
    lines = [line for document, _ in log for line in (*(['{"index":{}}'] if bulk else []), document)]
    assert [dict(row.values) for row in parsed(UBI, *lines) if isinstance(row, Row)] == [row for _, row in log]
