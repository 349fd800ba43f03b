"""Measures of rankings against all orders of ties, against SciPy, and on values known by hand."""

from itertools import pairwise, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.studies.tables import correlation, holm, paired_test
from oracles.ranking import kendall_tau, ndcg_at, precision_at

scipy_stats = pytest.importorskip("scipy.stats")

RANKINGS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6)


def over_all_orders(scores, grades, value):
    """The mean of a value over every order that the scores allow."""
    orders = [order for order in permutations(range(len(scores))) if sorted_by(order, scores)]
    return np.mean([value([grades[place] for place in order]) for order in orders])


def sorted_by(order, scores):
    return all(scores[one] >= scores[other] for one, other in pairwise(order))


def dcg(grades, k):
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades[:k]))


@settings(deadline=None, max_examples=60)
@given(RANKINGS, st.integers(1, 7))
def test_ties_count_by_the_mean_over_all_their_orders(ranking, k):
    scores, grades = zip(*ranking, strict=True)
    precision = over_all_orders(scores, grades, lambda found: sum(grade > 0 for grade in found[:k]) / k)
    assert precision_at(scores, grades, k) == pytest.approx(precision)
    best = dcg(sorted(grades, reverse=True), k)
    if best == 0:
        assert np.isnan(ndcg_at(scores, grades, k))
    else:
        assert ndcg_at(scores, grades, k) == pytest.approx(over_all_orders(scores, grades, lambda g: dcg(g, k)) / best)


def test_values_known_by_hand():
    assert precision_at([3.0, 2.0, 1.0], [1, 0, 2], 2) == 0.5
    assert precision_at([3.0], [1], 10) == 0.1
    assert ndcg_at([3.0, 2.0, 1.0], [0, 1, 0], 3) == pytest.approx(1 / log2(3))
    assert ndcg_at([5.0, 1.0], [2, 0], 1) == 1.0
    assert kendall_tau([1, 2, 3, 4], [0, 0, 1, 1]) == pytest.approx(4 / np.sqrt(6 * 4))


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=6))
@settings(deadline=None, max_examples=40)
def test_kendall_is_the_mean_of_scipys_over_all_orders_of_ties(ranking):
    scores, grades = zip(*ranking, strict=True)
    if len(set(grades)) == 1:
        assert np.isnan(kendall_tau(scores, grades))
        return

    def tau(found):
        return scipy_stats.kendalltau(range(len(found), 0, -1), found).statistic

    assert kendall_tau(scores, grades) == pytest.approx(over_all_orders(scores, grades, tau), abs=1e-12)


def test_kendall_of_many_different_scores_is_that_of_scipy():
    stream = np.random.default_rng(6)
    scores, grades = stream.permutation(300), stream.integers(0, 4, 300)
    assert kendall_tau(scores, grades) == pytest.approx(scipy_stats.kendalltau(scores, grades).statistic, abs=1e-12)


def test_paired_t_is_that_of_scipy_and_leaves_missing_members_out():
    stream = np.random.default_rng(2)
    one, other = stream.normal(0.1, 1, 40), stream.normal(0, 1, 40)
    expected = scipy_stats.ttest_rel(one, other)
    found = paired_test(np.append(other, 1.0), np.append(one, np.nan))
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.pairs == 40
    assert found.difference == pytest.approx((one - other).mean())


def test_paired_t_where_differences_do_not_vary():
    same = paired_test([1.0, 2.0], [1.0, 2.0])
    assert (same.statistic, same.p) == (0.0, 1.0)
    always = paired_test([2.0, 3.0], [1.0, 2.0])
    assert (always.statistic, always.p) == (-np.inf, 0.0)
    assert np.isnan(paired_test([2.0], [1.0]).p)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, np.nan]).tolist()[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_rejects_what_stepping_down_rejects(p_values):
    level = 0.05
    rejected = set()
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        if p_values[place] * (len(p_values) - step) > level:
            break
        rejected.add(place)
    assert set(np.flatnonzero(holm(p_values) <= level).tolist()) == rejected


def test_correlation():
    assert correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1.0)
    assert correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert np.isnan(correlation([1, 1], [1, 2]))
    assert np.isnan(correlation([1], [1]))


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(InputError, match="2 scores were given for 1"):
        precision_at([1.0, 2.0], [1], 1)
    with pytest.raises(InputError, match="must be numbers"):
        ndcg_at([np.nan], [1], 1)
    with pytest.raises(InputError, match="not negative"):
        kendall_tau([1.0], [-1])
    with pytest.raises(ParameterError, match="k must"):
        precision_at([1.0], [1], 0)
    with pytest.raises(InputError, match="paired"):
        paired_test([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="correlated"):
        correlation([1.0], [1.0, 2.0])
