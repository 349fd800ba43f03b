"""Implicit feedback against its formula, worked out item by item."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.model.clickgraph import ClickGraph, feedback_scores

QUERIES, ADDRESSES = ["fern", "ivy", "moss"], ["a", "b", "c", "d"]
items = st.tuples(st.sampled_from(QUERIES), st.sampled_from(ADDRESSES))
counts = st.dictionaries(items, st.integers(1, 5), min_size=1)
positions = st.dictionaries(st.tuples(st.sampled_from([*QUERIES, "oak"]), st.sampled_from([*ADDRESSES, "z"])),
                            st.floats(1, 10))  # fmt: skip


def graph_of(counted):
    rows = [(query, address, number) for (query, address), number in counted.items()]
    return ClickGraph.of(
        pa.table(dict(zip(("user_query", "object_id", "count"), zip(*rows, strict=True), strict=True)))
    )


def table_of(feedback):
    return pa.table(
        {
            "user_query": pa.array([query for query, _ in feedback], pa.string()),
            "object_id": pa.array([address for _, address in feedback], pa.string()),
            "position": pa.array(list(feedback.values()), pa.float64()),
        }
    )


def by_formula(counted, feedback, query, weight):
    own = sorted(((-number, address) for (asked, address), number in counted.items() if asked == query))
    return {
        address: 1 / (place + 1) + (weight / (feedback[query, address] + 1) if (query, address) in feedback else 0)
        for place, (_, address) in enumerate(own, start=1)
    }


@given(counts, positions, st.sampled_from([0.0, 0.6, 3.0]))
def test_every_score_is_that_of_the_formula(counted, feedback, weight):
    graph = graph_of(counted)
    asked = [*QUERIES, "oak", QUERIES[0]]
    found = feedback_scores(graph, asked, table_of(feedback), weight=weight)
    names = graph.addresses.to_pylist()
    for row, query in enumerate(asked):
        part = found[[row]]
        scores = {names[place]: value for place, value in zip(part.indices, part.data, strict=True)}
        assert scores == pytest.approx(by_formula(counted, feedback, query, weight))


def test_without_feedback_the_order_is_that_of_clicks():
    graph = graph_of({("fern", "a"): 1, ("fern", "b"): 7, ("fern", "c"): 3})
    ranked = graph.ranked(feedback_scores(graph, ["fern"]), most=10)
    assert ranked.column("object_id").to_pylist() == ["b", "c", "a"]
    assert ranked.column("score").to_pylist() == pytest.approx([1 / 2, 1 / 3, 1 / 4])


def test_a_click_far_up_moves_an_address_up():
    graph = graph_of({("fern", "a"): 1, ("fern", "b"): 7, ("fern", "c"): 3})
    scores = feedback_scores(graph, ["fern"], table_of({("fern", "a"): 1.0}))
    assert graph.ranked(scores, most=1).to_pylist() == [{"place": 0, "object_id": "a", "score": 1 / 4 + 0.6 / 2}]


def test_positions_count_from_one_and_weights_are_not_negative():
    graph = graph_of({("fern", "a"): 1})
    with pytest.raises(ParameterError, match="from 1"):
        feedback_scores(graph, ["fern"], table_of({("fern", "a"): 0.0}))
    with pytest.raises(ParameterError, match="negative"):
        feedback_scores(graph, ["fern"], weight=-1)
