"""Noise and thresholds of several rounds, each of which may depend on what those before it gave.

Steering, in two rounds. Round one adds Gaussian noise to weights of length 1 over all items there could be. An item
whose noisy weight is at least `CANDIDATE` standard deviations of that noise is a *candidate*; round two looks at
candidates alone. So of the items that only one person has, few reach round two: each with a chance p, the tail of the
first noise.

Why one Gaussian part describes both rounds. Let a person be added; S are the items that others have, K those that only
she has. On S both rounds are Gaussian mechanisms: what round two does with anybody's items depends on that person's own
items and on the noisy weights of round one, so the added person moves its numbers by at most its sensitivity, and mu^2
of the rounds add up. On K nothing is published without her. With her, let c be the number of items of K that become
candidates. It depends on the first noise on K alone, so it is independent of everything on S, and binomial at worst: k
items of weight at most 1/sqrt(k). Given c, an item of K shows in round two with a chance of at most q(c). Let q be the
mean of q(c). Now tell the observer c as well, if nothing showed: drawn as it is then distributed, also without her,
where it means nothing. Then whatever does not show is (1-q) times as likely as two Gaussians of length mu make it, and
what shows is impossible without her: the pair of `composition`, N(mu) and a chance q, exactly. What round one itself
publishes adds its own chance, and being candidate or not is only less likely among items that round one left.

The chance p, thresholds and q are upper bounds for discrete noise in steps of ``unit``. Delta is divided: `NOISE` of it
for the noise, the rest for q. (A person can look at the first round before "deciding" where her weight goes, so here
the two may nearly add up: the joint delta of one-round mechanisms has little to offer.)

`FIRST_SHARE`, `CANDIDATE` and `NOISE` were chosen on seven synthetic tables with Zipf laws of exponents 0.5 to 1.2, not
on data on which results are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, hypot, lgamma, log, log1p, log2, sqrt

import numpy as np
import numpy.typing as npt

from aidos.account.composition import GaussianPart, joined, joint_delta
from aidos.account.gaussian import gaussian_sigma, normal_tail_inverse, smoothed
from aidos.account.jointdelta import UP, beyond, smallest_whole
from aidos.account.thresholds import Calibration, any_of, chance_of_one, check_request
from aidos.errors import ParameterError

__all__ = ["Steering", "steered_counts", "steered_weights", "weighted_rounds"]

NOISE = 0.7
"""Of delta, for the noise of both rounds; the rest is for thresholds."""
CANDIDATE = 1.8
"""Standard deviations of the first noise that make an item a candidate."""
FIRST_SHARE_OF_COUNTS = 0.25
FIRST_SHARE_OF_WEIGHTS = 0.35
"""Of mu^2, for the first round."""
FIRST_CHANCE = 0.05
"""Of what thresholds may use up, for items that round one publishes."""
STEPS = 11
"""Binary digits of the noise: 2,048 to 4,096 steps to a standard deviation. Fewer would round weights down by more than
a hundredth where people have a hundred items, more would take a second to tabulate."""

Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Steering:
    """Two rounds: candidates of the first are looked at in the second, and published above its threshold."""

    first: Calibration
    """Noise on weights; the threshold above which the first round publishes (infinite where it does not)."""
    candidate: float
    """The least noisy weight of a candidate; a whole number of units."""
    second: Calibration
    """Noise on weights or on counts, and the threshold."""
    shown: float
    """The chance that an item of one person alone shows, in both rounds together."""
    sensitivity: float
    """By how much one person moves the numbers of the second round."""

    def part(self) -> GaussianPart:
        """Both rounds as one part of a composition."""
        return GaussianPart(mu=hypot(_mu(self.first), self.sensitivity * _mu(self.second)) * UP, delta=self.shown)


@lru_cache(maxsize=256)
def steered_counts(epsilon: float, delta: float, items_per_person: int, items_seen: int) -> Steering:
    """Round one publishes nothing; round two counts people, who keep at most so many candidates each."""
    check_request(epsilon, delta, items_per_person)
    first, candidate = _first_round(epsilon, delta, FIRST_SHARE_OF_COUNTS)
    sigma = sqrt(items_per_person * _variance(epsilon, delta, 1 - FIRST_SHARE_OF_COUNTS) + 2.25) * UP
    own = _candidates(first, candidate, items_seen, items_per_person)

    def shown(threshold: int) -> float:
        chance = beyond(sigma, threshold - 1)
        return _mean(own, np.array([any_of(chance, c) for c in range(items_per_person + 1)]))

    allowed = delta * (1 - NOISE)
    threshold = smallest_whole(lambda limit: shown(limit) <= allowed, ceil(sigma * normal_tail_inverse(allowed)))
    second = Calibration(sigma, float(threshold))
    return _proven(Steering(first, candidate, second, shown(threshold), sqrt(items_per_person)), epsilon, delta)


@lru_cache(maxsize=256)
def steered_weights(epsilon: float, delta: float, items_per_person: int, items_seen: int) -> Steering:
    """Both rounds publish; in round two each person spreads a length of 1 evenly over at most so many candidates."""
    check_request(epsilon, delta, items_per_person)
    allowed, left = delta * (1 - NOISE) * FIRST_CHANCE, delta * (1 - NOISE) * (1 - FIRST_CHANCE)
    first, candidate = _first_round(epsilon, delta, FIRST_SHARE_OF_WEIGHTS)
    first = _with_threshold(first, allowed, items_seen)
    second = _noise_on_weights(_variance(epsilon, delta, 1 - FIRST_SHARE_OF_WEIGHTS))
    steps, own = second.scale / second.unit, _candidates(first, candidate, items_seen, items_per_person)

    def shown(threshold: int) -> float:
        chances = [0.0]
        for c in range(1, items_per_person + 1):
            chances.append(max(chances[-1], any_of(beyond(steps, threshold - _weight(second, c)), c)))
        return _mean(own, np.array(chances))

    threshold = smallest_whole(lambda limit: shown(limit) <= left, ceil(steps * normal_tail_inverse(left)))
    second = Calibration(second.scale, threshold * second.unit, second.unit)
    return _proven(Steering(first, candidate, second, allowed + shown(threshold), 1.0), epsilon, delta)


def weighted_rounds(
    epsilon: float, delta: float, items_per_person: int, shares: Sequence[float]
) -> tuple[tuple[Calibration, ...], GaussianPart]:
    """Rounds on weights, each with a share of mu^2 and of what thresholds may use up; and all of them as one part.

    A round's worst mu and worst chance count together: who is in which case may depend on earlier rounds.
    """
    check_request(epsilon, delta, items_per_person)
    half = delta / 2
    variance = gaussian_sigma(epsilon * (1 - 1e-9), half, 1.0) ** 2
    found = [_noise_on_weights(variance / share) for share in shares]
    found = [_with_threshold(one, half * share, items_per_person) for one, share in zip(found, shares, strict=True)]
    whole = joined([GaussianPart(mu=_mu(one), delta=half * share) for one, share in zip(found, shares, strict=True)])
    _refuse_unproven(whole, epsilon, delta)
    return tuple(found), whole


def _noise_on_weights(variance: float) -> Calibration:
    """Discrete noise in small steps that is as good as continuous noise of this variance; no threshold yet."""
    unit = 2.0 ** (floor(log2(variance) / 2) - STEPS)
    return Calibration(sqrt(variance / unit**2 + 2.25) * UP * unit, float("inf"), unit)


def _with_threshold(noise: Calibration, allowed: float, items: int) -> Calibration:
    """With the smallest threshold that lets own items, k of weight 1/sqrt(k), through with at most this chance."""
    steps = noise.scale / noise.unit

    def beyond_by(k: int) -> int:
        chance = chance_of_one(allowed, k)
        return smallest_whole(lambda t: beyond(steps, t) <= chance, ceil(steps * normal_tail_inverse(chance)))

    limit = max(_weight(noise, k) + beyond_by(k) for k in range(1, items + 1))
    return Calibration(noise.scale, limit * noise.unit, noise.unit)


def _first_round(epsilon: float, delta: float, share: float) -> tuple[Calibration, float]:
    first = _noise_on_weights(_variance(epsilon, delta, share))
    return first, ceil(CANDIDATE * first.scale / first.unit) * first.unit


def _variance(epsilon: float, delta: float, share: float) -> float:
    """Of continuous noise at sensitivity 1, for a share of mu^2."""
    return gaussian_sigma(epsilon * (1 - 1e-9), delta * NOISE, 1.0) ** 2 / share


def _weight(calibrated: Calibration, items: int) -> int:
    """The weight of each of so many items, in units."""
    return floor(1 / (sqrt(items) * calibrated.unit))


def _mu(calibrated: Calibration) -> float:
    """One person's length over the noise, where that length is 1."""
    return 1 / (smoothed(calibrated.scale / calibrated.unit) * calibrated.unit) * UP


