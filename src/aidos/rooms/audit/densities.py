"""The law of the lists: densities of one given the other, with gradients, for all queries at once; and draws from it.

Both laws of the paper are Plackett-Luce, for the i in their exponents cancels:

    ln f(pi|sigma): utility -lambda rank_sigma(d)                                  the engine did not personalise
    ln g(pi|sigma): utility gamma eta.theta_d - (1-gamma) rank_sigma(d)            it did

For eta ~ N(m, s^2 I) the mean of ln g has no closed form. With a_d the utility at m and b_d = a_d + gamma^2 s^2
|theta_d|^2 / 2, Jensen's inequality and the moment of a Gaussian give

    E[ln g] >= sum_i (a_{pi_i} - ln sum_{j>=i} exp b_{pi_j}),

concave in m and concave in gamma; at s = 0 it is ln g itself. All derivatives come from the same two scans.

Lists are drawn from the model to see whether the learner finds what was put in, and what no profile looks like. A draw
from Plackett-Luce is the order by utility plus independent Gumbel noise. Data drawn here satisfy every assumption that
the model makes; a real engine does not, so what is measured on them is a best case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.kernels import draw_orders, stages

__all__ = [
    "HiddenProfile",
    "SampledAudit",
    "Scored",
    "draw_places",
    "evaluate_stages",
    "log_mean_personalised",
    "log_vanilla",
    "pull_of_weights",
    "sample_audit",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """A logarithm for each query, and what its derivatives are made of."""

    values: Floats
    """One logarithm for each query."""
    slopes: Floats
    """For each query the derivative by the scalar: lambda for f, gamma for g."""
    pushes: Floats
    """For each place the derivative by the utility of its item."""


def evaluate_stages(pairs: PairArrays, firm: Floats, soft: Floats) -> tuple[Floats, Floats]:
    """The value of each query for given a and b of each place, and for each place minus the derivative by b."""
    values, pulls = np.empty(len(pairs)), np.empty(len(pairs.items))
    stages(pairs.starts, firm, soft, values, pulls)
    return values, pulls


def log_vanilla(pairs: PairArrays, concentration: float) -> Scored:
    """The logarithm of f for each query, for lambda ``concentration``."""
    utilities: Floats = -concentration * pairs.ranks.astype(np.float64)
    values, pulls = evaluate_stages(pairs, utilities, utilities)
    pushes = 1 - pulls
    return Scored(values=values, slopes=pairs.sum_by_query(-pairs.ranks * pushes), pushes=pushes)


def log_mean_personalised(pairs: PairArrays, interests: Floats, mix: float, spread: float) -> Scored:
    """The bound on E[ln g] of each query, for m.theta_d of each item, gamma ``mix`` and s ``spread``."""
    scores = interests[pairs.items]
    lift = spread**2 * pairs.maps.squares[pairs.items]
    firm = mix * scores - (1 - mix) * pairs.ranks
    values, pulls = evaluate_stages(pairs, firm, firm + mix**2 / 2 * lift)
    change = scores + pairs.ranks
    slopes = pairs.sum_by_query(change * (1 - pulls) - mix * lift * pulls)
    return Scored(values=values, slopes=slopes, pushes=1 - pulls)


def pull_of_weights(pairs: PairArrays, pushes: Floats, mix: float, query_weights: Floats) -> Floats:
    """The gradient by m of the weighted sum of E[ln g] over queries."""
    return pairs.maps.add(pairs.sum_by_item(mix * query_weights[pairs.query_of] * pushes))


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenProfile:
    """What an engine that follows the model would do."""

    topics: Annotated[int, Ge(1)] = 50
    favoured: Annotated[int, Ge(0)] = 5
    """How many topics have a weight; the others have none."""
    weight: Annotated[float, Gt(0)] = 6.0
    """eta of a favoured topic, give or take a third."""
    rate: Annotated[float, Ge(0), Le(1)] = 0.5
    """phi: the share of queries that are personalised."""
    mix: Annotated[float, Ge(0), Le(1)] = 0.8
    """gamma."""
    concentration: Annotated[float, Gt(0)] = 2.0
    """lambda."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledAudit:
    """Pairs, and the truth behind them."""

    pairs: PairArrays
    weights: Floats
    switches: NDArray[np.bool_]


def draw_places(pairs: PairArrays, utilities: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    """Places of every list in an order drawn from Plackett-Luce with these utilities."""
    found = np.empty(len(pairs.items), dtype=np.int64)
    draw_orders(pairs.starts, utilities + generator.gumbel(size=len(utilities)), found)
    return found


def sample_audit(
    profile: HiddenProfile, generator: np.random.Generator, *, queries: int = 500, length: int = 10
) -> SampledAudit:
    """Lists of new items about a few topics each, and what the engine makes of them."""
    maps = TopicMaps.from_dense(generator.dirichlet(np.full(profile.topics, 0.05), queries * length))
    weights = np.zeros(profile.topics)
    chosen = generator.choice(profile.topics, min(profile.favoured, profile.topics), replace=False)
    weights[chosen] = profile.weight * generator.uniform(2 / 3, 4 / 3, len(chosen))
    vanilla = PairArrays(
        starts=np.arange(queries + 1, dtype=np.int64) * length,
        items=np.arange(queries * length),
        ranks=np.tile(np.arange(1, length + 1), queries),
        maps=maps,
    )
    switches = generator.random(queries) < profile.rate
    lifted = profile.mix * maps.dot(weights) - (1 - profile.mix) * vanilla.ranks
    utilities = np.where(switches[vanilla.query_of], lifted, -profile.concentration * vanilla.ranks)
    places = draw_places(vanilla, utilities, generator)
    pairs = PairArrays(starts=vanilla.starts, items=vanilla.items[places], ranks=vanilla.ranks[places], maps=maps)
    return SampledAudit(pairs=pairs, weights=weights, switches=switches)
