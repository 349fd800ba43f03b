from itertools import combinations, permutations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from aidos.errors import InputError
from aidos.model.attention import Cascade, Geometric, Measured, Singular
from aidos.rooms.fairness.accounts import Accounts, Served
from aidos.rooms.fairness.measures import ap_quality, kendall_tau
from aidos.rooms.fairness.rankings import gains, normalise
from oracles.fairness import accumulate, ndcg_quality, unfairness

seeds = st.integers(0, 2**32 - 1)


def test_unfairness_is_the_sum_of_the_distances():
    assert unfairness(np.array([3.0, 0.0, 1.0]), np.array([1.0, 1.0, 2.0])) == 4


def test_every_ranking_is_counted_not_the_first_alone():
    many = accumulate([[0, 1, 2]] * 7, [[2, 1, 1]] * 7, Singular())
    np.testing.assert_allclose(many.attention, [7, 0, 0])
    np.testing.assert_allclose(many.relevance, [3.5, 1.75, 1.75])
    assert many.unfairness == pytest.approx(7)


def test_attention_goes_by_the_position_served_not_by_the_number_of_the_subject():
    served = accumulate([[2, 0, 1]], [[1, 5, 3]], Geometric(share=0.5, positions=2))
    np.testing.assert_allclose(served.attention, [1 / 3, 0, 2 / 3])
    np.testing.assert_allclose(served.relevance, [5 / 9, 3 / 9, 1 / 9])


def test_the_cascade_looks_at_the_order_by_relevance_whatever_was_served():
    served = accumulate([[2, 0, 1]], [[1, 4, 2]], Cascade(stop=0.5, positions=3))
    reading = np.array([1, 1 - 0.5, (1 - 0.5) * (1 - 0.25)])
    np.testing.assert_allclose(served.attention[[2, 0, 1]], reading / reading.sum())


def test_attention_is_added_not_multiplied():
    first = accumulate([[0, 1]], [[1, 1]], Measured(rates=(3, 1)))
    twice = accumulate([[0, 1], [1, 0]], [[1, 1], [1, 1]], Measured(rates=(3, 1)))
    np.testing.assert_allclose(first.attention, [0.75, 0.25])
    np.testing.assert_allclose(twice.attention, [1, 1])
    assert twice.unfairness == pytest.approx(0)


def test_who_is_not_in_a_ranking_neither_earns_nor_receives():
    partial = accumulate([[3, 1], [0, 3]], [[1, 1], [3, 1]], Singular())
    np.testing.assert_allclose(partial.attention, [1, 0, 0, 1])
    np.testing.assert_allclose(partial.relevance, [0.75, 0.5, 0, 0.75])


@pytest.mark.parametrize(
    ("orders", "relevances"),
    [([[0, 0]], [[1, 1]]), ([[0, 1]], [[1]]), ([[0]], []), ([[-1, 0]], [[1, 1]]), ([[0, 1]], [[0, 0]]), ([[]], [[]])],
)
def test_what_is_no_sequence_of_rankings_is_refused(orders, relevances):
    with pytest.raises(InputError):
        accumulate(orders, relevances, Singular())


@given(seeds)
def test_accounts_agree_with_the_plain_definition(seed):
    rng = np.random.default_rng(seed)
    model = Geometric(positions=3)
    accounts, orders, relevances = Accounts(), [], []
    names = tuple(f"s{number}" for number in range(9))
    accounts.slots(names)
    for _ in range(12):
        members = rng.permutation(9)[: rng.integers(1, 10)]
        values = np.sort(rng.random(len(members)) + 0.01)[::-1]
        order = rng.permutation(len(members))
        weights = model.weights(values)
        orders.append(members[order])
        relevances.append(values[order])
        accounts.count(
            Served(
                ranking_id="", content="", slots=accounts.slots([names[m] for m in members]),
                relevance=normalise(values), placed=order[: len(weights)], attention=weights,
                placed_ids=(), searcher_id="", quality=1.0,
            )
        )  # fmt: skip
    plain = accumulate(orders, relevances, model)
    known = len(plain.attention)
    np.testing.assert_allclose(accounts.received()[:known], plain.attention, atol=1e-12)
    np.testing.assert_allclose(accounts.earned()[:known], plain.relevance, atol=1e-12)
    assert accounts.unfairness == pytest.approx(plain.unfairness)


