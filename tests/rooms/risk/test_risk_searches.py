"""What counts as one query of a log: clicks are no entries of their own."""

import pyarrow as pa
import pytest
from risk_worlds import engine

from aidos.rooms.risk.people import read_people, searches

MINUTE = 60_000_000


def log(*rows, ids=None):
    """Rows of person, text, minutes and the result that was clicked."""
    columns = {
        "client_id": [row[0] for row in rows],
        "user_query": [row[1] for row in rows],
        "timestamp": pa.array([row[2] * MINUTE for row in rows], pa.timestamp("us")),
        "object_id": pa.array([row[3] for row in rows], pa.string()),
    }
    return pa.table(columns | ({"query_id": pa.array(ids, pa.string())} if ids else {}))


def entries(table):
    held = engine().table(table)
    found = held.rows(f"select person, text, time from ({searches(held.columns)}) order by all")
    assert read_people(held).entries == len(found)
    return [(person, text, None if time is None else time // MINUTE) for person, text, time in found]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([("1", "debt", 0, None), ("1", "debt", 0, "a")], [("1", "debt", 0)]),
        ([("1", "debt", 0, "a"), ("1", "debt", 0, "b"), ("1", "debt", 0, "c")], [("1", "debt", 0)]),
        ([("1", "debt", 0, "a"), ("1", "debt", 5, "b"), ("1", "debt", 34, "c")], [("1", "debt", 0)]),
        ([("1", "debt", 0, "a"), ("1", "debt", 31, "b")], [("1", "debt", 0), ("1", "debt", 31)]),
        ([("1", "debt", 0, None), ("1", "debt", 5, None)], [("1", "debt", 0), ("1", "debt", 5)]),
        ([("1", "debt", 0, None), ("1", "debt", 5, None), ("1", "debt", 6, "a")], [("1", "debt", 0), ("1", "debt", 5)]),
        ([("1", "debt", 0, "a"), ("2", "debt", 0, "a")], [("1", "debt", 0), ("2", "debt", 0)]),
        ([("1", "debt", 0, "a"), ("1", "loan", 1, "b")], [("1", "debt", 0), ("1", "loan", 1)]),
        ([("1", "debt", 0, ""), ("1", "debt", 5, "")], [("1", "debt", 0), ("1", "debt", 5)]),
    ],
)
def test_rows_of_a_log_without_names_of_queries(rows, found):
    assert entries(log(*rows)) == found
    assert entries(log(*reversed(rows))) == found


def test_names_of_queries_count_where_there_are_some():
    rows = [("1", "debt", 0, "a"), ("1", "debt", 200, "b"), ("1", "debt", 201, "c")]
    assert entries(log(*rows, ids=["x", "x", "y"])) == [("1", "debt", 0), ("1", "debt", 201)]
    assert entries(log(*rows, ids=["x", None, ""])) == [("1", "debt", 0), ("1", "debt", 200)]


def test_without_times_and_clicks_the_same_text_is_one_entry():
    table = pa.table({"client_id": ["1", "1", "2"], "user_query": ["debt", "debt", "debt"]})
    assert entries(table) == [("1", "debt", None), ("2", "debt", None)]
