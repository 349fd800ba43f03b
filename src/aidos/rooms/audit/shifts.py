"""How far results of each topic rose, and whether anything can be learned from these lists at all.

Rank shift of topic k is the sum over queries and items of (vanilla rank - personalised rank) (theta_dk - mean of the
list): how far items of the topic rose. Since the shifts of a list sum to 0, the mean of the list drops out. On data
where most lists are personalised it is nearly as good as LTP, and it costs one pass.

A profile shows where a list holds items of different topics, for only then can one be lifted over another. Lists of
one item and lists of one topic say nothing; neither do queries whose two lists are the same, if all are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.kernels import topic_shifts

__all__ = [
    "LIST_MIXING_LEAST",
    "Learnable",
    "look_before_learning",
    "rank_shift",
    "shifts_by_query",
    "some_of",
    "within_list_squares",
]

Floats = NDArray[np.float64]


def shifts_by_query(pairs: PairArrays) -> Floats:
    """How far items of each topic rose in each query: queries by topics."""
    found = np.empty((len(pairs), pairs.topic_count))
    moves = (pairs.ranks - pairs.positions).astype(np.float64)
    maps = pairs.maps
    topic_shifts(pairs.starts, pairs.items, moves, maps.starts, maps.topics, maps.shares, found)
    return found


def within_list_squares(pairs: PairArrays) -> Floats:
    """Sum over queries and items of (theta_dk - mean of the list)^2, for each topic."""
    maps, ones = pairs.maps, np.ones(len(pairs.items))
    totals = np.empty((len(pairs), pairs.topic_count))
    topic_shifts(pairs.starts, pairs.items, ones, maps.starts, maps.topics, maps.shares, totals)
    squares = np.bincount(
        maps.topics,
        weights=np.repeat(np.bincount(pairs.items, minlength=len(maps)), np.diff(maps.starts)) * maps.shares**2.0,
        minlength=pairs.topic_count,
    )
    found: Floats = squares - (totals**2 / np.maximum(pairs.lengths, 1)[:, None]).sum(axis=0)
    return np.maximum(found, 0.0)


def rank_shift(pairs: PairArrays) -> Floats:
    """Rank shift of each topic over the root of its variation within lists; 0 where it has none."""
    variation = np.sqrt(within_list_squares(pairs))
    shifts: Floats = shifts_by_query(pairs).sum(axis=0)
    return np.divide(shifts, variation, out=np.zeros_like(shifts), where=variation > 1e-9)


LIST_MIXING_LEAST = 0.05
"""Below this share of topic variation within lists the tool warns: the surrogate engine stays unread below 0.02."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnable:
    """What the lists offer to a learner."""

    queries: int
    topics: int
    single: int
    """Queries with fewer than two results."""
    changed: int
    """Queries whose two lists differ."""
    mixing: float
    """The share of the variation of topic maps that lies within lists rather than between them, 0 to 1."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to tell before learning, in sentences; empty where all is well."""
        found = []
        if self.single:
            found.append(f"{some_of(self.single, self.queries)} fewer than two results to put in order")
        if not self.changed:
            found.append("the two lists of every query are the same, so there is no profile to learn")
        if self.mixing < LIST_MIXING_LEAST:
            found.append(
                f"result lists hardly mix topics ({self.mixing:.0%} of the variation lies within lists), "
                "so a profile can hardly show: ask queries whose results are about different topics"
            )
        if self.queries < self.topics:
            asked = "1 query is" if self.queries == 1 else f"{self.queries:,} queries are"
            found.append(
                f"{asked} fewer than {self.topics:,} topics, so weights are drawn closer to 0: "
                "collect more queries or use fewer topics"
            )
        return tuple(found)


def some_of(some: int, queries: int) -> str:
    """The beginning of a sentence: so many of these queries have something."""
    return f"{some:,} of {queries:,} {'query' if queries == 1 else 'queries'} {'has' if some == 1 else 'have'}"


def look_before_learning(pairs: PairArrays) -> Learnable:
    """Count what could be learned from."""
    within = float(within_list_squares(pairs).sum())
    squares = float(pairs.maps.squares[pairs.items].sum())
    means = pairs.maps.add(pairs.sum_by_item(np.ones(len(pairs.items))))
    overall = squares - float(means @ means) / max(len(pairs.items), 1)
    return Learnable(
        queries=len(pairs),
        topics=pairs.topic_count,
        single=int((pairs.lengths < 2).sum()),
        changed=int(pairs.changed.sum()),
        mixing=min(within / overall, 1.0) if overall > 1e-9 else 0.0,
    )