def test_the_closed_form_of_ndcg_quality():
    worth = np.array([3.0, 2.0, 0.0])
    assert ndcg_quality(worth, np.array([1, 0, 2]), 2) == pytest.approx((2 + 3 / np.log2(3)) / (3 + 2 / np.log2(3)))
    assert ndcg_quality(worth, np.array([0, 1, 2]), 10) == 1
    assert ndcg_quality(worth, np.array([2, 0, 1]), 1) == 0
    assert ndcg_quality(np.zeros(3), np.array([2, 0, 1]), 2) == 1


@given(seeds, st.integers(1, 12))
def test_ndcg_quality_is_what_ir_measures_says(seed, positions):
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 5, size=10)
    if not grades.any():
        grades[0] = 1
    order = rng.permutation(10)
    # The gains themselves are given as grades: in ir_measures the gain of nDCG is the grade.
    judged = {"q": {f"d{subject}": 2 ** int(grade) - 1 for subject, grade in enumerate(grades)}}
    run = {"q": {f"d{subject}": 1.0 / (place + 1) for place, subject in enumerate(order)}}
    measure = ir_measures.nDCG @ positions
    theirs = ir_measures.calc_aggregate([measure], judged, run)[measure]
    worth = gains(np.asarray(grades * 1.0), "exponential-5", top=5)
    assert ndcg_quality(worth, order, positions) == pytest.approx(theirs)


def brute_tau(relevance, order):
    served = relevance[order]
    signs = [np.sign(served[i] - served[j]) for i, j in combinations(range(len(served)), 2)]
    return sum(signs) / np.abs(signs).sum() if np.any(signs) else 1.0


@given(seeds, st.integers(1, 60), st.integers(1, 60))
def test_tau_counts_pairs_and_is_tau_b_as_far_as_ties_allow(seed, number, levels):
    rng = np.random.default_rng(seed)
    relevance = rng.integers(0, levels, size=number).astype(float)
    order = rng.permutation(number)
    assert kendall_tau(relevance, order) == pytest.approx(brute_tau(relevance, order))
    if len(set(relevance)) > 1:
        places, ideal = -np.arange(number), np.argsort(-relevance, kind="stable")
        reached = kendalltau(places, relevance[order]).statistic
        possible = kendalltau(places, relevance[ideal]).statistic
        assert kendall_tau(relevance, order) == pytest.approx(reached / possible)


@given(seeds)
def test_tau_without_ties_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    relevance, order = rng.permutation(300) * 0.7, rng.permutation(300)
    theirs = kendalltau(-np.arange(300), relevance[order]).statistic
    assert kendall_tau(relevance, order) == pytest.approx(theirs)


def test_the_ends_of_tau():
    relevance = np.array([5.0, 4.0, 4.0, 1.0])
    assert kendall_tau(relevance, np.array([0, 2, 1, 3])) == 1
    assert kendall_tau(relevance, np.array([3, 1, 2, 0])) == -1
    assert kendall_tau(np.ones(4), np.array([3, 1, 2, 0])) == 1
    assert kendall_tau(np.ones(1), np.array([0])) == 1


def test_tau_of_many_subjects_in_little_time():
    number = 200_000
    assert kendall_tau(np.arange(number) * 1.0, np.arange(number)) == -1
    assert abs(kendall_tau(np.arange(number) * 1.0, np.random.default_rng(3).permutation(number))) < 0.01


@pytest.mark.parametrize("positions", [1, 2, 3, 5, 8])
def test_ap_quality_is_what_ir_measures_says(positions):
    measure = ir_measures.AP @ positions
    top = min(positions, 5)
    judged = {"q": {f"d{subject}": int(subject < top) for subject in range(5)}}
    for order in permutations(range(5)):
        run = {"q": {f"d{subject}": 5.0 - place for place, subject in enumerate(order)}}
        theirs = ir_measures.calc_aggregate([measure], judged, run)[measure]
        assert ap_quality(np.array(order), positions) == pytest.approx(theirs)


def test_the_closed_form_of_ap_quality():
    assert ap_quality(np.array([2, 0, 1]), 2) == pytest.approx((1 / 2) / 2)
    assert ap_quality(np.array([1, 0, 2]), 2) == 1
    assert ap_quality(np.array([2, 3, 0, 1]), 2) == 0
