"""Gaussian noise and thresholds that share one delta: a person hides in the noise or is given away, not both in full.

A person who is added has some items that others have too, and k that only she has. The shared ones move noisy numbers
that are published without her as well; each of her own is never published without her, and with her with a chance p.
The two kinds have independent noise, so with q = 1 - (1-p)^k and D(epsilon) the delta of the noise on the shared ones

    delta(epsilon) = max( q + (1-q) D(epsilon - ln(1-q)),  D(epsilon + ln(1-q)) )

exactly: the first is seen from the data with her (outputs that show an own item are impossible without her, and all
others are 1-q times as likely as they would be), the second from the data without. Every own item is one that is not
shared, so the worst k counts, not the sum of the worst threshold and the worst noise.

Counts (`count_gaussian`): k of m items own, so m - k counts move by one. D is the exact curve of discrete noise.

Weights (`weighted_gaussian`): of K items of weight 1/sqrt(K), k are own, and the shared ones have the length
sqrt(1 - k/K). Where m is large, stretches of K and k are rounded up together, so that no pair is missed and few are
computed.

Everything is monotone (more shared items, or a larger q, never cost less), and floats are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import ceil, expm1, floor, log1p, sqrt

from aidos.account.composition import GaussianPart, joint_delta, joint_epsilon
from aidos.account.gaussian import (
    bracket,
    count_noise_delta,
    count_noise_sigma,
    gaussian_sigma,
    normal_tail,
    normal_tail_inverse,
    smallest,
    smoothed,
)
from aidos.account.thresholds import Calibration, any_of, chance_of_one, check_request, fine_step
from aidos.core.sampling import DiscreteGaussian
from aidos.errors import ParameterError

__all__ = [
    "beyond",
    "count_gaussian",
    "count_gaussian_delta",
    "count_gaussian_epsilon",
    "count_part",
    "smallest_whole",
    "weight_part",
    "weighted_gaussian",
    "weighted_gaussian_epsilon",
]

EXACT = 12
"""Up to so many items every number of own items is looked at; above, stretches of them are rounded up."""
STRETCH = 1.15
ROOM = 1.001
"""A little more noise on weights than all of delta asks for: who has many items may own a very small share of them."""
UP = 1 + 1e-12
CACHED = 256


@lru_cache(maxsize=CACHED)
def count_gaussian(epsilon: float, delta: float, items_per_person: int) -> Calibration:
    """Discrete Gaussian noise on counts: the least noise for all of delta, then the smallest threshold that fits."""
    check_request(epsilon, delta, items_per_person)
    sigma = count_noise_sigma(epsilon, delta, items_per_person)

    def fits(threshold: int) -> bool:
        return count_gaussian_delta(epsilon, sigma, threshold, items_per_person) <= delta

    near = 1 + ceil(sigma * normal_tail_inverse(chance_of_one(delta, items_per_person)) - 0.5)
    return Calibration(sigma, float(smallest_whole(fits, max(near, 1))))


def count_gaussian_delta(epsilon: float, sigma: float, threshold: int, items_per_person: int) -> float:
    """Delta of discrete noise on counts and a threshold, for the worst number of own items."""
    shown = DiscreteGaussian(sigma).tail(threshold - 1)
    worst = 0.0
    for fewest, most in _stretches(items_per_person):
        q = any_of(shown, most)
        if q >= 1:
            return 1.0
        shared = items_per_person - fewest
        there = q + (1 - q) * _counts(epsilon - log1p(-q), sigma, shared)
        worst = max(worst, there, _counts(epsilon + log1p(-q), sigma, shared))
    return worst


def count_gaussian_epsilon(sigma: float, threshold: int, delta: float, items_per_person: int) -> float:
    """Back from noise and threshold: epsilon at this delta."""
    check_request(1.0, delta, items_per_person)
    _refuse_shown(any_of(DiscreteGaussian(sigma).tail(threshold - 1), items_per_person), delta)

    def fits(epsilon: float) -> bool:
        return count_gaussian_delta(epsilon, sigma, threshold, items_per_person) <= delta

    return smallest(fits, *bracket(fits, start=1.0), precision=1e-6)


def count_part(calibrated: Calibration, items_per_person: int) -> GaussianPart:
    """Noise on counts and a threshold as one part of a composition, with the cases a person may be in."""
    shown = DiscreteGaussian(calibrated.scale).tail(calibrated.threshold - 1)
    mu = _mu(calibrated.scale)
    cases = [
        (sqrt(items_per_person - fewest) * mu, any_of(shown, most)) for fewest, most in _stretches(items_per_person)
    ]
    return _part(cases)


@lru_cache(maxsize=CACHED)
def weighted_gaussian(epsilon: float, delta: float, items_per_person: int) -> Calibration:
    """Discrete Gaussian noise on weights: a person's have l2 norm at most 1, and K items at most 1/sqrt(K) each."""
    check_request(epsilon, delta, items_per_person)
    continuous = gaussian_sigma(epsilon, delta, 1.0) * ROOM
    unit = fine_step(continuous, items_per_person)
    steps = sqrt((continuous / unit) ** 2 + 2.25) * UP  # 2.25: what `smoothed` takes for discreteness

    def fits(threshold: int) -> bool:
        part = weight_part(Calibration(steps * unit, threshold * unit, unit), items_per_person)
        return joint_delta(epsilon, [part]) <= delta

    near = floor(1 / unit) + ceil(steps * normal_tail_inverse(chance_of_one(delta, 1)))
    return Calibration(steps * unit, smallest_whole(fits, near) * unit, unit)


