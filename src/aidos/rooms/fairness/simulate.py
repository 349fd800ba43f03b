"""The same queries again and again, under one method: how unfairness and quality develop.

A scenario is a table of relevance, one row per query, asked in turn. Shapes are those of the paper's synthetic
experiments; ratings come from a table of listings or people. Nothing is random, except in methods that draw lots, and
those have a seed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.course import Course, Series
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.methods import find_method
from aidos.rooms.fairness.rankings import Floats, SubjectRanking

__all__ = ["SHAPES", "Scenario", "shape_scenario", "simulate"]

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
