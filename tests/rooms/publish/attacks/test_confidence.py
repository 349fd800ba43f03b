from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.rooms.publish.attacks.distinguisher import Rate, lower_bound, upper_bound


def at_least(successes, trials, rate):
    return sum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(successes, trials + 1))


@given(st.integers(1, 60), st.data(), st.sampled_from([0.9, 0.975, 0.999]))
def test_bounds_are_where_the_binomial_tail_is_the_error(trials, data, confidence):
    successes = data.draw(st.integers(1, trials))
    low = lower_bound(successes, trials, confidence)
    assert isclose(at_least(successes, trials, low), 1 - confidence, rel_tol=1e-6)
    assert isclose(upper_bound(trials - successes, trials, confidence), 1 - low, rel_tol=1e-9)
    assert low < successes / trials


def test_closed_forms_at_the_ends():
    assert lower_bound(0, 10, 0.95) == 0
    assert upper_bound(10, 10, 0.95) == 1
    assert isclose(upper_bound(0, 100, 0.95), 1 - 0.05**0.01)
    assert isclose(lower_bound(100_000, 100_000, 0.95), 0.05**1e-5)


def test_the_known_interval_of_thirty_in_a_hundred():
    rate = Rate(30, 100)
    assert (round(rate.not_below(0.975), 4), round(rate.not_above(0.975), 4)) == (0.2124, 0.3998)
    assert rate.value == 0.3


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_rates_are_refused(successes, trials):
    with pytest.raises(ParameterError):
        Rate(successes, trials)
