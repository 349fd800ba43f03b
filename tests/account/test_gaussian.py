from math import exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.gaussian import (
    count_noise_delta,
    count_noise_sigma,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    grid_noise_beyond,
    grid_noise_delta,
    normal_tail,
    normal_tail_inverse,
)
from aidos.core.sampling import DiscreteGaussian
from aidos.errors import ParameterError


def integrated_delta(epsilon, sigma, sensitivity):
    """Delta by its definition: the integral of (p - e^epsilon q)+ over a fine grid."""
    x = np.linspace(-12 * sigma, 12 * sigma + sensitivity, 1_000_001)
    p = np.exp(-((x - sensitivity) ** 2) / (2 * sigma**2)) / (sqrt(2 * pi) * sigma)
    q = np.exp(-(x**2) / (2 * sigma**2)) / (sqrt(2 * pi) * sigma)
    return float(np.maximum(p - exp(epsilon) * q, 0).sum() * (x[1] - x[0]))


def enumerated_delta(epsilon, sigma, items):
    """Delta of discrete noise by its definition: (p - e^epsilon q)+ summed over a box of integer vectors."""
    reach = int(12 * sigma) + 2
    k = np.arange(-reach, reach + 1)
    weights = np.exp(-(k**2) / (2 * sigma**2))
    p = weights / np.exp(-(np.arange(-40 * reach, 40 * reach) ** 2) / (2 * sigma**2)).sum()
    q = np.append(p[1:], 0)  # the count is one less
    whole_p, whole_q = p, q
    for _ in range(items - 1):
        whole_p, whole_q = np.multiply.outer(whole_p, p), np.multiply.outer(whole_q, q)
    return float(np.maximum(whole_p - exp(epsilon) * whole_q, 0).sum())


@pytest.mark.parametrize(("epsilon", "sigma", "sensitivity"), [(1, 1, 1), (0.1, 3, 1), (3, 0.8, 2), (0, 2, 1)])
def test_the_curve_is_its_definition(epsilon, sigma, sensitivity):
    exact = integrated_delta(epsilon, sigma, sensitivity)
    assert gaussian_delta(epsilon, sigma, sensitivity) == pytest.approx(exact, rel=1e-5)


def test_known_values_of_the_normal_tail():
    assert normal_tail(0) == 0.5
    assert normal_tail(1.959963984540054) == pytest.approx(0.025, rel=1e-12)
    assert normal_tail(10) == pytest.approx(7.61985302416053e-24, rel=1e-12)
    for probability in (0.9, 0.5, 1e-3, 1e-12, 1e-200):
        x = normal_tail_inverse(probability)
        assert normal_tail(x) <= probability
        assert normal_tail(x - 1e-9) > probability


@given(st.floats(0.01, 20), st.floats(1e-12, 0.3), st.floats(0.1, 30))
@settings(max_examples=50)
def test_calibration_goes_there_and_back(epsilon, delta, sensitivity):
    sigma = gaussian_sigma(epsilon, delta, sensitivity)
    assert gaussian_delta(epsilon, sigma, sensitivity) <= delta
    assert gaussian_delta(epsilon, sigma * (1 - 1e-6), sensitivity) > delta
    assert gaussian_epsilon(delta, sigma, sensitivity) == pytest.approx(epsilon, rel=1e-6)


def test_extremes_do_not_overflow():
    assert gaussian_delta(1000, 0.01, 1) == 1
    assert 0 <= gaussian_delta(2000, 1, 1) < 1e-300
    assert gaussian_epsilon(0.9, 1, 1) == 0


@pytest.mark.parametrize(
    ("epsilon", "sigma", "items"),
    [(1, 0.7, 1), (0.5, 2, 1), (3, 0.3, 1), (1, 1.7, 2), (0.5, 3.3, 2), (2, 1.2, 2), (1, 2.1, 3), (0.3, 2.6, 3)],
)
def test_discrete_noise_on_counts_costs_what_enumeration_says(epsilon, sigma, items):
    exact, bound = enumerated_delta(epsilon, sigma, items), count_noise_delta(epsilon, sigma, items)
    assert exact <= bound * (1 + 1e-9)
    assert bound == pytest.approx(exact, rel=1e-9 if items == 1 else 2e-4)


@pytest.mark.parametrize(("epsilon", "sigma", "items"), [(1, 1.9, 1), (0.5, 3.3, 2), (1, 2.1, 3)])
def test_the_general_bound_for_integer_vectors_holds_too(epsilon, sigma, items):
    assert enumerated_delta(epsilon, sigma, items) <= grid_noise_delta(epsilon, sigma, sqrt(items), items)
    for_wide_noise = grid_noise_delta(epsilon, 200 * sigma, 200 * sqrt(items), items)
    assert for_wide_noise == pytest.approx(gaussian_delta(epsilon, sigma, sqrt(items)), rel=1e-3)


def test_a_bound_that_is_not_proven_is_not_claimed():
    assert grid_noise_delta(1, 1.4, 1, 1) == 1
    assert count_noise_delta(30, 0.1, 5) == 1  # the sum of such narrow noise is not close to a Gaussian


@pytest.mark.parametrize(
    ("epsilon", "delta", "items"),
    [
        (1, 5e-7, 10),
        (3, exp(-10) / 2, 10),
        (1, 1e-6, 1),
        (0.1, 1e-9, 5),
        (10, 1e-6, 10),
        (30, 1e-6, 20),
        (0.01, 1e-9, 99),
    ],
)
def test_noise_for_counts_is_verified_and_close_to_the_continuous_one(epsilon, delta, items):
    sigma = count_noise_sigma(epsilon, delta, items)
    assert count_noise_delta(epsilon, sigma, items) <= delta
    assert sigma == pytest.approx(gaussian_sigma(epsilon, delta, sqrt(items)), rel=3e-3)


def test_half_the_noise_does_not_keep_the_promise():
    sigma = count_noise_sigma(1, 1e-6, 3)
    assert count_noise_delta(1, sigma / 2, 3) > 100e-6


@given(st.floats(2, 200), st.floats(1e-12, 0.1))
@settings(max_examples=50)
def test_the_closed_bound_of_the_discrete_tail_holds_and_is_close(sigma, probability):
    t = grid_noise_beyond(sigma, probability)
    law = DiscreteGaussian(sigma)
    assert law.tail(t) <= probability
    assert t <= sigma + 1 or law.tail(t - 2 - int(10 / sigma)) > probability


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_impossible_values_are_refused(bad):
    for call in (
        lambda: gaussian_sigma(bad, 1e-6, 1),
        lambda: gaussian_sigma(1, bad, 1),
        lambda: gaussian_delta(1, bad, 1),
        lambda: gaussian_epsilon(1e-6, 1, bad),
        lambda: count_noise_sigma(bad, 1e-6, 1),
        lambda: gaussian_sigma(1, 1.0, 1),
    ):
        with pytest.raises(ParameterError):
            call()
