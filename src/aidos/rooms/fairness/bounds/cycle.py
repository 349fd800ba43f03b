"""Queries that are asked in turn, over the same subjects: the setting of the stationary bound, checked.

Subjects that are equal in every query are one class: shuffling equals costs nothing, so that their mean attention may
be taken as equal. Subjects whom no ranking within the quality floor can show at all are known before any search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.rooms.fairness.rankings import Floats, Ints, discounts
from aidos.rooms.fairness.solver import cheapest

__all__ = ["Cycle", "check_queries"]

SLACK = 1e-9
"""How far below the floor a ranking is still taken as meeting it, and sums as being 1."""


class Cycle:
    """One or more queries with equal shares, positions with attention, a quality floor."""

    def __init__(self, queries: Sequence[tuple[Floats, Floats]], attention: Floats, quality_floor: float) -> None:
        check_queries(queries, attention, quality_floor)
        self.attention, self.quality_floor = np.asarray(attention, dtype=np.float64), quality_floor
        self.gains = [np.asarray(gains, dtype=np.float64) for _, gains in queries]
        self.orders: list[Ints] = [np.argsort(-gains, kind="stable") for gains in self.gains]
        self.relevance: Floats = np.mean([relevance for relevance, _ in queries], axis=0)
        """Of each subject, a mean over the queries."""
        self.classes = self._equal_subjects(queries)
        """Class of each subject, the most relevant first, those whom nothing can show last."""
        self.sizes = np.bincount(self.classes)
        self.showable = int(np.unique(self.classes[self._can_be_shown()]).size)
        """How many classes can be shown at all."""

    def __len__(self) -> int:
        return len(self.gains)

    @property
    def positions(self) -> int:
        """How many get attention."""
        return len(self.attention)

    def dearest(self, query: int, worth: Floats) -> Ints:
        """The ranking within the floor whose attention is worth most."""
        order = self.orders[query]
        return order[cheapest(-worth[order], self.gains[query][order], self.attention, self.quality_floor)]

    def meets_floor(self, query: int, ranking: Ints) -> bool:
        """Whether a ranking keeps enough quality."""
        weights, order = discounts(self.positions), self.orders[query]
        best = float(weights @ self.gains[query][order[: self.positions]])
        return float(weights @ self.gains[query][ranking]) >= (self.quality_floor - SLACK) * best

    def _can_be_shown(self) -> NDArray[np.bool_]:
        """Who has a place in some ranking: quality suffers least when a subject takes the last position."""
        able = np.zeros(len(self.relevance), dtype=np.bool_)
        weights = discounts(self.positions)
        for gains, order in zip(self.gains, self.orders, strict=True):
            first = gains[order[: self.positions]]
            best = float(weights @ first)
            with_last = best - weights[-1] * (first[-1] - gains)
            able |= with_last >= (self.quality_floor - SLACK) * best
            able[order[: self.positions]] = True
        return able

    def _equal_subjects(self, queries: Sequence[tuple[Floats, Floats]]) -> Ints:
        facts = np.column_stack([column for pair in queries for column in pair])
        _, example, label = np.unique(facts, axis=0, return_index=True, return_inverse=True)
        gains = np.mean(self.gains, axis=0)[example]
        order = np.lexsort((-gains, -self.relevance[example], ~self._can_be_shown()[example]))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place[label.ravel()]


def check_queries(queries: Sequence[tuple[Floats, Floats]], attention: Floats, quality_floor: float) -> None:
    """Raise unless every query speaks of the same subjects, amounts sum to 1 and the floor is a share."""
    if not queries:
        raise ParameterError("a bound needs at least one query")
    sizes = {len(values) for pair in queries for values in pair}
    if len(sizes) != 1:
        raise ParameterError("every query needs relevance and gains of the same subjects", hint="0 for who is missing")
    if not 0 < len(attention) <= min(sizes):
        raise ParameterError("there are more positions with attention than subjects, or none")
    for values in (attention, *(relevance for relevance, _ in queries)):
        if not (np.isfinite(values).all() and (values >= 0).all() and abs(values.sum() - 1) <= SLACK):
            raise ParameterError("attention and relevance are not negative and sum to 1", hint="normalise them")
    if not all(np.isfinite(gains).all() and (gains >= 0).all() for _, gains in queries):
        raise ParameterError("gains are finite and not negative")
    if not 0 <= quality_floor <= 1:
        raise ParameterError(f"the quality floor lies between 0 and 1, got {quality_floor!r}")
