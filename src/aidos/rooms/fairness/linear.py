"""A linear or integer program as plain arrays, solved by HiGHS to the end or not at all.

One thread, no gap, tolerances far below those of quality floors: the answers are references that others are compared
with. Programs are handed over as arrays, since building them from expressions takes longer than solving them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aidos.errors import EngineError, MissingExtraError
from aidos.rooms.fairness.rankings import Floats, Ints

if TYPE_CHECKING:
    import highspy

__all__ = ["LinearProgram", "Solution", "as_model", "open_solver", "solve"]

TOLERANCE = 1e-10
"""The smallest that HiGHS takes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearProgram:
    """Least costs of variables within bounds, under rows within bounds; entries as triples."""

    costs: Floats
    lower: Floats
    upper: Floats
    row_lower: Floats
    row_upper: Floats
    rows: Ints
    """Row of each entry."""
    columns: Ints
    """Variable of each entry."""
    values: Floats
    whole: NDArray[np.bool_] | None = None
    """Which variables must be whole numbers; none unless given."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """An optimum."""

    values: Floats
    duals: Floats
    """What a unit more on the right side of each row would cost; only of programs without whole numbers."""
    objective: float


def open_solver(time_limit: float | None = None) -> highspy.Highs:
    """HiGHS, silent, on one thread, exact."""
    try:
        import highspy
    except ImportError as error:
        raise MissingExtraError("linear programs", extra="fairness") from error
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float] = {
        "output_flag": False,
        "threads": 1,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
    }
    for kind in ("primal_feasibility", "dual_feasibility", "mip_feasibility"):
        options[f"{kind}_tolerance"] = TOLERANCE
    if time_limit is not None:
        options["time_limit"] = time_limit
    for option, value in options.items():
        solver.setOptionValue(option, value)
    return solver


def solve(program: LinearProgram, *, time_limit: float | None = None) -> Solution:
    """An optimum; an error when there is none or the time (in seconds) was too short."""
    solver = open_solver(time_limit)
    solver.passModel(as_model(program))
    solver.run()
    if (status := solver.getModelStatus()) != type(status).kOptimal:
        words = solver.modelStatusToString(status).lower()
        raise EngineError(f"HiGHS found no optimum: {words}", hint="allow more time, or give fewer subjects")
    found = solver.getSolution()
    return Solution(
        values=np.asarray(found.col_value),
        duals=np.asarray(found.row_dual),
        objective=solver.getInfo().objective_function_value,
    )


def as_model(program: LinearProgram) -> highspy.HighsLp:
    """The program as HiGHS takes it."""
    import highspy

    order = np.lexsort((program.rows, program.columns))
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.costs), len(program.row_lower)
    model.col_cost_, model.col_lower_, model.col_upper_ = program.costs, program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    counts = np.bincount(program.columns, minlength=len(program.costs))
    model.a_matrix_.start_ = np.append(0, np.cumsum(counts)).astype(np.int32)
    model.a_matrix_.index_ = program.rows[order].astype(np.int32)
    model.a_matrix_.value_ = program.values[order]
    if program.whole is not None:
        kinds = highspy.HighsVarType
        model.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in program.whole.tolist()]
    return model
