"""Exact samplers of integer noise: discrete Laplace and discrete Gaussian.

Both laws are symmetric on the integers with weights w(0) = 1, w(k+1) = w(k) r(k), r(k) = exp(-(first + k * step)) for
rational first and step: Laplace has step 0, the Gaussian step = 2 * first. The parameter is the float that was given,
taken as the rational number it is.

Why the distribution is exact. Let G(j) = P[|X| <= j] and U be uniform on [0, 1), its binary digits drawn as needed.
Then |X| = the number of j with G(j) <= U has the right law, and a sign bit makes X of it (0 has no sign). A table holds
c(j) = floor(2^63 G(j)), each floor decided by integer interval arithmetic (the precision is doubled until both ends of
the interval agree). Let w be the first 63 digits of U. If w > c(j) then U >= (c(j) + 1) / 2^63 > G(j); if w < c(j) then
U < (w + 1) / 2^63 <= G(j). Only w = c(j) leaves it open; then more digits of U are drawn and compared at higher
precision until it is decided. The table ends where c(j) = 2^63 - 1, which every larger j shares, so the infinite tail
is one such cell. All decisions compare integers; no floating point takes part.

What this does not promise: constant time. A release draws noise for all rows at once and publishes no timings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import floor
from typing import Annotated

import numpy as np
import numpy.typing as npt
from annotated_types import Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.intervals import Bounds, exp_minus, round_up
from aidos.core.noise import Noise

__all__ = ["DiscreteGaussian", "DiscreteLaplace"]

WORD = 63
"""Digits of U that the table decides by; the lowest bit of a random word of 64 is the sign."""
PRECISION = 192
"""Bits behind the point where probabilities become floats."""
AT_ONCE = 2**16
"""Words drawn at a time: table, words and result stay in the processor's cache."""
TABLES = 16
"""Tables that are kept: comparisons of mechanisms come back to a dozen laws, the largest table takes some megabytes."""
NO_FLOAT_BELOW = 800
"""exp(-800) is below the smallest positive float."""

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class _Law:
    """Weights w(0) = 1, w(k+1) = w(k) r(k) with r(k) = exp(-(first + k * step)); w(-k) = w(k)."""

    first: Fraction
    step: Fraction

    def exponent(self, k: int) -> Fraction:
        """-ln w(k)."""
        return self.first * abs(k) + self.step * (abs(k) * (abs(k) - 1) // 2)

    def weights(self, start: int, bits: int, unit: Bounds | None = None) -> Iterator[Bounds]:
        """w(k) / w(start), times ``unit``, for k = start, start + 1, ...; the last one is the sum of all that remain.

        Ratios never grow with k, so what comes after w(k) sums up to at most w(k) r(k) / (1 - r(k)). The weights stop
        where that is negligible at the given precision; the sum that remains is then between 0 and this bound.
        """
        one, negligible = 1 << bits, 1 << bits * 3 // 8
        low, high = unit or (one, one)
        ratio_low, ratio_high = exp_minus(self.first + self.step * start, bits)
        fall_low, fall_high = exp_minus(self.step, bits)
        while (rest := high * ratio_high // max(one - ratio_high, 1) + 1) > negligible:
            yield low, high
            low, high = low * ratio_low >> bits, (high * ratio_high >> bits) + 1
            ratio_low, ratio_high = ratio_low * fall_low >> bits, min((ratio_high * fall_high >> bits) + 1, ratio_high)
        yield low, high
        yield 0, rest

    def mass(self, start: int, bits: int) -> Bounds:
        """Sum of w(k) / w(start) over all k >= start."""
        if not self.step:  # a geometric series
            ratio_low, ratio_high = exp_minus(self.first, bits)
            square = 1 << 2 * bits
            return square // ((1 << bits) - ratio_low), square // max((1 << bits) - ratio_high, 1) + 1
        low = high = 0
        for weight in self.weights(start, bits):
            low, high = low + weight[0], high + weight[1]
        return low, high

    def inner(self, bits: int) -> Iterator[Bounds]:
        """Bounds of G(j) = P[|X| <= j] for j = 0, 1, ... as far as G can be told from 1; the last is for all others."""
        whole_low, whole_high = _whole(self, bits)
        unit = (1 << 2 * bits) // whole_high, (1 << 2 * bits) // whole_low + 1
        low, high = -unit[1], -unit[0]
        for weight in self.weights(0, bits, unit):
            low, high = low + 2 * weight[0], high + 2 * weight[1]
            yield low, high


@lru_cache(maxsize=32)
def _whole(law: _Law, bits: int) -> Bounds:
    """The sum of all weights, from minus to plus infinity."""
    low, high = law.mass(0, bits)
    return 2 * low - (1 << bits), 2 * high - (1 << bits)


@lru_cache(maxsize=TABLES)
def _table(law: _Law, digits: int) -> Words:
    """c(j) = floor(2^digits G(j)), up to the first that equals 2^digits - 1."""
    bits = 2 * digits + 66
    while (cells := _cells(law, digits, bits)) is None:
        bits *= 2
    return np.array(cells, dtype=np.uint64)


def _cells(law: _Law, digits: int, bits: int) -> array[int] | None:
    """The table, or None where the precision does not decide an entry."""
    down, top = bits - digits, (1 << digits) - 1
    cells = array("Q")
    for low, high in law.inner(bits):
        # G(j) < 1 for every j, so a bound above 1 says no more than 1 does.
        if low >> down != min(high >> down, top):
            return None
        cells.append(low >> down)
        if cells[-1] == top:
            return cells
    return None


def _refine(law: _Law, noise: Noise, word: int) -> int:
    """|X| for a U whose first digits fall on a cell that holds some G(j): draw further digits until it is decided."""
    digits = WORD
    while True:
        word, digits = word << 64 | noise.bits.getrandbits(64), digits + 64
        bits = 2 * digits + 66
        lowest, highest = word << bits - digits, (word + 1) << bits - digits
        for j, (low, high) in enumerate(law.inner(bits)):
            if low >= highest:
                return j
            if high > lowest:
                break


def _sample(law: _Law, noise: Noise, size: int) -> Integers:
    table = _table(law, WORD)
    drawn = np.empty(size, dtype=np.int64)
    for start in range(0, size, AT_ONCE):
        part = drawn[start : start + AT_ONCE]
        raw: Words = np.frombuffer(noise.bits.randbytes(8 * len(part)), dtype="<u8")
        words = raw >> np.uint64(64 - WORD)
        # The last entry is 2^63 - 1, so that the place found is always in the table.
        np.copyto(part, np.searchsorted(table, words))
        for index in np.flatnonzero(table[part] == words):
            part[index] = _refine(law, noise, int(words[index]))
        np.negative(part, out=part, where=(raw & np.uint64(1)).astype(bool))
    return drawn


def _tail(law: _Law, beyond: float) -> float:
    """P[X > beyond], rounded up."""
    t = floor(beyond)
    low, high = _whole(law, PRECISION)
    if t < 0:
        # By symmetry P[X >= -n] = (1 + P[|X| <= n]) / 2, here with n = -t - 1.
        inside = 2 * sum(weight[1] for weight in islice(law.weights(0, PRECISION), -t)) - (1 << PRECISION)
        return min(1.0, round_up(high + inside, 2 * low))
    exponent = law.exponent(t + 1)
    if exponent > NO_FLOAT_BELOW:
        return 5e-324
    bits = PRECISION + 2 * floor(exponent) + 2
    return round_up(exp_minus(exponent, bits)[1] * law.mass(t + 1, PRECISION)[1], low << bits)


def _pmf(law: _Law, k: int) -> float:
    exponent = law.exponent(k)
    if exponent > NO_FLOAT_BELOW:
        return 0.0
    bits = PRECISION + 2 * floor(exponent) + 2
    return (exp_minus(exponent, bits)[0] << PRECISION) / (_whole(law, PRECISION)[1] << bits)


@dataclass(frozen=True, slots=True)
class _Discrete(ABC):
    """What both laws can do."""

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def _law(self) -> _Law:
        """The law in exact numbers."""

    def sample(self, noise: Noise, size: int) -> Integers:
        """Independent draws, exactly from this law."""
        return _sample(self._law, noise, size)

    def tail(self, beyond: float) -> float:
        """P[X > beyond], rounded up."""
        return _tail(self._law, beyond)

    def pmf(self, k: int) -> float:
        """P[X = k], within a few units in the last place."""
        return _pmf(self._law, k)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(_Discrete):
    """P[X = k] proportional to exp(-|k| / scale), on the integers."""

    scale: Annotated[float, Gt(0), Le(2**15)]
    """The paper's lambda: a change of a count by one changes log-probabilities by at most 1 / scale."""

    @property
    def _law(self) -> _Law:
        return _Law(1 / Fraction(self.scale), Fraction(0))


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(_Discrete):
    """P[X = k] proportional to exp(-k^2 / (2 sigma^2)), on the integers; its variance is at most sigma^2."""

    sigma: Annotated[float, Gt(0), Le(2**17)]
    """Standard deviation of the continuous law that it is the restriction of."""

    @property
    def _law(self) -> _Law:
        half = 1 / (2 * Fraction(self.sigma) ** 2)
        return _Law(half, 2 * half)
