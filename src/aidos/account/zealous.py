"""ZEALOUS: calibration both ways (Götz et al. 2012), with the corrections its proofs need.

Neighbours: one person's history is replaced, so up to 2m counts change by one, m of them upwards. Items with at least
tau people get noise and are published above tau'. Symbols: m = items_per_person, lambda = scale, tau = first_threshold,
tau' = second_threshold, U = people, p = the chance that a single item just at tau is published.

- Probabilistic: lambda = 2m/epsilon; an output is bad if it shows an item whose count is tau or less. At most U m / tau
  items have count tau, so delta <= (U m / tau) p; items below tau are never shown.
- Indistinguishable (approximate DP), tau = 1: delta = 1 - (1-p)^m, which is attained by a person with m items of her
  own.
- Both need p <= 1 - e^(-1/lambda), so that not showing such an item is no stronger evidence than any other count.

The noise is discrete: P[X > t] = a^(t+1)/(1+a) <= a^t/2 with a = e^(-1/lambda), so the smallest sufficient integer tau'
is at most the paper's real number rounded up. `printed_second_threshold` is the paper's equation (3), which promises
more than it keeps; it is here to be refuted. `published_delta` is the looser form behind the paper's Table 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, log, log1p

from aidos.account.thresholds import SAFE, any_of, chance_of_one, check_request, noise_scale, smallest_beyond
from aidos.core.sampling import DiscreteLaplace
from aidos.errors import ParameterError

__all__ = [
    "ZealousCalibration",
    "discrete_indistinguishable_delta",
    "discrete_probabilistic_delta",
    "indistinguishable",
    "indistinguishable_delta",
    "printed_second_threshold",
    "probabilistic",
    "probabilistic_delta",
    "published_delta",
    "zealous_epsilon",
]


@dataclass(frozen=True, slots=True)
class ZealousCalibration:
    """Noise and the two thresholds: drop counts < first, add noise, publish noisy counts > second."""

    scale: float
    """lambda."""
    first_threshold: int
    """tau."""
    second_threshold: int
    """tau' for discrete noise: the smallest integer whose discrete tail keeps delta."""
    continuous_second_threshold: float
    """tau' of the paper's formula, a real number, for continuous noise."""


def probabilistic(
    epsilon: float, delta: float, items_per_person: int, people: int, first_threshold: int | None = None
) -> ZealousCalibration:
    """Thresholds for (epsilon, delta)-probabilistic DP; without a first threshold, the one that makes tau' smallest."""
    check_request(epsilon, delta, items_per_person)
    _check_people(people)
    scale = noise_scale(2 * items_per_person, epsilon)
    tau = ceil(2 * items_per_person / Fraction(epsilon)) if first_threshold is None else first_threshold
    if tau < 1:
        raise ParameterError(f"the first threshold must be at least 1, got {tau}")
    items = people * items_per_person / tau
    needed = max(-scale * log(-2 * expm1(-1 / scale)), -scale * log(2 * delta / items))
    allowed = min(delta / items * SAFE, _most_that_hides(scale))
    beyond = smallest_beyond(DiscreteLaplace(scale).tail, allowed, needed)
    return ZealousCalibration(scale, tau, tau + beyond, tau + needed)


def indistinguishable(epsilon: float, delta: float, items_per_person: int) -> ZealousCalibration:
    """Thresholds for (epsilon, delta)-indistinguishability with the tight delta; the first threshold is 1."""
    check_request(epsilon, delta, items_per_person)
    scale = noise_scale(2 * items_per_person, epsilon)
    allowed = min(chance_of_one(delta, items_per_person), _most_that_hides(scale))
    needed = max(scale * log(1 / (2 * -expm1(log1p(-delta) / items_per_person))), -scale * log(-2 * expm1(-1 / scale)))
    beyond = smallest_beyond(DiscreteLaplace(scale).tail, allowed, needed)
    return ZealousCalibration(scale, 1, 1 + beyond, 1 + needed)


def zealous_epsilon(scale: float, items_per_person: int) -> float:
    """Epsilon of both kinds from the noise: 2m / lambda."""
    _check_scale(scale)
    return 2 * items_per_person / scale


def probabilistic_delta(
    scale: float, first_threshold: int, second_threshold: float, items_per_person: int, people: int
) -> float:
    """Delta of the probabilistic kind for continuous noise; 1 where the thresholds are too close for any promise."""
    _check_scale(scale)
    chance = _continuous_tail(second_threshold - first_threshold, scale)
    return _promised(people * items_per_person / first_threshold * chance, chance, scale)


def indistinguishable_delta(scale: float, second_threshold: float, items_per_person: int) -> float:
    """The tight delta' for continuous noise and tau = 1: 1 - (1-p)^m."""
    _check_scale(scale)
    chance = _continuous_tail(second_threshold - 1, scale)
    return _promised(any_of(chance, items_per_person), chance, scale)


def published_delta(scale: float, second_threshold: float, items_per_person: int) -> float:
    """Delta' as in the paper's Table 1, (m/2) e^(-(tau' - m)/lambda): safe, and looser than the tight one."""
    _check_scale(scale)
    return min(1.0, items_per_person / 2 * exp(-(second_threshold - items_per_person) / scale))


def printed_second_threshold(epsilon: float, delta: float, items_per_person: int) -> float:
    """Equation (3) as printed: right only for noise m/epsilon, it breaks its promise with the noise 2m/epsilon."""
    check_request(epsilon, delta, items_per_person)
    return items_per_person * (1 - log(2 * delta / items_per_person) / epsilon)


def discrete_probabilistic_delta(
    scale: float, first_threshold: int, second_threshold: int, items_per_person: int, people: int
) -> float:
    """Delta of the probabilistic kind that discrete noise earns, rounded up."""
    _check_people(people)
    chance = DiscreteLaplace(scale).tail(second_threshold - first_threshold)
    return _promised(people * items_per_person / first_threshold * chance / SAFE, chance, scale)


def discrete_indistinguishable_delta(scale: float, second_threshold: int, items_per_person: int) -> float:
    """The tight delta' that discrete noise earns with tau = 1, rounded up."""
    chance = DiscreteLaplace(scale).tail(second_threshold - 1)
    return _promised(any_of(chance, items_per_person), chance, scale)


def _promised(delta: float, chance: float, scale: float) -> float:
    """The delta, or 1 where showing an item just at the threshold is too likely for epsilon to hold."""
    return min(1.0, delta) if chance <= -expm1(-1 / scale) else 1.0


def _most_that_hides(scale: float) -> float:
    return -expm1(-1 / scale) * SAFE


def _continuous_tail(beyond: float, scale: float) -> float:
    return exp(-beyond / scale) / 2 if beyond >= 0 else 1 - exp(beyond / scale) / 2


def _check_scale(scale: float) -> None:
    if not 0 < scale < float("inf"):
        raise ParameterError(f"the noise scale must be finite and greater than 0, got {scale}")


def _check_people(people: int) -> None:
    if people < 1:
        raise ParameterError(f"the number of people must be at least 1, got {people}")
