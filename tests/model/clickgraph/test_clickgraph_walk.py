"""The walk as sparse products against the walk node by node, and against what can be worked out by hand."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.model import clickgraph as module
from aidos.model.clickgraph import ClickGraph, RankedAddress
from oracles.clickgraph import PlainGraph

QUERIES = [f"q{number}" for number in range(6)]
ADDRESSES = [f"https://a{number}.example" for number in range(5)]
clicks = st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(ADDRESSES), st.integers(-2, 9)), max_size=20)
transitions = st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(QUERIES), st.integers(-2, 9)), max_size=20)
loops = st.sampled_from([0.0, 0.1, 0.5, 0.9])


def counted(rows, second):
    names = ("user_query", second, "count")
    types = (pa.string(), pa.string(), pa.int64())
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {name: pa.array(list(values), kind) for name, kind, values in zip(names, types, columns, strict=True)}
    )


def made(click_rows, transition_rows=()):
    return ClickGraph.of(counted(click_rows, "object_id"), counted(list(transition_rows), "next_query"))


def scores_of(graph, matrix, row):
    part = matrix[[row]]
    names = graph.addresses.to_pylist()
    return {names[place]: value for place, value in zip(part.indices, part.data, strict=True) if value > 0}


@given(clicks, transitions, st.integers(1, 5), loops)
def test_the_products_give_what_the_walk_node_by_node_gives(click_rows, transition_rows, steps, loop):
    graph, plain = made(click_rows, transition_rows), PlainGraph(click_rows, transition_rows)
    walked = graph.walk([*QUERIES, "never asked"], steps=steps, self_loop=loop)
    for row, query in enumerate([*QUERIES, "never asked"]):
        expected = plain.walk(query, steps=steps, self_loop=loop)
        assert scores_of(graph, walked, row) == pytest.approx({k: v for k, v in expected.items() if v > 0}, abs=1e-12)


@given(clicks, transitions, loops)
def test_one_step_from_any_query_has_probabilities_that_sum_up_to_one(click_rows, transition_rows, loop):
    graph = made(click_rows, transition_rows)
    to_queries, to_addresses = graph.chances(loop)
    assert to_queries.sum(axis=1) + to_addresses.sum(axis=1) == pytest.approx(np.ones(len(graph.queries)))
    leads = graph.clicks.sum(axis=1) + graph.transitions.sum(axis=1) > 0
    assert to_queries.diagonal() == pytest.approx(np.where(leads, loop, 1.0))


def test_three_steps_with_a_self_loop_of_a_tenth_by_hand():
    graph = made([("fern", "a", 3), ("fern", "b", 1), ("moss", "b", 5)], [("fern", "moss", 4)])
    found = {each.address: each.score for each in graph.rank("fern")}
    # To a: 0.9 * 3/8 at each of three steps, after staying none, once or twice.
    a = 0.9 * 3 / 8 * (1 + 0.1 + 0.01)
    # At moss after one step: 0.45; after two: 0.45 stayed a tenth, and 0.1 * 0.45 came later.
    at_moss = [0.0, 0.45, 0.45 * 0.1 + 0.1 * 0.45]
    b = 0.9 * 1 / 8 * (1 + 0.1 + 0.01) + 0.9 * sum(at_moss)
    assert found == pytest.approx({"a": a, "b": b})
    assert [each.address for each in graph.rank("fern")] == ["b", "a"]


def test_rows_of_one_item_add_up_and_noise_below_zero_counts_nothing():
    graph = made([("fern", "a", 2), ("fern", "a", 3), ("fern", "b", 0), ("moss", "a", -4)], [("fern", "fern", 9)])
    assert graph.queries.to_pylist() == ["fern"]
    assert graph.rank("fern", steps=1, self_loop=0.0) == (RankedAddress("a", 1.0),)


def test_a_query_that_nobody_asked_gets_no_ranking():
    graph = made([("fern", "a", 1)], [("fern", "last", 1)])
    assert graph.rank("never asked") == ()
    assert graph.rank("last") == ()
    assert made([]).rank("fern") == ()
    assert graph.walk([]).shape == (0, 1)
    assert len(graph.rank_all([])) == 0


def test_equals_go_in_the_order_of_addresses_also_where_the_list_is_cut():
    graph = made([("fern", address, 1) for address in "dbeca"])
    assert [each.address for each in graph.rank("fern", most=3)] == ["a", "b", "c"]


@settings(max_examples=30)
@given(clicks, transitions, st.integers(1, 4))
def test_many_queries_are_ranked_as_each_by_itself(click_rows, transition_rows, most):
    graph = made(click_rows, transition_rows)
    asked = [*QUERIES, "never asked", QUERIES[0]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "QUERIES_AT_ONCE", 3)
        table = graph.rank_all(asked, most=most)
    for place, query in enumerate(asked):
        rows = [row for row in table.to_pylist() if row["place"] == place]
        everything = sorted(graph.rank(query, most=100), key=lambda each: (-each.score, each.address))
        assert [(row["object_id"], row["score"]) for row in rows] == [(a.address, a.score) for a in everything[:most]]


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"self_loop": 1.0}, {"self_loop": -0.1}, {"self_loop": float("nan")}])
def test_impossible_walks_are_refused(wrong):
    with pytest.raises(ParameterError):
        made([("fern", "a", 1)]).walk(["fern"], **wrong)
    with pytest.raises(ParameterError):
        made([("fern", "a", 1)]).rank("fern", most=0)
