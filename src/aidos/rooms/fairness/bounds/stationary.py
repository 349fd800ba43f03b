"""The least unfairness that any method can reach when the same queries are asked again and again.

Ask a query m times. Whatever the method, online or with hindsight, each ranking within the quality floor gives the
subjects attention: a point. The mean attention of m rankings lies in the convex hull of these points. Unfairness is m
times the L1 distance between the mean and the relevance, so it is at least m times the distance of the hull from the
relevance. This distance is the rate. For queries in turn the same holds after every whole cycle, with the mean of the
queries' hulls and the mean relevance. It is a bound for accounts that begin at zero and do not fade.

The hull has too many corners to list. Column generation keeps some rankings, finds their best mixture (`search`), and
asks the exact solver for the ranking that the mixture's prices y value most. Since attention and relevance both sum to
1, the distance is 2 sum_i max(r_i - a_i, 0), which is at least sum_i y_i (r_i - a_i) for all y between 0 and 2. So

    rate >= sum_i y_i r_i - max over rankings of sum_i y_i a_i

for *every* such y: each call of the solver proves a bound, and stopping early gives a lower one, not a wrong one.

With many different subjects the exact search for prices that follow relevance closely takes too long. Prices are then
constant on blocks of neighbours, finer where attention goes. The rate stays proven and is somewhat lower than the best
possible one; `best_found` shows by how much at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.rooms.fairness.bounds.search import Cycle, Search
from aidos.rooms.fairness.rankings import Floats, Ints

__all__ = ["StationaryBound", "stationary_bound_cycle"]

EXACT_CLASSES = 128
"""So many different subjects that can be shown get a price of their own each."""
FIRST_BLOCKS = 16
COARSE = 1e-3
"""Gap at which blocks are made finer; only the finest are solved to the tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StationaryBound:
    """What is proven, and what was found."""

    rate: float
    """Unfairness per ranking, at least, for every method."""
    best_found: float
    """Unfairness per ranking of the mixture below: the best rate lies between the two."""
    shares: Floats
    """Mean attention of each subject under the mixture, equal subjects shuffled."""
    rankings: tuple[Ints, ...]
    """The mixture: subject on each position, where equal subjects take turns."""
    queries: Ints
    """Which query each of these rankings answers."""
    probabilities: Floats
    """Share of each of these rankings among all; sums to 1."""
    columns: int
    """Rankings looked at."""
    iterations: int
    """Mixtures computed."""


def stationary_bound_cycle(  # noqa: PLR0913  # the setting and how long to search
    queries: Sequence[tuple[Floats, Floats]],
    attention: Floats,
    quality_floor: float,
    *,
    tolerance: float = 1e-6,
    blocks: int = 48,
    most_columns: int = 20_000,
    start: Sequence[Sequence[Ints]] = (),
) -> StationaryBound:
    """The bound for queries in turn, each (relevance, gains) over the same subjects; `start` per query."""
    search = Search(Cycle(queries, attention, quality_floor), most_columns)
    for query, rankings in enumerate(start):
        search.take(query, rankings)
    search.practise()
    classes = search.cycle.showable
    exact = classes <= EXACT_CLASSES or search.cycle.positions == 1
    edges = np.arange(classes + 1) if exact else np.unique(np.linspace(0, classes, FIRST_BLOCKS + 1).astype(np.int64))
    while True:
        last = exact or len(edges) > min(blocks, classes)
        mixed = search.tighten(edges, tolerance if last else max(tolerance, COARSE))
        if last or search.spent:
            break
        edges = search.finer(edges, mixed, blocks)
    return _result(search)


def _result(search: Search) -> StationaryBound:
    """The best mixture of all rankings met, subject by subject; equal subjects share what they get."""
    mixed = search.best_mixture()
    cycle, used = search.cycle, np.flatnonzero(mixed.probabilities > 0)
    rankings = [mixed.members[which] for which in used.tolist()]
    probabilities = mixed.probabilities[used] / mixed.probabilities[used].sum()
    received = np.zeros(len(cycle.sizes))
    for (_, ranking), share in zip(rankings, probabilities.tolist(), strict=True):
        np.add.at(received, cycle.classes[ranking], share * cycle.attention)
    shares = (received / cycle.sizes)[cycle.classes]
    found = float(np.abs(shares - cycle.relevance).sum())
    return StationaryBound(
        rate=min(search.rate, found),  # they may cross by rounding
        best_found=found,
        shares=shares,
        rankings=tuple(ranking for _, ranking in rankings),
        queries=np.array([query for query, _ in rankings], dtype=np.int64),
        probabilities=probabilities,
        columns=len(search.met),
        iterations=search.iterations,
    )
