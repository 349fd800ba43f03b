"""The same choice of moves as an integer program for HiGHS: for many positions, where a search has too many sets.

Every move is a binary variable; each position is taken once, each account moves at most once. Because a move names all
positions that an account takes, subjects that share an account fit in as well. It is solved twice: for the least cost,
then for the least burden at that cost.
"""

from __future__ import annotations

import highspy
import numpy as np

from aidos.errors import AidosError
from aidos.fairness.kernels.pareto import NO_ANSWER, Moves
from aidos.fairness.linear import open_solver
from aidos.fairness.rankings import Floats, Ints

__all__ = ["best_by_program"]

SAME_COST = 1e-9
"""Costs that differ by less are equal; the solver cannot tell them apart for sure."""


def best_by_program(moves: Moves, limit: float, positions: int) -> Ints:
    """The moves of least cost that fill all positions with a burden within the limit; [NO_ANSWER] if there are none.

    Of answers of equal cost the one of least burden.
    """
    highs = open_solver()
    highs.passModel(_model(moves, limit, positions))
    chosen = _run(highs)
    if chosen is None:
        return np.array([NO_ANSWER])
    number = len(moves.masks)
    columns = np.arange(number, dtype=np.int32)
    most = float(moves.costs[chosen].sum()) + SAME_COST
    highs.addRow(-highspy.kHighsInf, most, number, columns, moves.costs)
    highs.changeColsCost(number, columns, moves.burdens)
    highs.setSolution(len(chosen), chosen.astype(np.int32), np.ones(len(chosen)))
    better = _run(highs)
    return chosen if better is None else better


def _run(highs: highspy.Highs) -> Ints | None:
    """The moves that are made; None when the limit is out of reach."""
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise AidosError("HiGHS did not finish the ranking", hint="use attention on fewer positions")
    return np.flatnonzero(np.asarray(highs.getSolution().col_value) > 0.5)


def _model(moves: Moves, limit: float, positions: int) -> highspy.HighsLp:
    """Rows: one per position (taken once), one per account (moves at most once), one for the burden."""
    number, accounts = len(moves.masks), len(moves.first) - 1
    move_of, position = np.nonzero((moves.masks[:, None] >> np.arange(positions)) & 1)
    account = np.repeat(np.arange(accounts), np.diff(moves.first))
    burdens, limit = _above_the_least(moves, limit, move_of, position)
    columns = np.concatenate([move_of, np.arange(number), np.arange(number)])
    rows = np.concatenate([position, positions + account, np.full(number, positions + accounts)])
    values = np.concatenate([np.ones(len(move_of) + number), burdens])
    order = np.lexsort((rows, columns))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = number, positions + accounts + 1
    model.col_cost_, model.col_lower_, model.col_upper_ = moves.costs, np.zeros(number), np.ones(number)
    model.integrality_ = [highspy.HighsVarType.kInteger] * number
    model.row_lower_ = np.concatenate([np.ones(positions), np.full(accounts + 1, -highspy.kHighsInf)])
    model.row_upper_ = np.concatenate([np.ones(positions + accounts), [limit]])
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(number + 1)).astype(np.int32)
    model.a_matrix_.index_ = rows[order].astype(np.int32)
    model.a_matrix_.value_ = values[order]
    return model


def _above_the_least(moves: Moves, limit: float, move_of: Ints, position: Ints) -> tuple[Floats, float]:
    """Burdens counted from the least on each position, the largest of them 1, and the limit on the same scale.

    Every position is taken once, so that the choice is the same; but where subjects are nearly equal, what they differ
    by is no longer lost in the solver's tolerance.
    """
    alone = np.bincount(move_of) == 1
    single = alone[move_of]
    least = np.full(int(position.max()) + 1, np.inf)
    np.minimum.at(least, position[single], moves.burdens[move_of[single]])
    burdens = moves.burdens - np.bincount(move_of, least[position])
    largest = float(np.abs(burdens).max()) or 1.0
    return burdens / largest, (limit - float(least.sum())) / largest
