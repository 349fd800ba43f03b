from fractions import Fraction
from math import exp, inf, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.intervals import exp_minus, multiply, round_up


@given(st.fractions(0, 300), st.sampled_from([16, 64, 192, 500]))
def test_bounds_hold_the_exponential_and_are_close(x, bits):
    low, high = exp_minus(x, bits)
    assert 0 <= low <= high <= (1 << bits) + 4
    assert high - low <= 8
    finer_low, finer_high = exp_minus(x, bits + 100)
    assert low << 100 <= finer_high
    assert finer_low <= high << 100
    assert low / 2**bits <= exp(-float(x)) * (1 + 1e-12)
    assert high / 2**bits >= exp(-float(x)) * (1 - 1e-12)


@given(st.fractions(0, 20), st.fractions(0, 20))
def test_the_exponential_of_a_sum_is_the_product(x, y):
    together = exp_minus(x + y, 200)
    product = multiply(exp_minus(x, 200), exp_minus(y, 200), 200)
    assert product[0] <= together[1]
    assert together[0] <= product[1]


def test_zero_and_one():
    assert exp_minus(Fraction(0), 64)[1] == 1 << 64
    low, high = exp_minus(Fraction(1), 200)
    # 1/e = 0.36787944117144232159552377016146086744581113103176...
    known = 36787944117144232159552377016146086744581113103176
    assert low <= (known + 1) * 2**200 // 10**50 + 1
    assert high >= known * 2**200 // 10**50


@given(st.integers(0, 10**40), st.integers(1, 10**40))
def test_rounding_up_gives_the_next_float(numerator, denominator):
    found, exact = round_up(numerator, denominator), Fraction(numerator, denominator)
    assert Fraction(found) >= exact
    if found > 0:
        assert Fraction(nextafter(found, -inf)) < exact


def test_a_third_is_rounded_up():
    assert Fraction(round_up(1, 3)) > Fraction(1, 3)
    assert round_up(1, 3) == pytest.approx(1 / 3)