def _candidates(first: Calibration, candidate: float, items_seen: int, kept: int) -> Chances:
    """For k own items (rows), the chance that c of them are candidates (columns; the last one: that many or more)."""
    steps, limit = first.scale / first.unit, floor(candidate / first.unit)
    table = np.zeros((items_seen, kept + 1))
    for k in range(1, items_seen + 1):
        p = beyond(steps, limit - _weight(first, k) - 1)
        if p >= 1:
            table[k - 1, min(k, kept)] = 1.0
            continue
        for c in range(k + 1):
            chance = lgamma(k + 1) - lgamma(c + 1) - lgamma(k - c + 1) + c * log(p) + (k - c) * log1p(-p)
            table[k - 1, min(c, kept)] += exp(chance)
    return table


def _mean(own: Chances, shown: Chances) -> float:
    """The largest mean chance over all numbers of own items, rounded up."""
    return float((own @ shown).max()) * (1 + 1e-9)


def _proven(found: Steering, epsilon: float, delta: float) -> Steering:
    _refuse_unproven(found.part(), epsilon, delta)
    return found


def _refuse_unproven(part: GaussianPart, epsilon: float, delta: float) -> None:
    if joint_delta(epsilon, [part]) > delta:
        raise ParameterError(
            f"no noise in several rounds was found for epsilon = {epsilon:g}, delta = {delta:g}",
            hint="ask for a smaller epsilon, or use a mechanism of one round",
        )
