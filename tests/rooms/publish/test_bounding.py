"""At most so many items of each person, the same ones whatever the order of rows or the number of threads."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain import kept, people_per_item, weight_per_item

from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.rooms.publish import counts
from aidos.rooms.publish.counts import bounded, bounded_with_sizes, draw_salt

PAIRS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "", "ü'"]), st.tuples(st.sampled_from("abcdefg"), st.sampled_from(["", "1", "\x1f"]))
    ),
    max_size=40,
)
SALTS = st.binary(min_size=16, max_size=16)
SCHEMA = pa.schema([("person", pa.string()), ("first", pa.string()), ("second", pa.string())])


@pytest.fixture(scope="module")
def engine():
    with EmbeddedEngine(threads=2, memory="500MB") as opened:
        yield opened


def table_of(engine, pairs):
    rows = [{"person": person, "first": item[0], "second": item[1]} for person, item in pairs]
    return engine.table(pa.Table.from_pylist(rows, SCHEMA))


def as_sets(rows):
    found = {}
    for person, *item in rows:
        found.setdefault(person, []).append(tuple(item))
    return {person: sorted(items) for person, items in found.items()}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS, limit=st.integers(1, 5), salt=SALTS)
def test_the_limit_is_on_distinct_items_and_the_choice_is_that_of_the_definition(engine, pairs, limit, salt):
    found = as_sets(bounded(table_of(engine, pairs), limit, salt).rows())
    assert all(len(items) == len(set(items)) <= limit for items in found.values())
    assert found == {person: sorted(items) for person, items in kept(pairs, limit, salt).items()}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS, other=PAIRS, limit=st.integers(1, 4), salt=SALTS)
def test_other_people_do_not_change_what_is_kept_of_a_person(engine, pairs, other, limit, salt):
    alone = as_sets(bounded(table_of(engine, pairs), limit, salt).rows())
    strangers = [(f"stranger {person}", item) for person, item in other]
    among = as_sets(bounded(table_of(engine, pairs + strangers), limit, salt).rows())
    assert {person: items for person, items in among.items() if not person.startswith("stranger")} == alone


def test_order_of_rows_and_threads_do_not_matter_but_the_salt_does(tmp_path):
    sql = "select 'p' || (range % 700) as person, 'item ' || (range * 7919 % 4001) as item from range(60000)"
    found = []
    for threads, order in ((1, "order by hash(person, item)"), (2, "order by item desc"), (4, "")):
        with EmbeddedEngine(threads=threads) as engine:
            table = engine.view(f"select distinct * from ({sql}) {order}")
            found.append(set(bounded(table, 10, b"salt").rows()))
            other = set(bounded(table, 10, b"pepper").rows())
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 7000
    assert found[0] != other


def test_every_item_is_as_likely_to_be_kept_under_random_salts(engine):
    table = engine.view("select 'p' as person, 'item ' || range as item from range(20)")
    noise = Noise(11)
    seen = [bounded(table, 5, draw_salt(noise)).rows() for _ in range(200)]
    times = [sum(("p", f"item {number}") in rows for rows in seen) for number in range(20)]
    assert sum(times) == 1000
    assert all(25 <= time <= 80 for time in times)  # five standard deviations around 50


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS, limit=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_counts_and_weights_are_those_of_the_definition(engine, pairs, limit, seed):
    table = table_of(engine, pairs)
    with counts.people_per_item(table, limit, Noise(seed)) as counted:
        items = counted.table.rows('select "first", "second" from {table} order by row')
        assert dict(zip(items, counted.numbers.tolist(), strict=True)) == people_per_item(
            pairs, limit, draw_salt(Noise(seed))
        )
    weights = [100, 70, 57, 50][:limit]
    with counts.weight_per_item(table, weights, Noise(seed)) as counted:
        items = counted.table.rows('select "first", "second" from {table} order by row')
        assert dict(zip(items, counted.numbers.tolist(), strict=True)) == weight_per_item(
            pairs, weights, draw_salt(Noise(seed))
        )


def test_sizes_say_how_many_items_a_person_kept(engine):
    rows = bounded_with_sizes(table_of(engine, [("p", ("a", "")), *[("q", (x, "")) for x in "abcd"]]), 3, b"").rows()
    assert sorted(row[-1] for row in rows) == [1, 3, 3, 3]


def test_a_limit_below_one_is_refused(engine):
    with pytest.raises(ParameterError, match="at least 1"):
        bounded(table_of(engine, []), 0, b"")
