import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.rankings import Gain, gains, normalise

relevances = st.lists(st.floats(0, 1e6), min_size=1, max_size=50).filter(any).map(np.array)


@given(relevances)
def test_shares_sum_to_one_and_keep_the_proportions(relevance):
    shares = normalise(relevance)
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares * relevance.max(), relevance * shares.max(), atol=1e-300)


@given(relevances, st.sampled_from(Gain))
def test_gains_follow_relevance(relevance, gain):
    worth = gains(relevance, gain)
    order = np.argsort(relevance)
    assert (np.diff(worth[order]) >= 0).all()
    assert (worth >= 0).all()
    assert (worth[relevance == 0] == 0).all()


@given(relevances.filter(lambda values: values.max() > 1e-6), st.sampled_from(Gain), st.floats(0.01, 100))
def test_without_a_top_the_unit_of_relevance_does_not_matter(relevance, gain, factor):
    np.testing.assert_allclose(gains(relevance * factor, gain), gains(relevance, gain), rtol=1e-9, atol=1e-12)


def test_closed_forms():
    relevance = np.array([4.0, 3.0, 1.0, 0.0])
    np.testing.assert_allclose(gains(relevance), 2.0 ** (relevance / 8) - 1)
    np.testing.assert_allclose(gains(relevance, "linear"), relevance / 4)
    np.testing.assert_allclose(gains(relevance, "linear", top=5), relevance / 5)
    np.testing.assert_allclose(gains(relevance, Gain.EXPONENTIAL_1), 2.0 ** (relevance / 4) - 1)
    np.testing.assert_allclose(gains(relevance, "exponential-5", top=5), 2.0**relevance - 1)
    assert (gains(np.zeros(3), "linear", top=5) == 0).all()


def test_the_papers_gain_is_nearly_linear_in_a_long_ranking():
    relevance = np.linspace(1, 100, 1000)
    worth = gains(relevance)
    np.testing.assert_allclose(worth / worth.max(), relevance / 100, rtol=2e-3)


def test_ratings_above_the_scale_are_refused_with_their_number():
    with pytest.raises(InputError, match="2 of 3 subjects"):
        gains(np.array([1.0, 6.0, 7.0]), "linear", top=5)


@pytest.mark.parametrize("top", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_top_is_refused(top):
    with pytest.raises(ParameterError, match="top of the scale"):
        gains(np.ones(2), "linear", top=top)


def test_what_has_no_scale_is_refused():
    for gain in Gain:
        with pytest.raises(InputError):
            gains(np.zeros(3), gain)
    with pytest.raises(ParameterError, match="top"):
        gains(np.ones(3), Gain.PAPER, top=5)
    with pytest.raises(ParameterError, match="no gain"):
        gains(np.ones(3), "cubic")


def test_five_thousand_subjects_take_microseconds():
    relevance = np.random.default_rng(1).random(5000)
    laps = []
    for _ in range(200):
        start = time.perf_counter()
        gains(relevance)
        laps.append(time.perf_counter() - start)
    assert min(laps) < 200e-6  # about 25 microseconds at rest; room for a loaded machine
