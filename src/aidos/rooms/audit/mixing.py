"""Can anything be learned from these lists? Looked at before learning.

A profile shows where a list holds items of different topics, for only then can one be lifted over another. Lists of
one item and lists of one topic say nothing; neither do queries whose two lists are the same, if all are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.baselines import within_list_squares

__all__ = ["LIST_MIXING_LEAST", "Learnable", "look_before_learning", "some_of"]

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
