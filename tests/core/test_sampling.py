"""The samplers against their closed forms; statistical tests fail by chance with probability below 1e-9 each."""

import time
from collections import Counter
from math import exp, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core import sampling
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian, DiscreteLaplace
from aidos.errors import ParameterError

LAWS = [
    DiscreteLaplace(0.05),
    DiscreteLaplace(1.0),
    DiscreteLaplace(20.0),
    DiscreteGaussian(0.2),
    DiscreteGaussian(1.0),
    DiscreteGaussian(13.8),
]


def deviation(n, p, error):
    """Bernstein: a binomial count differs from n p by more than this with probability at most `error`."""
    a = log(2 / error)
    return a / 3 + sqrt(a * a / 9 + 2 * n * p * (1 - p) * a)


def assert_follows(law, drawn, error=1e-9):
    seen = Counter(drawn.tolist())
    values = [k for k in range(-60, 61) if law.pmf(k) > 1e-8]
    for k in values:
        assert abs(seen[k] - len(drawn) * law.pmf(k)) <= deviation(len(drawn), law.pmf(k), error / 200)
    for t in (0, 1, 5, 40):
        p = law.tail(t)
        assert abs((drawn > t).sum() - len(drawn) * p) <= deviation(len(drawn), p, error / 200)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_follow_the_law(law):
    assert_follows(law, law.sample(Noise(seed=1), 300_000))
    assert_follows(law, law.sample(Noise(), 100_000))


def test_the_check_of_draws_can_fail():
    with pytest.raises(AssertionError):
        assert_follows(DiscreteGaussian(13.8), DiscreteGaussian(12.9).sample(Noise(seed=1), 300_000))
    with pytest.raises(AssertionError):
        assert_follows(DiscreteLaplace(20.0), DiscreteLaplace(10.0).sample(Noise(seed=1), 300_000))


@pytest.mark.parametrize("digits", [1, 2, 5, 9])
@pytest.mark.parametrize("law", [DiscreteLaplace(2.0), DiscreteGaussian(1.5)], ids=str)
def test_draws_follow_the_law_when_many_words_fall_on_a_boundary(law, digits, monkeypatch):
    # With a table of so few digits many draws are decided by the refinement, which must not change the law.
    monkeypatch.setattr(sampling, "WORD", digits)
    refined = []
    refine = sampling._refine
    monkeypatch.setattr(sampling, "_refine", lambda *given: refined.append(1) or refine(*given))
    drawn = law.sample(Noise(seed=digits), 4_000)
    assert_follows(law, drawn)
    assert len(refined) > 4_000 * {1: 0.9, 2: 0.5, 5: 0.1, 9: 0.005}[digits]


class Tape:
    """Random bits that were chosen beforehand."""

    def __init__(self, words, further):
        self.words, self.further = np.array(words, dtype="<u8").tobytes(), iter(further)

    def randbytes(self, size):
        assert size == len(self.words)
        return self.words

    def getrandbits(self, bits):
        assert bits == 64
        return next(self.further)


def noise_from(words, further):
    noise = Noise()
    object.__setattr__(noise, "bits", Tape(words, further))
    return noise


def cumulative(law, j, bits):
    """floor(2^bits P[|X| <= j]) from the library's intervals at twice the precision."""
    for index, (low, high) in enumerate(law._law.inner(4 * bits)):
        if index == j:
            assert low >> 3 * bits == high >> 3 * bits
            return low >> 3 * bits
    raise AssertionError


@pytest.mark.parametrize("law", [DiscreteLaplace(20.0), DiscreteGaussian(13.8)], ids=str)
@pytest.mark.parametrize("j", [0, 1, 7])
def test_a_word_on_a_boundary_is_decided_by_further_digits(law, j):
    whole = cumulative(law, j, 127)
    cell, further = whole >> 64, whole & (2**64 - 1)
    for sign in (0, 1):
        word = cell << 1 | sign
        expected = [-j, -(j + 1)] if sign else [j, j + 1]
        below = law.sample(noise_from([word], [further - 1]), 1)
        above = law.sample(noise_from([word], [further + 1]), 1)
        assert [below[0], above[0]] == expected
        # Still on the boundary after 127 digits: the next 64 decide.
        deeper = cumulative(law, j, 191) & (2**64 - 1)
        assert law.sample(noise_from([word], [further, deeper - 1]), 1)[0] == expected[0]
        assert law.sample(noise_from([word], [further, deeper + 1]), 1)[0] == expected[1]


def test_words_beside_a_boundary_need_no_further_digits():
    law = DiscreteGaussian(13.8)
    cell = cumulative(law, 4, 127) >> 64
    drawn = law.sample(noise_from([(cell - 1) << 1, (cell + 1) << 1], []), 2)
    assert drawn.tolist() == [4, 5]


