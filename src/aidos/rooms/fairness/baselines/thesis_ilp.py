"""The thesis' own integer program: every subject on every position, a prefilter of 100, HiGHS.

    minimise    sum_i sum_j |A_i + w_j - (R_i + r_i)| X_ij
    subject to  sum_{j<=k} sum_i g_i / log2(j+1) X_ij >= theta DCG@k(original),  X a bijection

It has n x n binary variables and takes seconds at n = 100. The prefilter keeps the k most relevant subjects, so that an
answer exists, and those who are owed most. It can miss everybody who may be promoted; then unfairness grows again.
Without the prefilter this is the reference that the exact solver is tested with.

It knows nothing of shared accounts: subjects of one actor are charged as if each were placed alone.

`Prefiltered` has the same prefilter with the exact solver inside: what the integer program answers, a thousand times as
fast. Equal to `ThesisProgram` with the same candidates, except that ties may be broken otherwise. It shows over
long sequences what looking at 100 candidates costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from aidos.core.checks import check_parameters
from aidos.rooms.fairness.linear import LinearProgram, solve
from aidos.rooms.fairness.rankings import Floats, Ints, Standing, discounts
from aidos.rooms.fairness.solver import least_cost

__all__ = ["Prefiltered", "ThesisProgram", "prefilter"]

SLACK = 1e-12
"""Relative slack of the floor, so that the original order always meets it whatever is added up first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThesisProgram:
    """The n x n integer program at the standing's quality floor."""

    candidates: Annotated[int | None, Ge(1)] = 100
    """Subjects that the program looks at: the most relevant, then those who are owed most; None for everybody."""
    objective: Literal["absolute", "squared"] = "absolute"
    """Cost of a balance: its size, or its square."""
    seconds: Annotated[float, Gt(0)] = 600.0
    """Time allowed for one ranking; an error afterwards, never a second-best answer."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """Optimal among the candidates."""
        chosen = prefilter(standing, self.candidates)
        program = _program(standing, chosen, squared=self.objective == "squared")
        number, positions = len(chosen), len(standing.attention)
        solved = solve(program, time_limit=self.seconds).values.reshape(number, number)
        placed: Ints = chosen[solved[:, :positions].argmax(axis=0)]
        return placed


def prefilter(standing: Standing, candidates: int | None) -> Ints:
    """The most relevant, one per position, then those who are owed most; None for everybody."""
    number, positions = len(standing.relevance), len(standing.attention)
    if candidates is None or candidates >= number:
        return np.arange(number, dtype=np.int64)
    owed_most = np.argsort(standing.balance, kind="stable")
    others = owed_most[owed_most >= positions][: max(candidates - positions, 0)]
    return np.sort(np.append(np.arange(positions), others))


def _program(standing: Standing, chosen: Ints, *, squared: bool) -> LinearProgram:
    """Variable i * n + j puts candidate i on position j; rows are candidates, positions, quality."""
    number, positions = len(chosen), len(standing.attention)
    weights = discounts(positions)
    quality = np.zeros((number, number))
    quality[:, :positions] = np.outer(standing.gains[chosen], weights)
    floor = standing.quality_floor * float(weights @ standing.gains[:positions]) * (1 - SLACK)
    largest = quality.max() or 1.0
    subject, position = np.divmod(np.arange(number * number), number)
    counted = np.flatnonzero(quality.ravel())
    bijection = np.ones(2 * number)
    return LinearProgram(
        costs=_costs(standing, chosen, squared=squared).ravel(),
        lower=np.zeros(number * number),
        upper=np.ones(number * number),
        row_lower=np.append(bijection, floor / largest),
        row_upper=np.append(bijection, np.inf),
        rows=np.concatenate([subject, number + position, np.full(len(counted), 2 * number)]),
        columns=np.concatenate([np.arange(number * number), np.arange(number * number), counted]),
        values=np.concatenate([np.ones(2 * number * number), quality.ravel()[counted] / largest]),
        whole=np.ones(number * number, dtype=np.bool_),
    )


def _costs(standing: Standing, chosen: Ints, *, squared: bool) -> Floats:
    """What each position costs more than none; the difference is the same for every order and keeps numbers small."""
    balance = standing.balance[chosen][:, None]
    attention = np.zeros(len(chosen))
    attention[: len(standing.attention)] = standing.attention
    if squared:
        return attention * (2 * balance + attention)
    return np.abs(balance + attention) - np.abs(balance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefiltered:
    """Least absolute unfairness at the standing's floor among the candidates of the thesis."""

    candidates: Annotated[int, Ge(1)] = 100
    """Subjects that are looked at: the most relevant, then those who are owed most."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """Optimal among the candidates."""
        chosen = prefilter(standing, self.candidates)
        fewer = replace(
            standing,
            relevance=standing.relevance[chosen],
            gains=standing.gains[chosen],
            received=standing.received[chosen],
            earned=standing.earned[chosen],
            accounts=None if standing.accounts is None else standing.accounts[chosen],
        )
        placed: Ints = chosen[least_cost(fewer, 0.0)]
        return placed
