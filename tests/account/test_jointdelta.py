from math import exp, floor, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.composition import joint_delta
from aidos.account.gaussian import count_noise_delta
from aidos.account.jointdelta import (
    beyond,
    count_gaussian,
    count_gaussian_delta,
    count_gaussian_epsilon,
    count_part,
    smallest_whole,
    weight_part,
    weighted_gaussian,
    weighted_gaussian_epsilon,
)
from aidos.account.thresholds import any_of
from aidos.core.sampling import DiscreteGaussian
from aidos.errors import ParameterError

requests = st.tuples(st.floats(0.2, 8), st.floats(1e-10, 1e-2), st.integers(1, 40))


def plain_delta(epsilon, sigma, threshold, items):
    """The formula for every number of own items, with the sum over shared ones written out; by plain sums."""
    law = DiscreteGaussian(sigma)
    shown = law.tail(threshold - 1)
    worst = 0.0
    for own in range(items + 1):
        q = 1 - (1 - shown) ** own
        shared = items - own
        width = int(12 * sigma * sqrt(max(shared, 1))) + 2
        one = np.array([law.pmf(k) for k in range(-width, width + 1)])
        total = np.array([1.0])
        for _ in range(shared):
            total = np.convolve(total, one)
        total = total / total.sum()
        # Log-likelihood ratio of the sum s of the noise: shifted by one in each of the shared counts.
        s = np.arange(len(total)) - len(total) // 2
        loss = (s + shared / 2) / sigma**2
        there = q + np.maximum((1 - q) * total - total * np.exp(epsilon - loss), 0).sum()
        back = np.maximum(total - np.exp(epsilon - loss) * (1 - q) * total, 0).sum()
        worst = max(worst, there, back)
    return worst


@pytest.mark.parametrize("request_", [(1.0, 0.01, 1), (2.0, 0.02, 3), (3.0, 1e-3, 5), (0.8, 0.1, 2)])
def test_counts_keep_the_exact_delta_and_one_less_breaks_it(request_):
    epsilon, delta, items = request_
    found = count_gaussian(*request_)
    exact = plain_delta(epsilon, found.scale, int(found.threshold), items)
    assert exact <= delta * (1 + 1e-6)
    assert count_gaussian_delta(epsilon, found.scale, int(found.threshold), items) == pytest.approx(exact, rel=0.02)
    assert plain_delta(epsilon, found.scale, int(found.threshold) - 1, items) > delta
    assert plain_delta(epsilon, found.scale * 0.97, int(found.threshold), items) > delta


def test_the_numbers_at_the_default_request():
    """Noise and threshold together need less than by halves of delta, where it was 13.80 and 75."""
    found = count_gaussian(1, 1e-6, 10)
    assert found.scale == pytest.approx(13.36, abs=0.005)
    assert found.threshold == 70
    assert count_gaussian_delta(1, 13.36, 70, 10) == pytest.approx(9.9987e-7, rel=1e-4)


@given(requests)
@settings(max_examples=25, deadline=None)
def test_both_extremes_keep_delta(request):
    epsilon, delta, items = request
    found = count_gaussian(*request)
    assert count_noise_delta(epsilon, found.scale, items) <= delta
    assert any_of(DiscreteGaussian(found.scale).tail(found.threshold - 1), items) <= delta
    weights = weighted_gaussian(*request)
    assert float(weights.threshold / weights.unit).is_integer()
    assert np.log2(weights.unit).is_integer()
    assert joint_delta(epsilon, [weight_part(weights, items)]) <= delta


@given(requests)
@settings(max_examples=15, deadline=None)
def test_every_share_of_own_items_keeps_delta_on_weights(request):
    """All pairs of items and own items, each by its own formula: no pair is missed where stretches are rounded up."""
    items = request[2]
    found = weighted_gaussian(*request)
    steps, limit = found.scale / found.unit, floor(found.threshold / found.unit)
    cases = weight_part(found, items).cases
    for has in {1, items // 2 or 1, items}:
        shown = beyond(steps, limit - floor(1 / (sqrt(has) * found.unit)))
        for own in range(has + 1):
            mu, q = sqrt(1 - own / has) / found.scale, any_of(shown, own)
            assert any(mu <= most * (1 + 1e-9) and q <= chance * (1 + 1e-9) for most, chance in cases)


def test_the_tail_behind_weighted_thresholds_is_the_true_one():
    law = DiscreteGaussian(1000.5)
    for t in (1001, 2000, 5000):
        assert law.tail(t) <= beyond(1000.5, t) <= law.tail(t) * 1.001
    assert beyond(1000.5, 900) == 1.0


@pytest.mark.parametrize("items", [1, 12, 13, 100])
def test_parts_of_counts_cover_every_number_of_own_items(items):
    found = count_gaussian(1.0, 1e-6, items)
    shown = DiscreteGaussian(found.scale).tail(found.threshold - 1)
    cases = count_part(found, items).cases
    for own in range(items + 1):
        mu, q = sqrt(items - own) / found.scale, any_of(shown, own)
        assert any(mu <= most and q <= chance for most, chance in cases)


@pytest.mark.parametrize("request_", [(1.0, 1e-6, 10), (3.0, exp(-10), 4)])
def test_calibrations_go_back(request_):
    epsilon, delta, items = request_
    counts, weights = count_gaussian(*request_), weighted_gaussian(*request_)
    assert count_gaussian_epsilon(counts.scale, int(counts.threshold), delta, items) <= epsilon * (1 + 1e-6)
    assert weighted_gaussian_epsilon(weights.scale, weights.threshold, delta, items) == pytest.approx(epsilon, rel=0.01)


def test_a_threshold_that_breaks_delta_alone_is_refused_on_the_way_back():
    with pytest.raises(ParameterError, match="the threshold alone"):
        count_gaussian_epsilon(13.8, 40, 1e-6, 10)
    with pytest.raises(ParameterError, match="the threshold alone"):
        weighted_gaussian_epsilon(4.4, 3.0, 1e-6, 10)


@pytest.mark.parametrize("calibrate", [count_gaussian, weighted_gaussian])
def test_impossible_requests_are_refused_by_name(calibrate):
    with pytest.raises(ParameterError, match=r"epsilon.*delta.*items per person"):
        calibrate(0.0, 1.0, 0)


@given(st.integers(0, 5000), st.integers(1, 4000))
def test_the_smallest_number_is_found_from_anywhere(true, near):
    assert smallest_whole(lambda t: t >= true, near) == max(true, 1)
