import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cases import attention_of, enumerated_rate, geometric, legal_orders, query_of

from aidos.errors import ParameterError
from aidos.rooms.fairness import bounds
from aidos.rooms.fairness.bounds import stationary_bound_cycle
from oracles.fairness import stationary_bound

FLOORS = [0.0, 0.6, 0.8, 0.9, 0.95, 1.0]
LINEAR = query_of(np.arange(100, 0, -1))


def relevances(size):
    return st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)


@given(st.integers(2, 6).flatmap(relevances), st.integers(1, 3), st.sampled_from(FLOORS))
@settings(max_examples=50)
def test_the_rate_is_the_distance_of_the_hull(relevance, positions, floor):
    query, attention = query_of(relevance), geometric(min(positions, len(relevance)))
    bound = stationary_bound(*query, attention, floor)
    exact = enumerated_rate([query], attention, floor)
    assert bound.rate == pytest.approx(exact, abs=2e-6)
    assert bound.rate <= exact + 1e-9
    assert bound.best_found == pytest.approx(exact, abs=2e-6)


@given(st.lists(relevances(5), min_size=2, max_size=3), st.integers(1, 3), st.sampled_from(FLOORS))
@settings(max_examples=30)
def test_the_rate_of_queries_in_turn(several, positions, floor):
    queries, attention = [query_of(each) for each in several], geometric(positions)
    bound = stationary_bound_cycle(queries, attention, floor)
    assert bound.rate == pytest.approx(enumerated_rate(queries, attention, floor), abs=2e-6)


@pytest.mark.parametrize(("floor", "unfairness"), [(0.8, 114.4), (0.95, 1025)])
def test_a_thousand_rankings_of_a_hundred_linear_subjects(floor, unfairness):
    bound = stationary_bound(*LINEAR, geometric(5), floor)
    assert 1000 * bound.rate == pytest.approx(unfairness, rel=5e-4)
    assert bound.best_found == pytest.approx(bound.rate, abs=2e-6)


def test_the_mixture_is_legal_and_gives_the_shares():
    relevance, gains = query_of([9, 7, 6, 4, 2, 1])
    attention = geometric(3)
    bound = stationary_bound(relevance, gains, attention, 0.85)
    legal = {tuple(order.tolist()) for order in legal_orders(gains, 3, 0.85)}
    assert {tuple(ranking.tolist()) for ranking in bound.rankings} <= legal
    given_to = sum(
        share * attention_of(ranking, attention, 6)
        for ranking, share in zip(bound.rankings, bound.probabilities, strict=True)
    )
    assert given_to == pytest.approx(bound.shares, abs=1e-12)
    assert np.abs(bound.shares - relevance).sum() == pytest.approx(bound.best_found, abs=1e-12)
    assert bound.probabilities.sum() == pytest.approx(1)


def test_stopping_early_gives_a_lower_bound_and_not_a_wrong_one():
    whole = stationary_bound(*LINEAR, geometric(5), 0.9)
    for most in (1, 120, 160):
        early = stationary_bound(*LINEAR, geometric(5), 0.9, most_columns=most)
        assert early.rate <= whole.rate + 1e-9
        assert early.best_found >= whole.rate - 1e-9


def test_with_one_position_everybody_below_the_floor_lacks_everything():
    relevance, gains = query_of(np.arange(1000, 0, -1))
    bound = stationary_bound(relevance, gains, np.ones(1), 0.8)
    hopeless = gains < 0.8 * gains[0]
    assert bound.rate == pytest.approx(2 * relevance[hopeless].sum(), abs=1e-9)
    assert bound.shares[hopeless].max() == 0


def test_equal_subjects_are_one_class_and_share():
    ratings = np.sort(np.random.default_rng(5).integers(85, 101, 2000))[::-1]
    relevance, gains = query_of(ratings)
    bound = stationary_bound(relevance, gains, geometric(5), 0.97)
    assert bound.best_found - bound.rate <= 2e-6
    assert bound.rate > 0.01
    for rating in (100, 99):
        assert np.ptp(bound.shares[ratings == rating]) == 0


def test_with_many_different_subjects_the_rate_is_proven_on_blocks():
    query = query_of(np.arange(300, 0, -1))
    coarse, fine = (stationary_bound(*query, geometric(3), 0.95, blocks=blocks) for blocks in (16, 40))
    assert 0 < coarse.rate <= fine.rate <= fine.best_found
    assert fine.best_found - fine.rate < 0.15 * fine.best_found


@pytest.mark.parametrize("floor", [0.9, 0.95])
def test_blocks_lose_little_and_never_claim_too_much(monkeypatch, floor):
    exact = stationary_bound(*LINEAR, geometric(5), floor)
    monkeypatch.setattr(bounds, "EXACT_CLASSES", 10)
    rates = [stationary_bound(*LINEAR, geometric(5), floor, blocks=blocks).rate for blocks in (16, 30, 60)]
    assert rates == sorted(rates)
    assert 0.85 * exact.rate < rates[-1] <= exact.rate + 1e-9


def test_the_order_of_subjects_does_not_matter():
    relevance, gains = query_of([5, 4, 3, 2, 1, 1])
    mixed_up = np.random.default_rng(2).permutation(6)
    here = stationary_bound(relevance, gains, geometric(2), 0.9)
    there = stationary_bound(relevance[mixed_up], gains[mixed_up], geometric(2), 0.9)
    assert here.rate == pytest.approx(there.rate, abs=2e-6)


def test_rankings_to_start_from_are_used_and_checked():
    relevance, gains = query_of([5, 4, 3, 2, 1])
    started = stationary_bound(relevance, gains, geometric(2), 0.9, start=[np.array([1, 0]), np.array([0, 2, 1, 3, 4])])
    assert started.rate == pytest.approx(stationary_bound(relevance, gains, geometric(2), 0.9).rate, abs=2e-6)
    with pytest.raises(ParameterError, match="floor"):
        stationary_bound(relevance, gains, geometric(2), 0.9, start=[np.array([4, 3])])
    for wrong in ([0, 0], [0], [0, 5], [-1, 0]):
        with pytest.raises(ParameterError, match="position"):
            stationary_bound(relevance, gains, geometric(2), 0.9, start=[np.array(wrong)])


@pytest.mark.parametrize(
    ("relevance", "attention", "floor"),
    [
        ([0.5, 0.6], [1.0], 0.5),
        ([0.5, 0.5], [0.5], 0.5),
        ([0.5, 0.5], [1.0], 1.5),
        ([0.5, 0.5], [0.5, 0.3, 0.2], 0.5),
        ([1.5, -0.5], [1.0], 0.5),
        ([0.5, np.nan], [1.0], 0.5),
        ([0.5, 0.5], [], 0.5),
    ],
)
def test_impossible_settings_are_refused(relevance, attention, floor):
    with pytest.raises(ParameterError):
        stationary_bound(np.array(relevance), np.ones(2), np.array(attention), floor)


def test_queries_must_speak_of_the_same_subjects():
    with pytest.raises(ParameterError, match="same subjects"):
        stationary_bound_cycle([query_of([1, 1]), query_of([1, 1, 1])], np.ones(1), 0.5)
    with pytest.raises(ParameterError, match="at least one"):
        stationary_bound_cycle([], np.ones(1), 0.5)
