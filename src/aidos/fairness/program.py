"""The same choice of moves as an integer program for HiGHS: for many positions, where a search has too many sets.

Every move is a binary variable; each position is taken once, each account moves at most once. Because a move names all
positions that an account takes, subjects that share an account fit in as well.
"""

from __future__ import annotations

import highspy
import numpy as np

from aidos.errors import AidosError
from aidos.fairness.kernels.pareto import NO_ANSWER, Moves
from aidos.fairness.rankings import Ints

__all__ = ["best_by_program"]


def best_by_program(moves: Moves, limit: float, positions: int) -> Ints:
    """The moves of least cost that fill all positions with a burden within the limit; [NO_ANSWER] if there are none."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0)):
        highs.setOptionValue(option, value)
    highs.passModel(_model(moves, limit, positions))
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return np.array([NO_ANSWER])
    if status != highspy.HighsModelStatus.kOptimal:
        raise AidosError("HiGHS did not finish the ranking", hint="use attention on fewer positions")
    values = np.asarray(highs.getSolution().col_value)
    return np.flatnonzero(values > 0.5)


def _model(moves: Moves, limit: float, positions: int) -> highspy.HighsLp:
    """Rows: one per position (taken once), one per account (moves at most once), one for the burden."""
    number, accounts = len(moves.masks), len(moves.first) - 1
    move_of, position = np.nonzero((moves.masks[:, None] >> np.arange(positions)) & 1)
    account = np.repeat(np.arange(accounts), np.diff(moves.first))
    columns = np.concatenate([move_of, np.arange(number), np.arange(number)])
    rows = np.concatenate([position, positions + account, np.full(number, positions + accounts)])
    values = np.concatenate([np.ones(len(move_of) + number), moves.burdens])
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
