"""How a sequence of rankings went: unfairness and quality ranking by ranking, and where everybody ended.

A course is recorded from what was really served, whoever chose the order: attention goes to the position a subject
stood on, and adds up over all rankings.

The same queries again and again, under one method: how unfairness and quality develop. A scenario is a table of
relevance, one row per query, asked in turn. Shapes are those of the paper's synthetic experiments; ratings come from a
table of listings or people. Nothing is random, except in methods that draw lots, and those have a seed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, ParameterError
from aidos.model.attention import Attention
from aidos.rooms.fairness.accounts import Accounts, MemoryKeeper, Served
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import Floats, Ints, SubjectRanking, discounts, gains, normalise
from aidos.rooms.fairness.reranker import find_method

__all__ = ["SHAPES", "Course", "Recorder", "Scenario", "Series", "shape_scenario", "simulate"]


@dataclass(slots=True)
class Series:
    """What is noted ranking by ranking."""

    unfairness: list[float] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, unfairness: float, quality: float) -> None:
        """One more ranking."""
        self.unfairness.append(unfairness)
        self.quality.append(quality)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """How one method did."""

    method: str
    quality_floor: float | None
    """What it had to keep, if anything."""
    unfairness: Floats
    """After each ranking."""
    quality: Floats
    """NDCG-quality of each ranking."""
    names: tuple[str, ...]
    """Of the accounts."""
    received: Floats
    earned: Floats
    seconds: float = 0.0

    @property
    def final(self) -> float:
        """Unfairness at the end."""
        return float(self.unfairness[-1])

    @staticmethod
    def ended(method: str, accounts: Accounts, series: Series, *, quality_floor: float | None = None) -> Course:
        """A course with the accounts as they are now."""
        return Course(
            method=method,
            quality_floor=quality_floor,
            unfairness=np.array(series.unfairness),
            quality=np.array(series.quality),
            names=tuple(accounts.names),
            received=accounts.received(),
            earned=accounts.earned(),
            seconds=series.seconds,
        )


class Recorder:
    """Counts rankings as they were served."""

    def __init__(self, method: str, attention: Attention, gain: str, *, half_life: float | None = None) -> None:
        self.method, self.attention, self.gain = method, attention, gain
        self.accounts = Accounts(half_life=half_life)
        self.series = Series()

    def add(self, ranking: SubjectRanking, served: Ints | None = None, *, accounts: Sequence[str] = ()) -> None:
        """One ranking in the order ``served`` (indices into it); by relevance unless given."""
        by_relevance = np.argsort(-ranking.relevance, kind="stable")
        order = by_relevance if served is None else served
        best = gains(ranking.relevance[by_relevance], self.gain)
        worth = np.empty_like(best)
        worth[by_relevance] = best
        weights = self.attention.weights(ranking.relevance[by_relevance] / ranking.relevance.max())
        top = order[: len(weights)]
        discount = discounts(len(weights))
        quality = float(discount @ worth[top]) / float(discount @ best[: len(weights)])
        self.accounts.count(
            Served(
                ranking_id="",
                content="",
                slots=self.accounts.slots(tuple(accounts or ranking.subject_ids)),
                relevance=normalise(ranking.relevance),
                placed=top,
                attention=weights,
                placed_ids=(),
                searcher_id=ranking.searcher_id,
                quality=quality,
            )
        )
        self.series.note(self.accounts.unfairness, quality)

    def course(self, quality_floor: float | None = None) -> Course:
        """What was recorded."""
        if not self.series.quality:
            raise InputError("there are no rankings", hint="name a file with at least one")
        return Course.ended(self.method, self.accounts, self.series, quality_floor=quality_floor)


SHAPES = ("uniform", "linear", "exponential")
REPORTING = 64
"""Rankings between two signs of progress."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """Who is ranked, and how relevant for each query."""

    name: str
    subject_ids: tuple[str, ...]
    relevance: Floats
    """Queries x subjects; not a number where a subject does not appear."""
    queries: tuple[str, ...]
    groups: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()

    def rankings(self) -> list[SubjectRanking]:
        """One ranking per query."""
        return [self._ranking(*each) for each in zip(self.queries, self.relevance, strict=True)]

    def _ranking(self, query: str, relevance: Floats) -> SubjectRanking:
        there = np.flatnonzero(~np.isnan(relevance))

        def those(values: Sequence[str]) -> tuple[str, ...]:
            return tuple(values[each] for each in there.tolist()) if values else ()

        return SubjectRanking(
            subject_ids=those(self.subject_ids),
            relevance=relevance[there],
            query_id=query,
            groups=those(self.groups),
            actors=those(self.actors),
            place=f"query {query}",
        )


def shape_scenario(shape: str, subjects: int = 100) -> Scenario:
    """A synthetic shape of the paper: relevance equal for all, falling by equal steps, or by halves."""
    ranks = np.arange(subjects, dtype=np.float64)
    match shape:
        case "uniform":
            relevance = np.ones(subjects)
        case "linear":
            relevance = subjects - ranks
        case "exponential":
            # Halving more than a thousand times leaves nothing that a computer can tell from zero.
            relevance = 0.5 ** ranks.clip(max=1000)
        case _:
            raise ParameterError(f"there is no shape called {shape}", hint=f"choose from {', '.join(SHAPES)}")
    names = tuple(f"subject-{each + 1}" for each in range(subjects))
    return Scenario(name=shape, subject_ids=names, relevance=relevance[None, :], queries=(shape,))


def simulate(
    scenario: Scenario, equity: EquityOfAttention, *, method: str, rankings: int, progress: Progress = SILENT
) -> Course:
    """Serve that many rankings, the queries in turn, by a method (see `methods`)."""
    keeper = MemoryKeeper(half_life=equity.half_life)
    chosen = find_method(method)
    reranker = chosen.reranker(equity, keeper)
    prepared = [reranker.prepare(each) for each in scenario.rankings()]
    series, started = Series(), time.perf_counter()
    with progress.task(f"{method} at {equity.quality_floor:g}", total=rankings, unit="rankings") as task:
        for number in range(rankings):
            step = reranker.serve(prepared[number % len(prepared)])
            series.note(step.unfairness, step.quality)
            if number % REPORTING == REPORTING - 1:
                task.move_to(number + 1)
    series.seconds = time.perf_counter() - started
    floor = equity.quality_floor if chosen.follows_floor else None
    return Course.ended(method, keeper.accounts, series, quality_floor=floor)
