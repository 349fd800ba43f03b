from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.account.thresholds import (
    any_of,
    chance_of_one,
    geometric,
    laplace,
    laplace_promise,
    noise_scale,
)
from aidos.core.intervals import exp_minus
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.errors import ParameterError

requests = st.tuples(st.floats(0.2, 8), st.floats(1e-10, 1e-2), st.integers(1, 40))


@given(requests)
@settings(max_examples=30, deadline=None)
def test_laplace_uses_all_of_delta_for_its_threshold(request):
    epsilon, delta, items = request
    found = laplace(*request)
    law = DiscreteLaplace(found.scale)
    assert items / found.scale <= epsilon
    assert any_of(law.tail(found.threshold - 1), items) <= delta
    assert any_of(law.tail(found.threshold - 2), items) > delta


def test_the_laplace_threshold_at_the_default_request():
    assert laplace(1, 1e-6, 10).threshold == 155


@pytest.mark.parametrize("request_", [(1.0, 1e-6, 10), (3.0, exp(-10), 4)])
def test_the_laplace_calibration_goes_back(request_):
    epsilon, delta, items = request_
    noisy = laplace(*request_)
    back = laplace_promise(noisy.scale, int(noisy.threshold), items)
    assert back[0] == pytest.approx(epsilon)
    assert delta * exp(-epsilon) < back[1] <= delta


@given(st.floats(0.05, 5), st.floats(1e-12, 0.1), st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_selection_probabilities_keep_their_promise_exactly(epsilon, delta, items):
    words = [int(word) for word in geometric(epsilon, delta, items).words] + [2**64] * 2
    grow = Fraction(2**200, exp_minus(Fraction(epsilon) / items, 200)[1])  # at most e^(epsilon/m)
    gift = Fraction(-expm1(log1p(-delta) / items)) * 2**64
    assert words[0] == 0
    for before, after in pairwise(words):
        assert before <= after <= grow * before + gift
        assert 2**64 - before <= grow * (2**64 - after) + gift


def test_selection_is_optimal_up_to_rounding():
    epsilon, delta, items = 1.0, 1e-6, 10
    e, d = epsilon / items, -expm1(log1p(-delta) / items)
    found = geometric(epsilon, delta, items)
    pi = 0.0
    for n in range(len(found.words)):
        assert found.probability(n) == pytest.approx(pi, rel=1e-9)
        pi = min(exp(e) * pi + d, 1 - exp(-e) * (1 - pi - d), 1.0)
    assert pi == 1


def test_choices_follow_the_probabilities():
    found = geometric(2.0, 1e-3, 1)
    people = np.repeat(np.array([0, 1, 4, 1000]), 50_000)
    chosen = found.choose(people, Noise(seed=5)).reshape(4, -1).mean(axis=1)
    expected = found.probability(np.array([0, 1, 4, 1000]))
    assert chosen[0] == 0
    assert chosen[3] == 1
    # Hoeffding: each differs by more than 0.016 with probability below 1e-11.
    assert np.abs(chosen - expected).max() < 0.016


def test_the_share_of_one_item_and_of_all_are_inverse():
    for delta in (1e-12, 1e-6, 0.3):
        for items in (1, 7, 1000):
            assert any_of(chance_of_one(delta, items), items) == pytest.approx(delta, rel=1e-9)
            assert any_of(chance_of_one(delta, items) / (1 + 1e-12), items) <= delta


def test_scales_are_rounded_up():
    for epsilon in (0.1, 0.3, 1.0, log(3)):
        for changes in (1, 2, 10):
            assert Fraction(noise_scale(changes, epsilon)) * Fraction(epsilon) >= changes
    assert noise_scale(4, 1.0) == 4


@pytest.mark.parametrize("calibrate", [laplace, geometric])
def test_all_that_is_impossible_is_named_at_once(calibrate):
    with pytest.raises(ParameterError, match=r"epsilon .* delta .* items per person"):
        calibrate(float("nan"), 1.0, 0)
