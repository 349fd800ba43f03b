"""Suggestions of a release against the original log's: each measure by hand, against ir-measures, and as means."""

from math import isnan, log2

import ir_measures
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.mechanism import Finding
from aidos.errors import InputError, ParameterError
from aidos.model.suggesting import SubstitutionModel, Suggesting
from aidos.studies.utility.substitution import (
    average_precision,
    compare_models,
    compare_suggestions,
    ndcg,
    precision,
    printed_map,
    recall,
)

lists = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5)


def test_each_measure_by_hand():
    truth, made = ["a", "b", "c"], ["c", "x", "a", "y"]
    assert precision(truth, made) == 2 / 4
    assert recall(truth, made) == 2 / 3
    assert average_precision(truth, made) == pytest.approx((1 / 1 + 2 / 3) / 3)
    best = 7 + 3 / log2(3) + 1 / 2
    assert ndcg(truth, made) == pytest.approx((1 + 7 / 2) / best)
    # a stands third, b is missing (rank 0), c stands first.
    assert printed_map(truth, made) == pytest.approx(1 / 3 + 2 / 1 + 3 / 1)


def test_the_printed_map_prefers_a_swap_and_even_nothing_right_to_the_truth_itself():
    truth = ["a", "b"]
    scores = [printed_map(truth, made) for made in (["a", "b"], ["b", "a"], ["x", "y"])]
    assert scores == [2.0, 2.5, 3.0]
    sound = [average_precision(truth, made) for made in (["a", "b"], ["b", "x"], ["x", "y"])]
    assert sound == [1.0, 0.5, 0.0]


@given(lists, lists)
def test_measures_lie_between_nothing_and_all(truth, made):
    for measure in (precision, recall, average_precision, ndcg):
        value = measure(truth, made)
        if isnan(value):
            assert not truth or not made
        else:
            assert 0 <= value <= 1 + 1e-12
            assert (value == pytest.approx(0)) == (not set(truth) & set(made))
        if truth:
            assert measure(truth, truth) == pytest.approx(1)


@given(lists.filter(bool), lists.filter(bool))
def test_average_precision_is_that_of_ir_measures(truth, made):
    qrels = [ir_measures.Qrel("q", query, 1) for query in truth]
    run = [ir_measures.ScoredDoc("q", query, -float(rank)) for rank, query in enumerate(made)]
    expected = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
    assert average_precision(truth, made) == pytest.approx(expected)


def test_each_mean_counts_the_queries_that_the_paper_says():
    truth = [("a", "b"), ("a", "b"), ("a",), ()]
    made = [("a", "x"), (), ("a", "b"), ("z",)]
    found = compare_suggestions(truth, made, cuts=(2,))
    assert isinstance(found, Finding)
    (two,) = found.value
    assert two.precision.value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert (two.precision.queries, two.recall.queries, two.unfounded) == (3, 2, 1)
    assert two.recall.value == pytest.approx((1 / 2 + 1) / 2)
    assert two.coverage.value == pytest.approx((1 + 0 + 1) / 3)
    assert two.answered.value == pytest.approx(2 / 3)
    assert two.coverage.queries == 3


def test_shorter_lists_are_the_beginnings_of_longer_ones():
    truth, made = [("a", "b", "c", "d", "e")], [("a", "c")]
    two, five = compare_suggestions(truth, made).value
    assert (two.precision.value, two.recall.value, two.coverage.value) == (0.5, 0.5, 1.0)
    assert (five.precision.value, five.recall.value, five.coverage.value) == (1.0, 0.4, 0.4)


def test_the_interval_is_the_normal_one():
    (found,) = compare_suggestions([("a",)] * 4, [("a",), ("a",), ("a",), ("b",)], cuts=(2,)).value
    half = 1.959963984540054 * (0.1875 * 4 / 3 / 4) ** 0.5
    assert (found.precision.low, found.precision.high) == pytest.approx((0.75 - half, 0.75 + half))


def test_without_an_answer_only_coverage_is_a_number():
    (found,) = compare_suggestions([("a",)], [()], cuts=(5,)).value
    assert isnan(found.precision.value)
    assert (found.coverage.value, found.answered.value) == (0.0, 0.0)


def test_lists_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="lists for 1 queries"):
        compare_suggestions([("a",), ("b",)], [("a",)])
    with pytest.raises(ParameterError, match="at least 1"):
        compare_suggestions([("a",)], [("a",)], cuts=())


PAIRS = [("oak", "elm", 90), ("oak", "ash", 60), ("rain", "weather", 80), ("fog", "weather", 30)]


def model(pairs):
    first, following, times = zip(*pairs, strict=True)
    table = pa.table({"user_query": first, "next_query": following, "count": times})
    return SubstitutionModel.of(None, table, Suggesting(least_ratio=5))


def test_a_log_compared_with_itself_loses_nothing():
    (two, five) = compare_models(model(PAIRS), model(PAIRS), ["oak", "rain", "fog", "sun"]).value
    for found in (two, five):
        means = (found.precision, found.recall, found.average_precision, found.ndcg, found.coverage, found.answered)
        assert [mean.value for mean in means] == pytest.approx([1] * 6)
        assert found.coverage.queries == 3


def test_a_release_without_rare_pairs_keeps_precision_and_loses_coverage():
    (_, five) = compare_models(
        model(PAIRS), model([pair for pair in PAIRS if pair[2] > 70]), ["oak", "rain", "fog"]
    ).value
    assert five.precision.value == 1
    assert five.coverage.value == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert five.answered.value == pytest.approx(2 / 3)
