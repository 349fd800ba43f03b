from itertools import permutations
from math import exp, prod

import numpy as np
import pytest
from audit_pairs import small_pairs
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import evaluate_stages, log_mean_personalised, log_vanilla, pull_of_weights
from oracles.audit import plain_gradient, plain_log_mean_personalised, plain_log_vanilla


def orders_of(length, maps=None):
    """Every personalised order of one vanilla list, as queries."""
    orders = [list(order) for order in permutations(range(length))]
    return PairArrays.from_lists(
        [list(range(length))] * len(orders), orders, maps or TopicMaps.from_dense(np.eye(length))
    )


def query_maps(pairs, query):
    return [pairs.maps.row(item) for item in pairs.lists(query)[1]]


def query_ranks(pairs, query):
    return pairs.ranks[pairs.starts[query] : pairs.starts[query + 1]].tolist()


def test_example_of_the_specification():
    pairs = PairArrays.from_lists([[0, 1, 2]], [[1, 2, 0]], TopicMaps.from_dense(np.eye(3)))
    assert exp(log_vanilla(pairs, 1.0).values[0]) == pytest.approx(0.0292, abs=5e-5)


@given(st.integers(1, 12), st.floats(0.01, 20))
def test_density_of_the_unchanged_list_has_its_closed_form(length, concentration):
    items = list(range(length))
    pairs = PairArrays.from_lists([items], [items], TopicMaps.from_dense(np.eye(length)))
    closed = prod((1 - exp(-concentration)) / (1 - exp(-concentration * k)) for k in range(1, length + 1))
    assert exp(log_vanilla(pairs, concentration).values[0]) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("parameter", [0.1, 0.7, 1.0])
def test_densities_sum_to_one_over_all_orders(length, parameter):
    generator = np.random.default_rng(length)
    maps = TopicMaps.from_dense(generator.dirichlet(np.ones(3), length))
    pairs = orders_of(length, maps)
    assert np.exp(log_vanilla(pairs, 4 * parameter).values).sum() == pytest.approx(1)
    interests = maps.dot(generator.normal(0, 3, 3))
    assert np.exp(log_mean_personalised(pairs, interests, parameter, 0.0).values).sum() == pytest.approx(1)


@given(small_pairs(), st.floats(0, 1), st.floats(0.05, 15), st.floats(0, 1), st.integers(0, 1000))
def test_all_queries_at_once_equal_the_plain_loops(pairs, mix, concentration, spread, seed):
    weights = np.random.default_rng(seed).normal(0, 2, pairs.topic_count)
    kept = log_vanilla(pairs, concentration)
    lifted = log_mean_personalised(pairs, pairs.maps.dot(weights), mix, spread)
    for query in range(len(pairs)):
        ranks, maps = query_ranks(pairs, query), query_maps(pairs, query)
        assert kept.values[query] == pytest.approx(plain_log_vanilla(ranks, concentration), rel=1e-9, abs=1e-9)
        plain = plain_log_mean_personalised(ranks, maps, weights, mix, spread)
        assert lifted.values[query] == pytest.approx(plain, rel=1e-9, abs=1e-9)
        alone = np.eye(len(pairs))[query]
        gradient = pull_of_weights(pairs, lifted.pushes, mix, alone)
        assert gradient == pytest.approx(plain_gradient(ranks, maps, weights, mix, spread), rel=1e-8, abs=1e-9)


@given(small_pairs(), st.floats(0.05, 0.95), st.floats(0.1, 5), st.integers(0, 1000))
def test_derivatives_agree_with_finite_differences(pairs, mix, concentration, seed):
    generator = np.random.default_rng(seed)
    weights, counts, step = generator.normal(0, 2, pairs.topic_count), generator.random(len(pairs)), 1e-5

    def lifted(at, share):
        return counts @ log_mean_personalised(pairs, pairs.maps.dot(at), share, 0.3).values

    scored = log_mean_personalised(pairs, pairs.maps.dot(weights), mix, 0.3)
    gradient = pull_of_weights(pairs, scored.pushes, mix, counts)
    for topic, direction in enumerate(np.eye(pairs.topic_count) * step):
        slope = (lifted(weights + direction, mix) - lifted(weights - direction, mix)) / (2 * step)
        assert gradient[topic] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    by_mix = (lifted(weights, mix + step) - lifted(weights, mix - step)) / (2 * step)
    assert counts @ scored.slopes == pytest.approx(by_mix, rel=1e-5, abs=1e-5)
    around = [counts @ log_vanilla(pairs, concentration + side * step).values for side in (1, -1)]
    by_concentration = (around[0] - around[1]) / (2 * step)
    assert counts @ log_vanilla(pairs, concentration).slopes == pytest.approx(by_concentration, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("spread", "gap"), [(0.8, 0.7), (0.1, 0.02)])
