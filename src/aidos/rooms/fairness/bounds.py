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

Column generation for the stationary bound: rankings met so far, the best bound proven so far. Prices that jump from one
mixture to the next make the bound creep. Rankings are therefore asked for at prices between the new ones and the best
known; every answer proves a bound all the same.

The master program finds the best mixture of the rankings met so far. Each row is a block of subjects: attention
received plus what is missing must reach the block's relevance. What is missing counts twice, once for those who lack it
and once for those who have it instead. The program is kept open in HiGHS, so that a few new rankings cost a few steps.

Queries are asked in turn, over the same subjects. Subjects that are equal in every query are one class: shuffling
equals costs nothing, so that their mean attention may be taken as equal. Subjects whom no ranking within the quality
floor can show at all are known before any search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import EngineError, ParameterError
from aidos.rooms.fairness.linear import open_solver
from aidos.rooms.fairness.rankings import Floats, Ints, discounts
from aidos.rooms.fairness.solver import cheapest

__all__ = ["Cycle", "Master", "Mixed", "Search", "StationaryBound", "check_queries", "stationary_bound_cycle"]

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