def test_the_word_of_all_ones_reaches_into_the_infinite_tail():
    law = DiscreteLaplace(1.0)
    ones = 2**64 - 1
    # U = 1 - 2^-63 and further digits 0: |X| is the first j with 2 a^(j+1) / (1+a) < 2^-63.
    near = law.sample(noise_from([ones - 1], [0]), 1)[0]
    assert 2 * exp(-(near + 1)) / (1 + exp(-1)) < 2.0**-63 < 2 * exp(-near) / (1 + exp(-1))
    far = law.sample(noise_from([ones - 1], [ones, ones, 0]), 1)[0]
    assert far == pytest.approx(191 * log(2), abs=2)


@pytest.mark.parametrize("scale", [0.05, 0.7, 1.0, 20.0, 1234.5])
def test_laplace_against_its_closed_form(scale):
    law, a = DiscreteLaplace(scale), exp(-1 / scale)
    for k in (0, 1, 2, 5, 30):
        assert law.pmf(k) == law.pmf(-k) == pytest.approx((1 - a) / (1 + a) * a**k, rel=1e-12)
        assert law.tail(k) == pytest.approx(a ** (k + 1) / (1 + a), rel=1e-12)
        assert law.tail(k) <= a**k / 2 * (1 + 1e-12)
        assert law.tail(-k - 1) == pytest.approx(1 - a ** (k + 1) / (1 + a), rel=1e-12)


@pytest.mark.parametrize("sigma", [0.2, 1.0, 4.4, 13.8])
def test_gaussian_against_plain_sums(sigma):
    law = DiscreteGaussian(sigma)
    reach = int(40 * sigma) + 40
    weights = {k: exp(-(k**2) / (2 * sigma**2)) for k in range(-reach, reach + 1)}
    whole = sum(sorted(weights.values()))
    for k in (0, 1, 3, 20):
        assert law.pmf(k) == pytest.approx(weights[k] / whole, rel=1e-12)
        assert law.tail(k) == pytest.approx(sum(sorted(w for j, w in weights.items() if j > k)) / whole, rel=1e-12)
        assert law.tail(-k) == pytest.approx(sum(sorted(w for j, w in weights.items() if j > -k)) / whole, rel=1e-12)


@given(st.floats(0.05, 300), st.integers(0, 2000), st.sampled_from([DiscreteLaplace, DiscreteGaussian]))
def test_tails_fall_and_agree_with_the_probabilities(scale, t, kind):
    law = kind(scale)
    assert 0 < law.tail(t + 1) <= law.tail(t) <= 0.5
    assert law.tail(t) - law.tail(t + 1) == pytest.approx(law.pmf(t + 1), rel=1e-6, abs=1e-16)
    assert law.tail(t + 0.5) == law.tail(t)
    assert law.tail(-t - 1) + law.tail(t) == pytest.approx(1, abs=1e-15)


def test_tails_far_out_keep_their_digits_and_are_never_zero():
    assert DiscreteLaplace(1.0).tail(199) == pytest.approx(exp(-200) / (1 + exp(-1)), rel=1e-12)
    assert DiscreteGaussian(1.0).tail(30) == pytest.approx(exp(-(31**2) / 2) / sqrt(2 * pi), rel=1e-6)
    assert DiscreteGaussian(1.0).tail(10**6) > 0
    assert DiscreteGaussian(1.0).pmf(10**6) == 0
    assert DiscreteGaussian(1.0).tail(-(10**6)) == 1


def test_tables_are_found_whatever_precision_they_need(monkeypatch):
    # A precision that does not decide every entry is doubled, not rounded.
    tried = []
    cells = sampling._cells
    monkeypatch.setattr(sampling, "_cells", lambda law, digits, bits: tried.append(bits) or cells(law, digits, bits))
    law = DiscreteGaussian(2.0)._law
    assert cells(law, 63, 70) is None
    np.testing.assert_array_equal(sampling._table.__wrapped__(law, 63), cells(law, 63, 1000))


@pytest.mark.parametrize("bad", [0, -1.0, float("nan"), float("inf"), 1e9])
def test_impossible_scales_are_refused(bad):
    for kind in (DiscreteLaplace, DiscreteGaussian):
        with pytest.raises(ParameterError):
            kind(bad)


def test_a_seed_repeats_and_the_operating_system_does_not():
    law = DiscreteGaussian(5.0)
    assert law.sample(Noise(seed=3), 50).tolist() == law.sample(Noise(seed=3), 50).tolist()
    assert law.sample(Noise(), 50).tolist() != law.sample(Noise(), 50).tolist()
    assert law.sample(Noise(), 0).tolist() == []


def test_drawing_is_fast():
    law = DiscreteGaussian(13.8)
    law.sample(Noise(), 10)
    best = 0.0
    for _ in range(5):
        started = time.process_time()
        law.sample(Noise(), 500_000)
        best = max(best, 500_000 / (time.process_time() - started))
    assert best > 5e6