def weighted_gaussian_epsilon(sigma: float, threshold: float, delta: float, items_per_person: int) -> float:
    """Back from noise and threshold on weights: epsilon at this delta."""
    check_request(1.0, delta, items_per_person)
    part = weight_part(Calibration(sigma, threshold, fine_step(sigma, items_per_person)), items_per_person)
    _refuse_shown(part.delta, delta)
    return joint_epsilon(delta, [part])


def weight_part(calibrated: Calibration, items_per_person: int) -> GaussianPart:
    """Noise on weights of length 1 and a threshold as one part of a composition, with the cases of a person."""
    steps, limit = calibrated.scale / calibrated.unit, floor(calibrated.threshold / calibrated.unit)
    mu = _mu(steps) / calibrated.unit
    cases = [(mu, 0.0)]
    for few, many in _stretches(items_per_person):  # items that she has
        shown = beyond(steps, limit - floor(1 / (sqrt(max(few, 1)) * calibrated.unit)))
        own = [(fewest, min(most, many)) for fewest, most in _stretches(many) if fewest > 0]
        cases += [(sqrt(1 - fewest / many) * mu, any_of(shown, most)) for fewest, most in own]
    return _part(cases)


def beyond(steps: float, t: int) -> float:
    """A bound of P[X > t] for discrete Gaussian noise (see `gaussian.grid_noise_beyond`); 1 where none is proven."""
    return normal_tail((t + 0.5) / steps) * UP if t + 0.5 >= steps else 1.0


def _part(cases: list[tuple[float, float]]) -> GaussianPart:
    """The part of these cases, without those that another one is worse than in both numbers."""
    worst: list[tuple[float, float]] = []
    for mu, q in sorted(cases, reverse=True):
        if not worst or q > worst[-1][1]:
            worst.append((mu, min(q, 1 - 1e-15)))
    return GaussianPart(mu=worst[0][0], delta=worst[-1][1], cases=tuple(worst))


def _mu(steps: float) -> float:
    """One over the continuous noise that discrete noise is as good as; what is none hides nothing."""
    return 1 / max(smoothed(steps), 1e-9) * UP


def _counts(epsilon: float, sigma: float, items: int) -> float:
    """D of the docstring on counts; below 0 by D(epsilon) <= D(0) + 1 - e^epsilon."""
    noise = count_noise_delta(max(epsilon, 0.0), sigma, items) if items else 0.0
    return noise - expm1(min(epsilon, 0.0))


def _stretches(items: int) -> Iterator[tuple[int, int]]:
    """Numbers of own items from 0 to ``items``, each alone as far as there are few; then as (fewest, most)."""
    yield 0, 0
    most = 0
    while most < items:
        fewest, most = most + 1, most + 1 if most < EXACT else min(items, floor((most + 1) * STRETCH))
        yield fewest, most


def smallest_whole(fits: Callable[[int], bool], near: int) -> int:
    """The smallest whole number that fits, where all above it do too."""
    step, high = 1, near
    while not fits(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while low > 0 and fits(low):
        high, low, step = low, low - step, 2 * step
    low = max(low, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _refuse_shown(taken: float, delta: float) -> None:
    if taken >= delta:
        raise ParameterError(
            f"the threshold alone gives delta = {taken:.3g}, at least {delta:g}",
            hint="raise the threshold or ask for a larger delta",
        )