def test_the_bound_lies_below_the_mean_of_the_logarithm_and_near_it_for_a_small_spread(spread, gap):
    generator = np.random.default_rng(5)
    maps = TopicMaps.from_dense(generator.dirichlet(np.ones(3), 5))
    pairs, centre = orders_of(5, maps), generator.normal(0, 1, 3)
    drawn = [
        log_mean_personalised(pairs, maps.dot(centre + spread * generator.normal(size=3)), 0.9, 0.0).values
        for _ in range(2000)
    ]
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0) / np.sqrt(len(drawn))
    bound = log_mean_personalised(pairs, maps.dot(centre), 0.9, spread).values
    assert (bound <= mean + 4 * error).all()
    assert (bound >= mean - gap).all()


@given(small_pairs(shortest=2), st.integers(0, 1000))
def test_utilities_far_apart_give_finite_values_and_the_same_derivatives(pairs, seed):
    utilities = np.random.default_rng(seed).normal(0, 2000, len(pairs.items))
    values, pulls = evaluate_stages(pairs, utilities, utilities)
    assert np.isfinite(values).all()
    assert (values <= 1e-6).all()
    # Each stage chooses one item, so that the pulls of a list sum up to its length.
    assert pairs.sum_by_query(pulls) == pytest.approx(pairs.lengths)
    near, also_near = evaluate_stages(pairs, utilities / 100, utilities / 100)
    shifted = [evaluate_stages(pairs, at, at) for at in (utilities / 100 + 5000, utilities / 100 - 5000)]
    for other, other_pulls in shifted:
        assert other == pytest.approx(near, abs=1e-7)
        assert other_pulls == pytest.approx(also_near, abs=1e-7)


@given(small_pairs())
def test_lists_come_back_and_exchanging_twice_changes_nothing(pairs):
    back = pairs.swapped().swapped()
    assert np.array_equal(back.items, pairs.items)
    assert np.array_equal(back.ranks, pairs.ranks)
    for query in range(len(pairs)):
        vanilla, personalised = pairs.lists(query)
        other, same = pairs.swapped().lists(query)
        assert np.array_equal(vanilla, same)
        assert np.array_equal(personalised, other)
    last = pairs.take([len(pairs) - 1, 0])
    assert np.array_equal(last.lists(0)[0], pairs.lists(len(pairs) - 1)[0])
    assert np.array_equal(last.lists(1)[1], pairs.lists(0)[1])
    assert len(pairs.take(~pairs.changed)) == (~pairs.changed).sum()


def test_lists_that_do_not_fit_are_refused():
    maps = TopicMaps.from_dense(np.eye(3))
    for vanilla, personalised in [([[0, 1]], [[0, 2]]), ([[0, 0]], [[0, 0]]), ([[0, 1]], [[0]]), ([[0]], [])]:
        with pytest.raises(InputError):
            PairArrays.from_lists(vanilla, personalised, maps)
    with pytest.raises(InputError, match="outside 0 to 2"):
        PairArrays.from_lists([[0, 7]], [[7, 0]], maps)
    with pytest.raises(InputError, match="same items"):
        PairArrays(starts=np.array([0, 2]), items=np.array([0, 1]), ranks=np.array([1, 1]), maps=maps)
    with pytest.raises(InputError, match="finite"):
        TopicMaps.from_dense([[np.nan, 1]])
    with pytest.raises(InputError, match="matrix"):
        TopicMaps.from_dense([1.0, 2.0])
