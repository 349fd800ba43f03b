"""What each person contributed, against plain Python on random logs."""

from datetime import datetime, timedelta
from itertools import combinations, pairwise
from math import comb

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish.items import (
    KINDS,
    contributions,
    item_columns,
    items_for_sets,
    set_contributions,
    table_contributions,
)

START = datetime.fromisoformat("2024-03-05T09:00")
PAUSE = timedelta(minutes=30)
SCHEMA = pa.schema(
    [
        ("client_id", pa.string()),
        ("timestamp", pa.timestamp("us")),
        ("user_query", pa.string()),
        ("session_id", pa.string()),
        ("action", pa.string()),
        ("object_id", pa.string()),
    ]
)
QUERIES = st.sampled_from([None, "a", "b", "a b", " b  c\t", "ä 'quoted' \"x\"", "", "0"])
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "p", "q", "r'"]),
        st.sampled_from([0, 0, 1, 29, 30, 31, 60, 61, 200]).map(lambda minutes: START + timedelta(minutes=minutes)),
        QUERIES,
        st.sampled_from([None, None, "s1", "s2"]),
        st.sampled_from([None, "query", "click", "Click", "impression"]),
        st.sampled_from([None, None, "url1", "url2"]),
    ),
    max_size=25,
)


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="500MB") as opened:
        yield opened


def table_of(engine, rows):
    return engine.table(pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA))


def plain_pairs(rows):
    visits = {}
    for person, time, query, session, *_ in rows:
        if person is not None and query is not None:
            visits.setdefault((person, session), []).append((time, query))
    found = set()
    for (person, session), visit in visits.items():
        ordered = sorted(visit)
        for (time, query), (next_time, next_query) in pairwise(ordered):
            if query != next_query and (session is not None or next_time - time <= PAUSE):
                found.add((person, query, next_query))
    return found


def plain_items(rows, kind):
    match kind:
        case "queries":
            return {(person, query) for person, _, query, *_ in rows if None not in (person, query)}
        case "keywords":
            return {(p, word) for p, _, query, *_ in rows if None not in (p, query) for word in query.split()}
        case "clicks":
            return {
                (person, query, url)
                for person, _, query, _, action, url in rows
                if None not in (person, query, url) and action in (None, "click", "Click")
            }
        case "pairs":
            return plain_pairs(rows)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_items_are_those_of_the_definition(engine, kind, rows):
    found = contributions(table_of(engine, rows), KINDS[kind]).rows()
    assert len(found) == len(set(found))
    assert set(found) == plain_items(rows, kind)


def test_a_log_without_sessions_and_actions_will_do(engine):
    rows = [("p", START, "a", "s1", "query", None), ("p", START + PAUSE, "b", "s2", "click", "u")]
    log = table_of(engine, rows).select("select * exclude (session_id, action) from {table}")
    assert contributions(log, KINDS["pairs"]).rows() == [("p", "a", "b")]
    assert contributions(log, KINDS["clicks"]).rows() == [("p", "b", "u")]


def test_persons_and_items_of_any_type_become_text(engine):
    table = engine.view("select 7 as who, 1.5 as what, date '2024-03-05' as day from range(3)")
    made = table_contributions(table, "who", ["what", "day"])
    assert made.rows() == [("7", "1.5", "2024-03-05")]
    assert item_columns(made) == ("what", "day")


def test_awkward_column_names_are_quoted(engine):
    table = engine.table(pa.table({'the "person"': ["p"], "select": ["x"]}))
    assert table_contributions(table, 'the "person"', ["select"]).rows() == [("p", "x")]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from(["a", "b", "&", "a & b", "c&", "d"])), max_size=12),
    largest=st.integers(1, 3),
)
def test_sets_are_all_sets_up_to_a_size_and_written_apart(engine, rows, largest):
    schema = pa.schema([("who", pa.string()), ("what", pa.string())])
    table = engine.table(pa.Table.from_pylist([{"who": who, "what": what} for who, what in rows], schema))
    owned = {person: sorted({what for who, what in rows if who == person}) for person in "pq"}
    expected = {
        (person, " & ".join(item.replace("&", "&&") for item in chosen))
        for person, items in owned.items()
        for size in range(1, largest + 1)
        for chosen in combinations(items, size)
    }
    number = sum(len(list(combinations(items, size))) for items in owned.values() for size in range(1, largest + 1))
    found = set_contributions(table_contributions(table, "who", ["what"]), largest).rows()
    assert sorted(found) == sorted(expected)
    assert len(found) == number


@pytest.mark.parametrize(
    ("largest", "kept", "items"), [(2, 10, 44), (3, 10, 18), (4, 1, 12), (5, 10, 10), (2, 5000, 100)]
)
def test_sets_are_made_from_a_public_number_of_items(largest, kept, items):
    def sets(number):
        return sum(comb(number, size) for size in range(1, largest + 1))

    assert items_for_sets(largest, kept) == items
    assert sets(items) >= kept
    assert sets(items) <= 1000 or sets(items - 1) < kept


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda table: contributions(table, KINDS["queries"]), "client_id"),
        (lambda table: table_contributions(table, "who", ["nothing"]), "nothing"),
        (lambda table: table_contributions(table, "who", []), "at least one column"),
        (lambda table: table_contributions(table, "who", ["people"]), "cannot have a column called people"),
        (lambda table: set_contributions(table_contributions(table, "who", ["what"]), 0), "between 1 and 5"),
        (item_columns, "person"),
    ],
)
def test_impossible_requests_are_refused_in_words(engine, ask, word):
    with pytest.raises(ParameterError, match=word):
        ask(engine.view("select 'p' as who, 'x' as what"))
