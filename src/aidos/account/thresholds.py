"""From (epsilon, delta) to noise and thresholds, where one person is added or removed and adds one to at most m items.

What is published is every item whose noisy count is *above* the threshold; items that nobody has are never looked at.

Why noise and threshold may pay separately. Items that only the added person has are published with probability at most
q (the threshold's share); on the others the noise alone gives (epsilon, g). Let A be a set of outputs, P without the
person, Q with, and E that none of her own items shows. Then Q(A) <= Q(A|E) + q <= e^epsilon P(A) + g + q. The other
way, let x = e^epsilon Q(A|E), for A without her items, which P never shows: P(A) <= min(1, x + g), and x (1-q) <=
e^epsilon Q(A). If x <= 1 then P(A) <= x (1-q) + q + g; if x > 1 then P(A) <= 1 <= x (1-q) + q. Either way P(A) <=
e^epsilon Q(A) + g + q.

Each of her k own items is shown with probability p independently, so q = 1 - (1-p)^k. Thresholds are integers (in steps
of the noise), and each was checked against a proven bound of the discrete tail. With Gaussian noise the worst person
uses less than g + q: see `jointdelta`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, expm1, floor, log, log1p, log2

import numpy as np
import numpy.typing as npt

from aidos.core.intervals import exp_minus, round_up
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.errors import ParameterError

__all__ = [
    "Calibration",
    "GeometricSelection",
    "any_of",
    "chance_of_one",
    "check_request",
    "fine_step",
    "geometric",
    "laplace",
    "laplace_promise",
    "noise_scale",
    "smallest_beyond",
]

SAFE = 1 - 1e-14
"""Probabilities that a threshold may use up are rounded down by this."""
MOST_STEPS = 5_000_000
"""The longest table of selection probabilities."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Noise and threshold; an item is published if its noisy count is above the threshold."""

    scale: float
    """Standard deviation of Gaussian noise, scale of Laplace noise."""
    threshold: float
    """A whole number of units."""
    unit: float = 1.0
    """The step of the discrete noise, a power of two: draw noise of scale / unit and compare with threshold / unit.

    1 where counts of people are noised; finer where weights are, which are rounded down to it first.
    """


def laplace(epsilon: float, delta: float, items_per_person: int) -> Calibration:
    """Discrete Laplace noise on counts: the noise needs no delta, the threshold all of it."""
    check_request(epsilon, delta, items_per_person)
    scale = noise_scale(items_per_person, epsilon)
    allowed = chance_of_one(delta, items_per_person)
    near = scale * log(1 / (2 * allowed)) - 0.5
    return Calibration(scale, 1.0 + smallest_beyond(DiscreteLaplace(scale).tail, allowed, near))


def laplace_promise(scale: float, threshold: int, items_per_person: int) -> tuple[float, float]:
    """Back from noise and threshold: epsilon and delta."""
    tail = DiscreteLaplace(scale).tail(threshold - 1)
    return items_per_person / scale, any_of(tail, items_per_person)


def fine_step(sigma: float, items_per_person: int) -> float:
    """A power of two, small against the noise and the smallest weight, but not so small that tables grow too large."""
    noise = floor(log2(sigma))
    weight = -9 - ceil(log2(items_per_person) / 2)
    return 2.0 ** max(min(noise - 12, weight), noise - 15)


@dataclass(frozen=True, slots=True, eq=False)
class GeometricSelection:
    """Whether an item is published, from the number of people who have it: never its count.

    The probabilities are multiples of 2^-64 that keep (epsilon/m, d) between neighbouring counts exactly, by integer
    arithmetic: pi(n) = min(e^e pi(n-1) + d, 1 - e^-e (1 - pi(n-1) - d), 1), rounded down.
    """

    words: npt.NDArray[np.uint64]
    """pi(n) * 2^64 for n = 0, 1, ...; from the length on, pi is 1."""

    def probability(self, people: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """pi(n), as floats."""
        n = np.asarray(people)
        inside = np.minimum(n, len(self.words) - 1)
        return np.where(n < len(self.words), self.words[inside] / 2.0**64, 1.0)

    def choose(self, people: npt.NDArray[np.int64], noise: Noise) -> npt.NDArray[np.bool_]:
        """Independent choices with exactly these probabilities."""
        drawn = np.frombuffer(noise.bits.randbytes(8 * len(people)), dtype="<u8")
        inside = np.minimum(people, len(self.words) - 1)
        return (people >= len(self.words)) | (drawn < self.words[inside])


def geometric(epsilon: float, delta: float, items_per_person: int) -> GeometricSelection:
    """The optimal selection for one item a person, at epsilon/m and 1 - (1-delta)^(1/m) for each of m items."""
    check_request(epsilon, delta, items_per_person)
    bits, one = 128, 1 << 128
    fall = exp_minus(Fraction(epsilon) / items_per_person, bits)[1]
    gift = floor(Fraction(chance_of_one(delta, items_per_person)) * one)
    chosen, words = 0, [0]
    while True:
        rising = (chosen << bits) // fall + gift
        falling = one - -(-fall * max(one - chosen - gift, 0) >> bits)
        chosen = min(rising, falling, one) >> 64 << 64
        if chosen == one:
            return GeometricSelection(np.array(words, dtype=np.uint64))
        if len(words) > MOST_STEPS or chosen >> 64 == words[-1]:
            raise ParameterError("epsilon and delta are too small for a selection table", hint="ask for a larger delta")
        words.append(chosen >> 64)


def noise_scale(changes: int, epsilon: float) -> float:
    """Changes / epsilon, rounded up, as the scale of Laplace noise where so many counts change by one."""
    exact = changes / Fraction(epsilon)
    return round_up(exact.numerator, exact.denominator)


def chance_of_one(delta: float, items: int) -> float:
    """The largest p with 1 - (1-p)^items <= delta, rounded down: what each of a person's own items may use up."""
    return -expm1(log1p(-delta) / items) * SAFE


def any_of(chance: float, items: int) -> float:
    """1 - (1-p)^items, rounded up."""
    return min(-expm1(items * log1p(-chance)) / SAFE, 1.0) if chance < 1 else 1.0


def smallest_beyond(tail: Callable[[float], float], allowed: float, near: float) -> int:
    """The smallest t >= 0 with tail(t) <= allowed; ``near`` is a guess that saves time."""
    t = max(ceil(near), 0)
    while tail(t) > allowed:
        t += 1
    while t > 0 and tail(t - 1) <= allowed:
        t -= 1
    return t


def check_request(epsilon: float, delta: float, items_per_person: int) -> None:
    """Raise one ParameterError that names everything impossible in the request."""
    problems = []
    if not 0 < epsilon < float("inf"):
        problems.append(f"epsilon must be finite and greater than 0, got {epsilon}")
    if not 0 < delta < 1:
        problems.append(f"delta must be between 0 and 1, got {delta}")
    if items_per_person < 1:
        problems.append(f"items per person must be at least 1, got {items_per_person}")
    if problems:
        raise ParameterError("; ".join(problems))
