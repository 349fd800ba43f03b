"""How sure a learned profile is: intervals that hold the truth as often as they say, where lists follow the model.

Lists tell weights only up to a number that all topics share: where every topic weighs one more, the same results come
first. So a weight is told against the *typical topic*: the mean of those topics that cannot be told from each other,
each counted by how well it is known (two standard errors around the weighted median, at least half of all topics).
Where a service goes by few topics, the typical topic is one that it does not care about, and has weight 0.

Intervals come from the peak of the likelihood (`aidos.rooms.audit.curvature`), where no prior worth the name draws
strong weights towards 0. Its curvature gives one standard error; the spread of the slopes of single queries around the
same curvature gives another (Huber 1967), which counts where queries differ by more than the model knows. The larger
of the two is taken. Shares are taken on the logit, lambda on the logarithm, so that no interval leaves its limits.

p-values ask whether a weight is that of the typical topic. If it is, the topic sets nothing apart, whatever rate, mix
and concentration are: they are taken as known, which finds more where lists are noisy. How large a weight is depends on
them, in proportion to itself; intervals hold the weights that such a test would not refuse (Fieller 1954).

Drawing queries anew (the bootstrap) was tried and left: with the prior that learning needs, it repeats the pull towards
0 in every draw, and its intervals of 95 % held 25 to 90 % of true weights. A second audit's weight is *not* what an
interval holds: that one has an error of its own, and falls into the interval of the first in five of six cases.
Intervals say nothing about queries of another kind, nor about what all queries share, such as an engine that changed
between two fetches: for that there is a second vanilla fetch and `aidos.rooms.audit.verdict`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.curvature import MIX, RATE, STEADINESS, WIDE, find_peak
from aidos.rooms.audit.inference import LearnedProfile
from aidos.rooms.audit.numerics import expit, ndtr, ndtri

__all__ = ["Estimate", "Interval", "ProfileIntervals", "intervals_around", "typical_topic"]

Floats = NDArray[np.float64]

ALIKE = 2.0
"""Standard errors within which topics count as alike."""
TRIES = 20
LARGEST_SCALE = 0.8
"""How much of a weight may be open before its interval would have no end."""
FLATTEST = 1 / WIDE**2
"""The least curvature that counts: that of the prior."""
FLAT = 1e-12
"""Variances below this are rounding: nothing is left of a topic that is measured against itself."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number lies, at the stated confidence."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and the interval around it."""

    value: float
    around: Interval


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileIntervals:
    """What the likelihood says of everything that was learned."""

    confidence: float
    typical: Floats
    """What each topic counts in the typical topic; together 1, or nothing where there is one topic alone."""
    weights: Floats
    """Of the topics, against the typical one."""
    deviations: Floats
    """Standard errors of the weights."""
    low: Floats
    """Lower ends for the weights."""
    high: Floats
    """Upper ends."""
    p_values: Floats
    """How likely so large a weight is where it really is that of the typical topic."""
    rate: Estimate
    mix: Estimate
    concentration: Estimate
    converged: bool

    def beyond(self, noise: ProfileIntervals, times: float) -> ProfileIntervals:
        """The same with p-values of being more than what two lists without an account seem to show.

        ``times`` says how many more queries these weights come from. Noise that does not follow the model gives
        weights to topics that like to stand at the top; a second list without an account shows the same ones.
        """
        excess = _scores(self) - sqrt(times) * _scores(noise)
        return replace(self, p_values=2 * ndtr(-np.abs(excess) / sqrt(1 + times)))


def intervals_around(
    pairs: PairArrays, profile: LearnedProfile, *, fixed_laws: bool = False, confidence: float = 0.95
) -> ProfileIntervals:
    """Intervals for a profile learned from these pairs; ``fixed_laws`` where mix and concentration were given."""
    if not 0 < confidence < 1:
        raise ParameterError(f"the confidence must lie between 0 and 1, got {confidence}")
    peak = find_peak(pairs, profile, fixed_laws=fixed_laws)
    model, robust = _covariances(peak.curvature, peak.squares)
    laws_known = _covariances(peak.curvature[:MIX, :MIX], peak.squares[:MIX, :MIX])
    point, reach = peak.point[:MIX], -float(ndtri((1 - confidence) / 2))
    even = np.full(len(point), 1 / len(point))
    typical = typical_topic(point - point.mean(), _errors(model[:MIX, :MIX], even))
    deviations = np.maximum(*(_errors(each[:MIX, :MIX], typical) for each in (model, robust)))
    tested = np.maximum(*(_errors(each, typical) for each in laws_known))
    weights = point - typical @ point if len(point) > 1 else point.copy()
    low, high = _ends(weights, tested, deviations, reach)
    variances = np.maximum(np.diag(model), np.diag(robust))

    def told(where: int, back: np.ufunc) -> Estimate:
        far = reach * float(np.sqrt(variances[where])) if peak.free[where] else 0.0
        low, value, high = (float(back(peak.point[where] + move)) for move in (-far, 0.0, far))
        return Estimate(value=value, around=Interval(low, high))

    return ProfileIntervals(
        confidence=confidence,
        typical=typical,
        weights=weights,
        deviations=deviations,
        low=low,
        high=high,
        p_values=2 * ndtr(-np.divide(np.abs(weights), tested, out=np.zeros_like(weights), where=tested > 0)),
        rate=told(RATE, expit),
        mix=told(MIX, expit),
        concentration=told(STEADINESS, np.exp),
        converged=peak.converged,
    )


def _scores(around: ProfileIntervals) -> Floats:
    """How many standard errors a weight lies from that of the typical topic."""
    found: Floats = -np.sign(around.weights) * ndtri(np.maximum(around.p_values, 1e-300) / 2)
    return found


def _ends(weights: Floats, tested: Floats, deviations: Floats, reach: float) -> tuple[Floats, Floats]:
    """Which weights the test would not refuse (Fieller): what rate and mix leave open grows with the weight tried."""
    open_left = np.maximum(deviations**2 - tested**2, 0.0)
    scale = np.divide(open_left, weights**2, out=np.zeros_like(weights), where=np.abs(weights) > FLAT)
    scale = np.minimum(scale, LARGEST_SCALE / reach**2)
    left = 1 - reach**2 * scale
    far = reach * np.sqrt(tested**2 * left + weights**2 * scale)
    return (weights - far) / left, (weights + far) / left


def typical_topic(weights: Floats, errors: Floats) -> Floats:
    """What each topic counts in the typical one; nothing where there is one topic alone."""
    if len(weights) < 2:
        return np.zeros(len(weights))
    # A topic that is known well counts at most about twice as much as one that is known as well as most.
    counts = 1 / (errors**2 + max(float(np.median(errors)) ** 2, FLAT))
    order = np.argsort(weights, kind="stable")
    grown = np.cumsum(counts[order])
    centre = float(weights[order][np.searchsorted(grown, grown[-1] / 2)])
    least = max(2, (len(weights) + 1) // 2)
    shares: Floats = counts / counts.sum()
    for _ in range(TRIES):
        away = np.abs(weights - centre) / np.maximum(errors, FLAT)
        alike = away <= max(ALIKE, float(np.sort(away)[least - 1]))
        shares = np.where(alike, counts, 0.0) / counts[alike].sum()
        before, centre = centre, float(shares @ weights)
        if abs(centre - before) <= FLAT:
            break
    return shares


def _covariances(curvature: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """By the curvature, and by the slopes of queries; where no peak was reached, flat directions count as unknown."""
    values, directions = np.linalg.eigh(curvature)
    inverse = (directions / np.maximum(values, FLATTEST)) @ directions.T
    return inverse, inverse @ squares @ inverse


def _errors(covariance: Floats, typical: Floats) -> Floats:
    """Standard errors of weights against the typical topic; of one that nothing is known of, that of the prior."""
    with_typical = covariance @ typical
    found = np.diag(covariance) - 2 * with_typical + float(typical @ with_typical)
    return np.sqrt(np.where(found > FLAT, np.minimum(found, WIDE**2), 0.0))
