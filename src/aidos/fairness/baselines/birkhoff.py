"""A matrix of probabilities as a mixture of plain orders (Birkhoff and von Neumann).

Rows are subjects, columns the positions that count; what a row lacks to 1 is the chance of standing behind them. Each
step takes an order from the cells that are not empty, with everybody in it who has no chance left to stand behind, and
as much of it as the cells bear. Every step empties a cell or fills a row, so the steps end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.errors import ParameterError
from aidos.fairness.rankings import Floats, Ints

__all__ = ["Mixture", "decompose"]

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
