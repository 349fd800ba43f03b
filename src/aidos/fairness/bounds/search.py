"""Column generation for the stationary bound: rankings met so far, the best bound proven so far.

Prices that jump from one mixture to the next make the bound creep. Rankings are therefore asked for at prices between
the new ones and the best known; every answer proves a bound all the same (see `stationary`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aidos.errors import ParameterError
from aidos.fairness.bounds.cycle import Cycle
from aidos.fairness.bounds.master import Master, Mixed
from aidos.fairness.rankings import Ints

__all__ = ["Search"]

CAUTION = 0.6
"""Weight of the best prices known against the new ones."""
MOST_PRACTICE = 2000
"""Rankings of a simple controller that the search starts from, at most."""
LEVELS = 8
"""What the controller tells apart between nothing owed and a whole ranking's attention; the fewer, the faster."""


class Search:
    """Meets rankings one by one; a limit on their number ends it early."""

    def __init__(self, cycle: Cycle, most_columns: int) -> None:
        self.cycle, self.most_columns = cycle, most_columns
        self.rate, self.iterations = 0.0, 0
        self.met: dict[tuple[int, bytes], tuple[int, Ints]] = {}
        for query, order in enumerate(cycle.orders):
            self._meet(query, order[: cycle.positions])

    @property
    def spent(self) -> bool:
        """Whether as many rankings were met as are allowed."""
        return len(self.met) >= self.most_columns

    def take(self, query: int, rankings: Sequence[Ints]) -> None:
        """Start from rankings that somebody served."""
        for ranking in rankings:
            placed = np.asarray(ranking, dtype=np.int64)[: self.cycle.positions]
            if len(set(placed.tolist()) & set(range(len(self.cycle.relevance)))) != self.cycle.positions:
                raise ParameterError("a ranking to start from does not have a subject of its own on each position")
            if not self.cycle.meets_floor(query, placed):
                raise ParameterError("a ranking to start from does not keep the quality floor")
            self._meet(query, placed)

    def practise(self) -> None:
        """Start from a simple controller: attention goes where most is owed. With one position, from everything."""
        cycle = self.cycle
        if cycle.positions == 1:
            for query, order in enumerate(cycle.orders):
                _, of_each_class = np.unique(cycle.classes[order], return_index=True)
                for subject in order[of_each_class][:, None]:
                    if cycle.meets_floor(query, subject):
                        self._meet(query, subject)
            return
        owed = np.zeros(len(cycle.relevance))
        for _ in range(min(2 * cycle.showable, MOST_PRACTICE) // len(cycle)):
            owed += cycle.relevance * len(cycle)
            for query in range(len(cycle)):
                ranking = cycle.dearest(query, np.round(np.clip(owed, -1.0, 1.0) * LEVELS) / LEVELS)
                owed[ranking] -= cycle.attention
                self._meet(query, ranking)
                if self.spent:
                    return

    def tighten(self, edges: Ints, tolerance: float) -> Mixed:
        """Generate rankings with one price for each block of classes, until the gap is small."""
        block = self._block_of_subjects(edges)
        master = self._master(block)
        relevance = np.bincount(block, weights=self.cycle.relevance)
        centre, bound = None, -np.inf
        while True:
            mixed = master.solve()
            self.iterations += 1
            worth = mixed.worth if centre is None else CAUTION * centre + (1 - CAUTION) * mixed.worth
            rankings = [self.cycle.dearest(query, worth[block]) for query in range(len(self.cycle))]
            most = np.mean([self.cycle.attention @ worth[block[ranking]] for ranking in rankings])
            proven = float(worth @ relevance - most)
            if proven > bound:
                bound, centre = proven, worth
            self.rate = max(self.rate, proven)
            if mixed.value - bound <= tolerance or self.spent:
                return mixed
            new = [master.add(query, self._meet(query, ranking)) for query, ranking in enumerate(rankings)]
            if not any(new):
                if np.array_equal(worth, mixed.worth):
                    return mixed  # no ranking is worth more: what is left of the gap is rounding
                centre = mixed.worth

    def finer(self, edges: Ints, mixed: Mixed, blocks: int) -> Ints:
        """Split the blocks that lose most: much attention, and it could all go to gains far above the block's mean."""
        number, gains = len(edges) - 1, np.mean(self.cycle.gains, axis=0)
        block = self._block_of_subjects(edges)
        received, highest = np.zeros(block.max() + 1), np.zeros(block.max() + 1)
        for (_, ranking), chance in zip(mixed.members, mixed.probabilities.tolist(), strict=True):
            np.add.at(received, block[ranking], chance * self.cycle.attention)
        np.maximum.at(highest, block, gains)
        spread = highest - np.bincount(block, weights=gains) / np.bincount(block)
        loss = np.where(np.diff(edges) > 1, (received * spread)[:number], -1.0)
        chosen = np.argsort(-loss, kind="stable")[: min(max(number // 2, 1), blocks - number)]
        chosen = chosen[loss[chosen] >= 0]
        return np.unique(np.append(edges, (edges[chosen] + edges[chosen + 1]) // 2))

    def best_mixture(self) -> Mixed:
        """Of all rankings met, class by class."""
        return self._master(self._block_of_subjects(np.arange(self.cycle.showable + 1))).solve()

    def _block_of_subjects(self, edges: Ints) -> Ints:
        """Those whom nothing can show are one block at the end: all of them lack all they have earned."""
        of_class: Ints = np.searchsorted(edges, np.arange(len(self.cycle.sizes)), side="right") - 1
        return of_class[self.cycle.classes]

    def _master(self, block: Ints) -> Master:
        master = Master(block, self.cycle.relevance, self.cycle.attention, len(self.cycle))
        for query, ranking in self.met.values():
            master.add(query, ranking)
        return master

    def _meet(self, query: int, ranking: Ints) -> Ints:
        self.met.setdefault((query, ranking.tobytes()), (query, ranking))
        return ranking
