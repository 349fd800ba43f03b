"""What several releases from the same data cost together.

`compose` is basic: epsilons and deltas add up, each kind of guarantee staying as strong as its weakest part. It is
sound for releases that were fixed beforehand and for those chosen after looking at earlier ones.

`joint_delta` is exact where noise is Gaussian. A part is mu-Gaussian DP, except that with a chance q an item only one
person has passes its threshold and shows her. In one case (mu, q) of each part, mu^2 add up and 1 - q multiply, and
with H the hockey stick of N(0, 1) and N(mu, 1) (Balle and Wang 2018) delta(epsilon) is the larger of q + (1 - q)
H(epsilon - ln(1 - q)), seen from the data with the person, and H(epsilon + ln(1 - q)), seen from those without. The
worst person does not use both in full, since an item is either shared or her own: a part may name several cases, and
the worst sum of one case per part counts. Sums are thinned by rounding up, never down.

Other guarantees join through a bound: epsilon-DP is mu-Gaussian DP with Phi(mu/2) = e^epsilon / (1 + e^epsilon), since
the trade-off curve of the Gaussian is convex, passes the corner of the other and shares its ends. Parts whose
parameters were fixed beforehand compose to exactly this. Where they are chosen after looking at earlier parts, it holds
as long as a bound was set beforehand: exactly for parts of one case each (both mu^2 and -ln(1 - q) are clocks that the
choices only read off), at 2 delta for parts with several, which fit into a box of q <= delta and H <= delta.

Nothing here knows what was released before: that is the ledger's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, exp, expm1, fsum, inf, log1p, sqrt
from typing import assert_never

import numpy as np

from aidos.account.cost import cost
from aidos.account.gaussian import gaussian_delta, normal_tail_inverse
from aidos.core.guarantee import (
    ApproxDP,
    Guarantee,
    KAnonymity,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    ZeroConcentratedDP,
)
from aidos.errors import ParameterError

__all__ = [
    "GaussianPart",
    "compose",
    "joined",
    "joint_delta",
    "joint_epsilon",
    "part_of",
]

UP = 1 + 1e-14
CLOSENESS = 1e-12
"""More than a million changed coordinates of discrete noise differ from continuous noise (see `gaussian`)."""

MOST_CASES = 64
"""Sums of cases are thinned to so many."""
PRECISION = 1e-12
"""How far above the smallest epsilon, relatively, the one that is found may be."""

Case = tuple[float, float]
"""mu and q of one case; while they are added up, mu^2 and -ln(1 - q)."""

Promise = PureDP | ApproxDP | ProbabilisticDP | ZeroConcentratedDP


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPart:
    """As hard to tell apart as N(0, 1) and N(mu, 1), except with probability delta."""

    mu: float
    """Sensitivity over standard deviation, the largest of all cases."""
    delta: float = 0.0
    """Probability that a threshold lets a person's own item through, the largest of all cases."""
    cases: tuple[Case, ...] = ()
    """Pairs (mu, q), one of which everybody is in: few own items show, or little of a person is in the noise of others.

    Without any, there is the one case (mu, delta).
    """

    def __post_init__(self) -> None:
        if not (0 <= self.mu < inf and 0 <= self.delta < 1):
            raise ParameterError(f"a Gaussian part needs 0 <= mu < infinity and 0 <= delta < 1, got {self}")
        if not all(0 <= mu <= self.mu and 0 <= q <= self.delta for mu, q in self.cases):
            raise ParameterError(f"a case of a Gaussian part is outside its mu and delta: {self}")

    def scaled(self, factor: float) -> GaussianPart:
        """The part with more noise, or less, and the same chances to show."""
        cases = tuple((mu * factor, q) for mu, q in self.cases)
        return GaussianPart(mu=self.mu * factor, delta=self.delta, cases=cases)


