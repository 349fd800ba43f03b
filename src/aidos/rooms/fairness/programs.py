"""Re-rankers that solve a program for each ranking: `ExposureProgram`, and the thesis' own.

Exposure in proportion to merit within one ranking, by chance (Singh and Joachims 2018): a linear program chooses how
probably each subject stands on each position: the best expected DCG among the random rankings in which expected
attention is proportional to relevance, for each group (the paper's disparate treatment) or, without groups, for each
subject. Attention and relevance both sum to 1, so proportional means equal. The matrix of probabilities is a mixture of
plain orders (Birkhoff and von Neumann), and one of them is drawn.

Often nothing is exactly proportional: a single subject cannot have more than the attention of the best position. Then
the sum of deviations is made as small as possible, and DCG is best among what remains. With many subjects only the
most relevant `candidates` take part and the others get no attention, which is an approximation.

It is fair in expectation and within each ranking alone: it keeps no accounts, so that bad luck is never made up for,
and no quality floor, since a drawn order may be worse than the expected one.

How the matrix becomes a mixture: rows are subjects, columns the positions that count; what a row lacks to 1 is the
chance of standing behind them. Each step takes an order from the cells that are not empty, with everybody in it who has
no chance left to stand behind, and as much of it as the cells bear. Every step empties a cell or fills a row, so the
steps end.

The thesis' own integer program: every subject on every position, a prefilter of 100, HiGHS.

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
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.fairness.linear import LinearProgram, solve
from aidos.rooms.fairness.rankings import Floats, Ints, Standing, discounts
from aidos.rooms.fairness.solver import least_cost

__all__ = ["ExposureProgram", "Mixture", "Prefiltered", "ThesisProgram", "decompose", "exposure_matrix", "prefilter"]

DEVIATION_SLACK = 1e-9
"""By how much the second program may exceed the least deviation, so that rounding leaves it an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureProgram:
    """A random order with expected attention in proportion to relevance."""

    candidates: Annotated[int, Ge(1)] = 200
    """The program looks at so many of the most relevant subjects, and at no fewer than there are positions."""
    seed: Annotated[int, Ge(0)] = 0
    """Start of the random numbers; with the number of the ranking it fixes the draw."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """One order, drawn from the mixture."""
        number = max(self.candidates, len(standing.attention))
        members = np.arange(min(number, len(standing.relevance))) if standing.groups is None else standing.groups
        _, members = np.unique(members[:number], return_inverse=True)
        parts = (standing.relevance[:number], standing.gains[:number], standing.attention, members.astype(np.int64))
        mixture = _mixture(*(part.tobytes() for part in parts))
        chance = np.random.default_rng([self.seed, standing.rankings]).random()
        drawn = int(np.searchsorted(np.cumsum(mixture.probabilities), chance, side="right"))
        return mixture.orders[min(drawn, len(mixture.orders) - 1)]


@lru_cache(maxsize=32)  # a query that is asked again has the same program
def _mixture(relevance: bytes, gains: bytes, attention: bytes, members: bytes) -> Mixture:
    merit, gain, weight = (np.frombuffer(each, dtype=np.float64) for each in (relevance, gains, attention))
    return decompose(exposure_matrix(merit, gain, weight, np.frombuffer(members, dtype=np.int64)))


def exposure_matrix(relevance: Floats, gains: Floats, attention: Floats, members: Ints) -> Floats:
    """Probability of each subject (row) on each position (column); `members` numbers the groups from 0."""
    number, positions = len(relevance), len(attention)
    cells = number * positions
    groups = int(members.max()) + 1
    least = solve(_program(relevance, attention, members, np.zeros(cells), np.inf)).objective
    merits = np.outer(gains, discounts(positions)).ravel()
    best = _program(relevance, attention, members, -merits / (merits.max() or 1.0), least + DEVIATION_SLACK)
    matrix = np.clip(solve(best).values[: len(best.costs) - 2 * groups].reshape(number, positions), 0.0, 1.0)
    return _mended(matrix)


def _program(
    relevance: Floats, attention: Floats, members: Ints, costs: Floats, most_deviation: float
) -> LinearProgram:
    """Cells, then what each group gets too little and too much; rows: subjects, positions, groups, all deviations.

    Without a limit on the deviation, the deviation is what is made small.
    """
    number, positions = len(relevance), len(attention)
    groups, cells = int(members.max()) + 1, number * positions
    merit = np.bincount(members, weights=relevance) / relevance.sum()
    subject, position = np.divmod(np.arange(cells), positions)
    first = np.array([0, number, number + positions, number + positions + groups])
    deviations = np.arange(cells, cells + 2 * groups)
    free: Floats = np.full(2 * groups, 1.0 if np.isinf(most_deviation) else 0.0)
    kinds = (
        (subject, np.arange(cells), np.ones(cells)),
        (first[1] + position, np.arange(cells), np.ones(cells)),
        (first[2] + members[subject], np.arange(cells), attention[position]),
        (np.tile(first[2] + np.arange(groups), 2), deviations, np.repeat([1.0, -1.0], groups)),
        (np.full(2 * groups, first[3]), deviations, np.ones(2 * groups)),
    )
    rows, columns, values = (np.concatenate(each) for each in zip(*kinds, strict=True))
    return LinearProgram(
        costs=np.append(costs, free),
        lower=np.zeros(cells + 2 * groups),
        upper=np.full(cells + 2 * groups, np.inf),
        row_lower=np.concatenate([np.zeros(number), np.ones(positions), merit, [0.0]]),
        row_upper=np.concatenate([np.ones(number + positions), merit, [most_deviation]]),
        rows=rows,
        columns=columns,
        values=values,
    )


def _mended(matrix: Floats) -> Floats:
    """Sums as they must be, after a solver that keeps them to ten digits."""
    for _ in range(50):
        matrix = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1.0)
        matrix = matrix / matrix.sum(axis=0)
        if matrix.sum(axis=1).max() <= 1 + 1e-15:
            break
    return matrix


NOTHING = 1e-13
"""Smaller chances are rounding."""
REST = 1e-10
"""The whole is used up when no more than that is left."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """Orders and how probable they are."""

    orders: tuple[Ints, ...]
    """Each the subject on every position."""
    probabilities: Floats
    """Sum to 1."""


def decompose(matrix: Floats) -> Mixture:
    """Orders whose mixture is the matrix: columns must sum to 1, rows to no more than 1."""
    if (matrix < 0).any() or abs(matrix.sum(axis=0) - 1).max() > 1e-9 or matrix.sum(axis=1).max() > 1 + 1e-9:
        raise ParameterError("not a matrix of probabilities: columns sum to 1 and rows to no more than 1")
    taking_part = np.flatnonzero(matrix.sum(axis=1) > NOTHING)
    cells = matrix[taking_part].copy()
    left, orders, chances = 1.0, [], []
    while left > REST:
        order = _full_order(cells, left)
        if order is None:
            break  # only rounding is left of some cell; what remains is shared by the orders found
        chance = _most_of(order, cells, left)
        cells[order, np.arange(len(order))] -= chance
        left -= chance
        orders.append(taking_part[order])
        chances.append(chance)
    return Mixture(orders=tuple(orders), probabilities=np.array(chances) / sum(chances))


def _full_order(cells: Floats, left: float) -> Ints | None:
    """An order within the cells that are not empty, with every row that has to be in it."""
    from scipy.optimize import linear_sum_assignment

    # More of a row is left than can be made up for later: such rows must come first, whatever else is chosen.
    must = np.where(cells.sum(axis=1) >= left - NOTHING, 1.0, 0.0)
    worth = np.where(cells > NOTHING, 1.0 + must[:, None], -4.0 * cells.shape[1])
    row, column = linear_sum_assignment(worth, maximize=True)
    order: Ints = np.empty(cells.shape[1], dtype=np.int64)
    order[column] = row
    return order if (cells[order, np.arange(len(order))] > NOTHING).all() else None


def _most_of(order: Ints, cells: Floats, left: float) -> float:
    """As much as the order's cells hold, and no more than leaves everybody else time to stand behind."""
    others = np.ones(len(cells), dtype=np.bool_)
    others[order] = False
    slack = left - cells[others].sum(axis=1)
    within = float(cells[order, np.arange(len(order))].min())
    behind = slack[slack > NOTHING]
    return min(within, float(behind.min())) if behind.size else within


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
        program = _thesis_program(standing, chosen, squared=self.objective == "squared")
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


def _thesis_program(standing: Standing, chosen: Ints, *, squared: bool) -> LinearProgram:
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
