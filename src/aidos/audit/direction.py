"""One test for the profile as a whole: whether one half of the lists moves the way that the other half says.

A profile of several weak topics may hide from tests of single topics, of which each pays for all the others. So the
queries are halved at random. One half gives each topic a weight, its mean shift over the root of its mean square; in
the other half each query is one number, its shifts weighed by these. Without a profile these numbers have no direction,
whatever the weights, since they come from other queries. Each half judges the other, and the smaller p-value is
doubled. (Weights of the whole model find hardly more, and cost a hundred times as much.)

What "no direction" means depends on where the noise comes from, as in `aidos.audit.verdict`: random signs of the
queries, which is exact with a second vanilla list, and without one lists drawn from f as well, the larger p-value of
the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays
from aidos.audit.baselines import shifts_by_query
from aidos.audit.learning import fit_concentration
from aidos.audit.sampling import draw_places

__all__ = ["FEWEST", "direction_p_value"]

Floats = NDArray[np.float64]
FLIPS = 1999
FEWEST = 8
"""Queries below which halves say nothing."""
TINY = 1e-12
"""Sums that differ by rounding alone count as equal."""


def direction_p_value(
    pairs: PairArrays, control: PairArrays | None, generator: np.random.Generator, *, simulations: int = 199
) -> float:
    """How likely halves agree so well without a profile, at most; 1 where there are too few queries."""
    if len(pairs) < FEWEST:
        return 1.0
    shifts = shifts_by_query(pairs)
    if control is not None:
        shifts -= shifts_by_query(control)
    first = generator.permutation(len(pairs)) % 2 == 0
    found = []
    for tried in (first, ~first):
        weights = _direction(shifts[~tried])
        p_value = _by_signs(shifts[tried] @ weights, generator)
        if control is None:
            p_value = max(p_value, _by_simulation(pairs.take(tried), weights, simulations, generator))
        found.append(p_value)
    return min(1.0, 2 * min(found))


def _direction(shifts: Floats) -> Floats:
    """A weight for each topic; 0 where it never moved."""
    lengths = np.sqrt((shifts**2).mean(axis=0))
    found: Floats = np.divide(shifts.mean(axis=0), lengths, out=np.zeros_like(lengths), where=lengths > TINY)
    return found


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
