"""One test for the profile as a whole: do the other half's lists move the way that one half's lists say?

A profile of several weak topics may hide from tests of single topics, of which each pays for all the others. So the
queries are halved at random. From one half a profile is learned; in the other, each query is one number: how far its
results rose, each weighed by what the profile thinks of it. Without a profile these numbers have no direction, whatever
was learned, since they come from other queries. Each half judges the other, and the smaller p-value is doubled.

What "no direction" means depends on where the noise comes from, as in `aidos.audit.verdict`: random signs of the
queries, which is exact with a second vanilla list, and without one lists drawn from f as well, the larger p-value of
the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays
from aidos.audit.baselines import shifts_by_query
from aidos.audit.inference import LearningSettings
from aidos.audit.learning import fit_concentration, learn_profile
from aidos.audit.sampling import draw_places

if TYPE_CHECKING:
    from collections.abc import Callable

    from aidos.audit.inference import LearnedProfile

__all__ = ["FEWEST", "direction_p_value"]

Floats = NDArray[np.float64]
FLIPS = 1999
FEWEST = 8
"""Queries below which halves say nothing."""
TINY = 1e-12
"""Sums that differ by rounding alone count as equal."""


def direction_p_value(
    pairs: PairArrays,
    control: PairArrays | None,
    generator: np.random.Generator,
    *,
    simulations: int = 199,
    learn: Callable[[PairArrays, LearningSettings], LearnedProfile] = learn_profile,
) -> float:
    """How likely halves agree so well without a profile, at most; 1 where there are too few queries."""
    if len(pairs) < FEWEST:
        return 1.0
    first = generator.permutation(len(pairs)) % 2 == 0
    found = []
    for tried in (first, ~first):
        known, others = pairs.take(~tried), pairs.take(tried)
        weights = learn(known, LearningSettings().narrowed_for(known)).weights
        if control is not None:
            shifts = shifts_by_query(others) - shifts_by_query(control.take(tried))
            found.append(_by_signs(shifts @ weights, generator))
        else:
            signs = _by_signs(shifts_by_query(others) @ weights, generator)
            found.append(max(signs, _by_simulation(others, weights, simulations, generator)))
    return min(1.0, 2 * min(found))


def _by_signs(moves: Floats, generator: np.random.Generator) -> float:
    """How often random signs of the queries give as large a sum."""
    signs = generator.integers(0, 2, (FLIPS, len(moves))) * 2.0 - 1
    reached = int((signs @ moves >= moves.sum() - TINY).sum())
    return (1 + reached) / (1 + FLIPS)


def _by_simulation(pairs: PairArrays, weights: Floats, simulations: int, generator: np.random.Generator) -> float:
    """How often lists drawn from f, at the lambda that fits, rise as far."""
    interests = pairs.maps.dot(weights)[pairs.items]
    utilities: Floats = -fit_concentration(pairs, np.ones(len(pairs))) * pairs.ranks.astype(np.float64)
    seen = float(interests @ (pairs.ranks - pairs.positions))
    reached = 0
    for _ in range(simulations):
        places = draw_places(pairs, utilities, generator)
        reached += float(interests[places] @ (pairs.ranks[places] - pairs.positions)) >= seen - TINY
    return (1 + reached) / (1 + simulations)
