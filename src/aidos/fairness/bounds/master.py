"""The master program of column generation: the best mixture of the rankings met so far.

Each row is a block of subjects: attention received plus what is missing must reach the block's relevance. What is
missing counts twice, once for those who lack it and once for those who have it instead. The program is kept open in
HiGHS, so that a few new rankings cost a few steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.errors import EngineError
from aidos.fairness.linear import open_solver
from aidos.fairness.rankings import Floats, Ints

__all__ = ["Master", "Mixed"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixed:
    """The best mixture."""

    value: float
    """Unfairness between blocks, per ranking."""
    worth: Floats
    """What a unit of attention to each block is worth (dual prices), between 0 and 2."""
    members: list[tuple[int, Ints]]
    """The rankings, each with its query."""
    probabilities: Floats
    """Share of each ranking among all."""


class Master:
    """A linear program that grows by rankings."""

    def __init__(self, block: Ints, relevance: Floats, attention: Floats, queries: int) -> None:
        """Block and relevance of each subject, attention of the positions, number of queries with equal shares."""
        self._block, self._attention = block, attention
        self._known: set[tuple[int, bytes, bytes]] = set()
        self._members: list[tuple[int, Ints]] = []
        totals = np.bincount(block, weights=relevance)
        self._blocks, self._solver = len(totals), open_solver()
        for least, most in [*((total, np.inf) for total in totals.tolist()), *[(1 / queries, 1 / queries)] * queries]:
            self._solver.addRow(least, most, 0, np.zeros(0, dtype=np.int32), np.zeros(0))
        for missing in range(self._blocks):
            self._add_column(2.0, np.array([missing]), np.ones(1))

    def add(self, query: int, ranking: Ints) -> bool:
        """One ranking; False when there is one already that gives the blocks the same."""
        touched, place = np.unique(self._block[ranking], return_inverse=True)
        amounts = np.bincount(place, weights=self._attention)
        key = (query, touched.tobytes(), amounts.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        self._members.append((query, ranking))
        self._add_column(0.0, np.append(touched, self._blocks + query), np.append(amounts, 1.0))
        return True

    def solve(self) -> Mixed:
        """The best mixture of what was added."""
        self._solver.run()
        if (status := self._solver.getModelStatus()) != type(status).kOptimal:
            raise EngineError(f"HiGHS found no optimum: {self._solver.modelStatusToString(status).lower()}")
        found = self._solver.getSolution()
        return Mixed(
            value=self._solver.getInfo().objective_function_value,
            worth=np.clip(np.asarray(found.row_dual)[: self._blocks], 0.0, 2.0),
            members=list(self._members),
            probabilities=np.maximum(np.asarray(found.col_value)[self._blocks :], 0.0),
        )

    def _add_column(self, cost: float, rows: Ints, values: Floats) -> None:
        self._solver.addCol(cost, 0.0, np.inf, len(rows), rows.astype(np.int32), values)