def part_of(guarantee: Guarantee) -> GaussianPart:
    """The Gaussian part that bounds a guarantee of another kind."""
    match guarantee:
        case PureDP(epsilon=epsilon):
            return GaussianPart(mu=_mu(epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta) | ProbabilisticDP(epsilon=epsilon, delta=delta):
            return GaussianPart(mu=_mu(epsilon), delta=delta)
        case QualityFloor():
            return GaussianPart(mu=0.0)
        case ZeroConcentratedDP() | KAnonymity() | NoGuarantee():
            raise ParameterError(f"{type(guarantee).__name__} has no bound as a Gaussian part")
        case _:
            assert_never(guarantee)


def joined(parts: Sequence[GaussianPart]) -> GaussianPart:
    """Several parts as one: its cases are the worst sums of theirs."""
    cases = _composed_cases(parts)
    return GaussianPart(mu=max(mu for mu, _ in cases), delta=max(q for _, q in cases), cases=tuple(cases))


def joint_delta(epsilon: float, parts: Sequence[GaussianPart]) -> float:
    """Delta of all parts together at this epsilon, rounded up."""
    return _worst_delta(epsilon, _composed_cases(parts))


def joint_epsilon(delta: float, parts: Sequence[GaussianPart]) -> float:
    """The smallest epsilon of all parts together at this delta; infinite where thresholds alone use delta up."""
    epsilon = 0.0
    for case in _composed_cases(parts):
        if epsilon < inf and _worst_delta(epsilon, [case]) > delta:  # the worst case is that with the largest epsilon
            epsilon = _epsilon_of(case, delta, above=epsilon)
    return epsilon


def compose(guarantees: Sequence[Guarantee], *, delta: float = 0.0) -> Guarantee:
    """The guarantee of all releases together; ``delta`` is where zero-concentrated parts are converted among others.

    Guarantees of quality cost nothing and are left out. Where one part promises no privacy, nor does the whole.
    """
    if len(guarantees) == 1:
        return guarantees[0]
    for guarantee in guarantees:
        if isinstance(guarantee, NoGuarantee):
            return guarantee
        if isinstance(guarantee, KAnonymity):
            return NoGuarantee("one of the parts is only k-anonymous, and that does not compose")
    promises = [part for part in guarantees if isinstance(part, Promise)]
    if not promises:
        raise ParameterError("there is no guarantee of privacy to compose")
    if len({(part.unit, part.neighbours) for part in promises}) > 1:
        raise ParameterError("guarantees about different units or neighbours do not add up")
    return _sum(promises, delta)


def _sum(promises: Sequence[Promise], delta: float) -> Guarantee:
    unit, neighbours = promises[0].unit, promises[0].neighbours
    pure = [part for part in promises if isinstance(part, PureDP)]
    concentrated = [part for part in promises if isinstance(part, ZeroConcentratedDP)]
    probabilistic = [part for part in promises if isinstance(part, ProbabilisticDP)]
    if len(pure) == len(promises):
        return PureDP(epsilon=fsum(part.epsilon for part in pure), unit=unit, neighbours=neighbours)
    if len(pure) + len(concentrated) == len(promises):
        rho = fsum([*(part.rho for part in concentrated), *(part.epsilon**2 / 2 for part in pure)])
        return ZeroConcentratedDP(rho=rho, unit=unit, neighbours=neighbours)
    if concentrated and not delta > 0:
        raise ParameterError("zero-concentrated and other guarantees compose at a delta only", hint="give a delta")
    costs = [cost(part, delta) for part in promises]
    kind = ProbabilisticDP if len(pure) + len(probabilistic) == len(promises) else ApproxDP
    return kind(
        epsilon=fsum(epsilon for epsilon, _ in costs),
        delta=fsum(own for _, own in costs),
        unit=unit,
        neighbours=neighbours,
    )


def _mu(epsilon: float) -> float:
    return 2 * normal_tail_inverse(1 / (1 + exp(epsilon))) * UP if epsilon < 700 else inf


def _epsilon_of(case: Case, delta: float, *, above: float) -> float:
    low, high = above, above
    while _worst_delta(high, [case]) > delta:
        low, high = high, 2 * high or 1.0
        if high > 1e9:
            return inf
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _worst_delta(middle, [case]) <= delta else (middle, high)
    return high


def _worst_delta(epsilon: float, cases: Iterable[Case]) -> float:
    """Delta of the worst case, with what discrete noise may differ from continuous."""
    return min(1.0, max(_case_delta(epsilon - CLOSENESS, mu, q) for mu, q in cases) * (1 + CLOSENESS))


def _case_delta(epsilon: float, mu: float, q: float) -> float:
    hidden = log1p(-q)
    return max(q + (1 - q) * _hockey_stick(epsilon - hidden, mu), _hockey_stick(epsilon + hidden, mu))


def _hockey_stick(epsilon: float, mu: float) -> float:
    """H of the docstring, rounded up; below 0 by H(epsilon) <= H(0) + 1 - e^epsilon."""
    at = max(epsilon, 0.0)
    return (gaussian_delta(at, 1.0, max(mu, 1e-100)) if mu > 0 else 0.0) - expm1(min(epsilon, 0.0))


def _composed_cases(parts: Sequence[GaussianPart]) -> list[Case]:
    """The worst sums of one case per part, as pairs (mu, q) rounded up."""
    sums = [_worst_sums([(mu**2, -log1p(-q)) for mu, q in part.cases or ((part.mu, part.delta),)]) for part in parts]
    while len(sums) > 1:  # in pairs, so that few sums are thinned more than once
        halves = [_thinned(cases) for cases in sums]
        sums = [_worst_sums(*halves[at : at + 2]) for at in range(0, len(halves), 2)]
    rounded = UP ** (len(parts) + 2)
    worst = sums[0] if sums else [(0.0, 0.0)]
    return [(sqrt(mu2) * rounded, min(-expm1(-hazard) * rounded, 1.0 - 2.0**-53)) for mu2, hazard in worst]


def _worst_sums(first: Sequence[Case], second: Sequence[Case] = ((0.0, 0.0),)) -> list[Case]:
    """The sums of a case of each that no other exceeds in both: mu^2 falls, the hazard -ln(1 - q) rises."""
    sums = (np.array(first)[:, None] + np.array(second)[None]).reshape(-1, 2)
    order = np.lexsort((-sums[:, 1], -sums[:, 0]))
    hazards = sums[order, 1]
    reached = np.maximum.accumulate(np.concatenate(([-1.0], hazards[:-1])))
    return [(float(mu2), float(hazard)) for mu2, hazard in sums[order[hazards > reached]]]


def _thinned(front: list[Case]) -> list[Case]:
    """At most `MOST_CASES`: neighbours are merged into the largest mu^2 and the largest hazard of them."""
    if len(front) <= MOST_CASES:
        return front
    step = front[-1][1] / (MOST_CASES - 2)
    merged: dict[int, Case] = {}
    for mu2, hazard in front:
        slot = ceil(hazard / step)
        merged[slot] = (merged.get(slot, (mu2, 0.0))[0], hazard)
    return list(merged.values())
