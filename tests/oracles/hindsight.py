"""The fairest sequence with hindsight: all rankings are known before the first is served. For small cases.

An integer program with a binary variable for every subject, position and ranking. It is the measure of what a method
loses by not knowing the future, between the stationary bound (which no sequence beats) and every online method. The
variables are many and a query that is repeated makes them interchangeable: a handful of subjects and rankings is what
it can do. Accounts begin at zero and nothing fades.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.rooms.fairness.bounds import check_queries
from aidos.rooms.fairness.linear import LinearProgram, solve
from aidos.rooms.fairness.rankings import Floats, Ints, discounts

__all__ = ["OfflineOptimum", "offline_optimum"]

SLACK = 1e-12
"""Relative slack of the floor, so that the original order always meets it whatever is added up first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OfflineOptimum:
    """The best sequence."""

    unfairness: float
    """Sum over subjects of |attention - relevance| after the last ranking; no sequence has less."""
    rankings: tuple[Ints, ...]
    """Subject on each position, ranking by ranking."""


def offline_optimum(
    rankings: Sequence[tuple[Floats, Floats]], attention: Floats, quality_floor: float, *, seconds: float = 600.0
) -> OfflineOptimum:
    """Least final unfairness over rankings, each (relevance, gains) of the same subjects; an error if not in time."""
    check_queries(rankings, attention, quality_floor)
    number, positions, length = len(rankings[0][0]), len(attention), len(rankings)
    program = _program(rankings, np.asarray(attention, dtype=np.float64), quality_floor)
    solved = solve(program, time_limit=seconds)
    cells = solved.values[: length * number * positions].reshape(length, number, positions)
    placed = tuple(each.argmax(axis=0) for each in cells)
    balance = -np.sum([relevance for relevance, _ in rankings], axis=0)
    for ranking in placed:
        balance[ranking] += attention
    return OfflineOptimum(unfairness=float(np.abs(balance).sum()), rankings=placed)


def _program(rankings: Sequence[tuple[Floats, Floats]], attention: Floats, quality_floor: float) -> LinearProgram:
    """Cells (ranking, subject, position), then what each subject lacks; it counts twice, as others have it instead."""
    number, positions, length = len(rankings[0][0]), len(attention), len(rankings)
    cells = length * number * positions
    ranking, subject, position = (axis.ravel() for axis in np.indices((length, number, positions)))
    every, weights = np.arange(cells), discounts(positions)
    gains = np.array([gains for _, gains in rankings])
    best = np.sort(gains, axis=1)[:, ::-1][:, :positions] @ weights
    scale = np.where(gains.max(axis=1) > 0, gains.max(axis=1), 1.0)
    first = np.cumsum([0, length * number, length * positions, length])
    kinds = (
        (ranking * number + subject, every, np.ones(cells)),
        (first[1] + ranking * positions + position, every, np.ones(cells)),
        (first[2] + ranking, every, gains[ranking, subject] * weights[position] / scale[ranking]),
        (first[3] + subject, every, attention[position]),
        (first[3] + np.arange(number), cells + np.arange(number), np.ones(number)),
    )
    rows, columns, values = (np.concatenate(each) for each in zip(*kinds, strict=True))
    floors = quality_floor * best * (1 - SLACK) / scale
    earned = np.sum([relevance for relevance, _ in rankings], axis=0)
    once = np.ones(length * positions)
    return LinearProgram(
        costs=np.append(np.zeros(cells), np.full(number, 2.0)),
        lower=np.zeros(cells + number),
        upper=np.append(np.ones(cells), np.full(number, np.inf)),
        row_lower=np.concatenate([np.zeros(length * number), once, floors, earned]),
        row_upper=np.concatenate([np.ones(length * number), once, np.full(length + number, np.inf)]),
        rows=rows,
        columns=columns,
        values=values,
        whole=np.arange(cells + number) < cells,
    )
