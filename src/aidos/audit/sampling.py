"""Lists drawn from the model itself: to see whether the learner finds what was put in, and what no profile looks like.

A draw from Plackett-Luce is the order by utility plus independent Gumbel noise. Data drawn here satisfy every
assumption that the model makes; a real engine does not, so what is measured on them is a best case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays, TopicMaps
from aidos.audit.kernels import draw_orders
from aidos.core.checks import check_parameters

__all__ = ["HiddenProfile", "SampledAudit", "draw_places", "sample_audit"]

Floats = NDArray[np.float64]


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
