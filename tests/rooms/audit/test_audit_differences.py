from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.differences import (
    compare_lists,
    earth_movers_distance,
    jaccard_distance,
    kendall_distance,
    rbo_distance,
)

LISTS = st.lists(st.integers(0, 9), unique=True, max_size=8)
DISTANCES = [jaccard_distance, kendall_distance, rbo_distance, earth_movers_distance]


@given(LISTS, LISTS)
def test_distances_lie_between_zero_and_one_and_do_not_mind_the_order_of_the_two(first, second):
    for distance in DISTANCES:
        assert -1e-12 <= distance(first, second) <= 1 + 1e-12
        assert distance(first, second) == pytest.approx(distance(second, first))
        assert distance(first, first) == pytest.approx(0, abs=1e-12)


def test_lists_without_common_items_are_furthest_apart():
    for distance in (jaccard_distance, rbo_distance, earth_movers_distance):
        assert distance([1, 2, 3], [4, 5, 6]) == pytest.approx(1)
        assert distance([], [4, 5]) == 1
        assert distance([], []) == 0
    assert kendall_distance([1, 2, 3], [4, 5, 6]) == 0


@given(st.permutations(range(6)))
def test_kendall_counts_turned_pairs(order):
    turned = sum(order.index(one) > order.index(other) for other in range(6) for one in range(other))
    assert kendall_distance(range(6), order) == pytest.approx(turned / 15)


def test_rank_biased_overlap_of_equal_lengths_is_its_formula():
    for order in permutations("abcd"):
        overlaps = [len(set("abcd"[:depth]) & set(order[:depth])) / depth for depth in range(1, 5)]
        formula = 0.1 / 0.9 * sum(value * 0.9**depth for depth, value in enumerate(overlaps, 1)) + overlaps[-1] * 0.9**4
        assert rbo_distance("abcd", order) == pytest.approx(1 - formula)


def test_rank_biased_overlap_of_unequal_lengths_agrees_with_the_example_of_a_prefix():
    # A prefix agrees at every rank that both have, and is taken to go on so.
    assert rbo_distance("abc", "abcdef") == pytest.approx(0, abs=1e-12)
    assert rbo_distance("abc", "abxdef") > 0


@given(LISTS.filter(bool), LISTS.filter(bool), st.integers(0, 1000))
def test_earth_movers_distance_is_the_least_work_over_all_plans(first, second, seed):
    maps = dict(enumerate(np.random.default_rng(seed).dirichlet(np.ones(3), 10)))
    weights = [1 / np.log2(np.arange(2, len(items) + 2)) for items in (first, second)]
    supply, demand = (each / each.sum() for each in weights)
    costs = np.array([[np.abs(maps[one] - maps[other]).sum() / 2 for other in second] for one in first])
    equal = [np.kron(np.eye(len(first)), np.ones(len(second))), np.kron(np.ones(len(first)), np.eye(len(second)))]
    limits = np.concatenate([supply, demand])[:-1]
    best = linprog(costs.ravel(), A_eq=np.vstack(equal)[:-1], b_eq=limits).fun
    assert earth_movers_distance(first, second, maps) == pytest.approx(best, abs=1e-7)


def test_other_items_on_the_same_topics_are_near():
    maps = {item: np.eye(2)[item % 2] for item in range(4)}
    assert earth_movers_distance([0, 1], [2, 3], maps) == pytest.approx(0, abs=1e-9)
    assert earth_movers_distance([0, 1], [2, 3]) == pytest.approx(1)


def test_the_noise_floor_is_that_of_two_vanilla_fetches():
    generator = np.random.default_rng(0)
    vanilla = [list(range(8)) for _ in range(60)]
    near = [np.argsort(np.arange(8) + generator.normal(0, 1, 8)).tolist() for _ in range(120)]
    far = [generator.permutation(8).tolist() for _ in range(60)]
    noise = compare_lists(kendall_distance, vanilla, near[:60], near[60:])
    assert noise.p_value > 0.05
    assert noise.mean == pytest.approx(noise.noise, abs=0.05)
    moved = compare_lists(kendall_distance, vanilla, far, near[60:])
    assert moved.p_value <= 0.01
    assert moved.mean > moved.noise
    alone = compare_lists(kendall_distance, vanilla, far)
    assert alone.mean == moved.mean
    assert alone.noise is alone.p_value is None


def test_what_is_no_list_is_refused():
    for distance in DISTANCES:
        with pytest.raises(InputError, match="twice"):
            distance([1, 1], [1, 2])
    with pytest.raises(ParameterError, match="persistence"):
        rbo_distance([1], [2], persistence=1)
    with pytest.raises(InputError, match="no lists"):
        compare_lists(kendall_distance, [], [])
