"""What several releases from the same data cost together.

`compose` is basic: epsilons and deltas add up, each kind of guarantee staying as strong as its weakest part. It is
sound for releases that were fixed beforehand and for those chosen after looking at earlier ones.

`compose_gaussian` is tighter where noise is Gaussian. A part is mu-Gaussian DP except for a probability delta (that of
a threshold, say); parts compose to mu = sqrt(mu_1^2 + mu_2^2 + ...), deltas add up, and the exact Gaussian curve gives
epsilon. Other guarantees join through a bound: epsilon-DP is mu-Gaussian DP with Phi(mu/2) = e^epsilon / (1 +
e^epsilon), since the trade-off curve of the Gaussian is convex, passes the corner of the other and shares its ends.
Parts chosen one after the other compose alike as long as a bound on the sum of mu^2 was set beforehand (Smith and
Thakurta 2022).

Nothing here knows what was released before: that is the ledger's work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, inf, sqrt
from typing import assert_never

from aidos.account.cost import cost
from aidos.account.gaussian import gaussian_epsilon, normal_tail_inverse, smoothed
from aidos.core.guarantee import (
    PERSON,
    ApproxDP,
    Guarantee,
    KAnonymity,
    Neighbours,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    Unit,
    ZeroConcentratedDP,
)
from aidos.errors import ParameterError

__all__ = ["GaussianPart", "compose", "compose_gaussian", "discrete_gaussian_part", "part_of"]

UP = 1 + 1e-14
CLOSENESS = 1e-12
"""More than a million changed coordinates of discrete noise differ from continuous noise (see `gaussian`)."""

Promise = PureDP | ApproxDP | ProbabilisticDP | ZeroConcentratedDP


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPart:
    """As hard to tell apart as N(0, 1) and N(mu, 1), except with probability delta."""

    mu: float
    """Sensitivity over standard deviation."""
    delta: float = 0.0
    """Probability outside the Gaussian noise: that a threshold lets a person's own item through."""

    def __post_init__(self) -> None:
        if not (0 <= self.mu < inf and 0 <= self.delta < 1):
            raise ParameterError(f"a Gaussian part needs 0 <= mu < infinity and 0 <= delta < 1, got {self}")


def discrete_gaussian_part(*, sigma: float, sensitivity: float, delta: float = 0.0) -> GaussianPart:
    """The part that discrete Gaussian noise on integer vectors is, with l2-sensitivity in the units of sigma."""
    continuous = smoothed(sigma)
    if continuous == 0:
        raise ParameterError(f"sigma = {sigma} is too small for the composition of discrete noise", hint="ask for more")
    return GaussianPart(mu=sensitivity / continuous * UP, delta=delta)


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


def compose_gaussian(
    parts: Sequence[GaussianPart],
    delta: float,
    *,
    unit: Unit = PERSON,
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE,
) -> ApproxDP:
    """The smallest epsilon of all parts together at this delta."""
    mu = sqrt(fsum(part.mu**2 for part in parts)) * UP
    left = delta - fsum(part.delta for part in parts) * UP
    if not 0 < left < 1:
        raise ParameterError(f"the thresholds of the parts alone use up more than delta = {delta:g}")
    epsilon = gaussian_epsilon(left * (1 - CLOSENESS), 1.0, mu) + CLOSENESS if mu > 0 else 0.0
    return ApproxDP(epsilon=epsilon, delta=delta, unit=unit, neighbours=neighbours)


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
