"""Integers that hold a real number between them: fixed-point bounds of exp(-x) for rational x.

A number is held as two integers (low, high) with low <= number * 2^bits <= high. Every operation rounds outwards, so
the bounds are theorems, not estimates. No floating point takes part; `round_up` is the one way out to a float.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

__all__ = ["Bounds", "exp_minus", "multiply", "round_up"]

Bounds = tuple[int, int]
"""low <= number * 2^bits <= high; the number of bits goes with the computation."""


def exp_minus(x: Fraction, bits: int) -> Bounds:
    """Bounds of exp(-x) for x >= 0, a few units of 2^-bits apart.

    exp(-x) = exp(-y)^(2^halvings) with y = x / 2^halvings < 2^-8. For exp(-y) the alternating series stops when a term
    is below one unit; rounding loses at most two units a term, and each squaring at most doubles the width.
    """
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 8)
    working = bits + 2 * halvings + 32
    y = (x.numerator << working) // (x.denominator << halvings)
    total = term = 1 << working
    terms = 0
    while term:
        terms += 1
        term = (term * y >> working) // terms
        total += -term if terms % 2 else term
    slack = 2 * terms + 4
    bounds = (max(total - slack, 0), min(total + slack, 1 << working))
    for _ in range(halvings):
        bounds = multiply(bounds, bounds, working)
    down = working - bits
    return bounds[0] >> down, -(-bounds[1] >> down)


def multiply(left: Bounds, right: Bounds, bits: int) -> Bounds:
    """Bounds of the product of two numbers that are not negative."""
    return left[0] * right[0] >> bits, -(-left[1] * right[1] >> bits)


def round_up(numerator: int, denominator: int) -> float:
    """The smallest float that is not below the fraction (which is not negative)."""
    nearest = numerator / denominator
    return nearest if Fraction(nearest) >= Fraction(numerator, denominator) else nextafter(nearest, inf)
