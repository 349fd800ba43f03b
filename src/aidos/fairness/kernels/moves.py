"""Moves of the search: an account takes a set of positions, at a cost; its burden is the DCG it gives, negative.

Positions are bits. An account with one subject takes one position; an account with several may take as many positions
as it has subjects, its most relevant subject on the first of them, because that is the best order at the same cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.fairness.kernels.compiled import njit
from aidos.fairness.kernels.pareto import Moves
from aidos.fairness.kernels.potential import cost_of_attention

__all__ = ["moves_of_accounts", "moves_of_subjects"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def moves_of_subjects(
    candidates: Ints, balance: Floats, gains: Floats, attention: Floats, weights: Floats, width: float
) -> Moves:
    """Every candidate on every position."""
    number, positions = candidates.size, attention.size
    masks = np.empty(number * positions, dtype=np.int64)
    costs, values = np.empty(number * positions), np.empty(number * positions)
    at = 0
    for subject in candidates:
        for position in range(positions):
            masks[at] = 1 << position
            costs[at] = cost_of_attention(balance[subject], attention[position], width)
            values[at] = gains[subject] * weights[position]
            at += 1
    return Moves(masks, costs, -values, np.arange(number + 1) * positions)


@njit(cache=True)
def moves_of_accounts(
    candidates: Ints, begins: Ints, balance: Floats, gains: Floats, attention: Floats, weights: Floats, width: float
) -> Moves:
    """Every account on every set of positions; ``candidates`` are ordered by account, then by relevance."""
    positions = attention.size
    number = begins.size - 1
    masks = np.empty(number * (1 << positions), dtype=np.int64)
    costs, values = np.empty(masks.size), np.empty(masks.size)
    first = np.zeros(number + 1, dtype=np.int64)
    at = 0
    for account in range(number):
        own = candidates[begins[account] : begins[account + 1]]
        for mask in range(1, 1 << positions):
            taken, received, value = 0, 0.0, 0.0
            for position in range(positions):
                if mask >> position & 1:
                    if taken < own.size:
                        value += gains[own[taken]] * weights[position]
                    received += attention[position]
                    taken += 1
            if taken <= own.size:
                masks[at], values[at] = mask, value
                costs[at] = cost_of_attention(balance[own[0]], received, width)
                at += 1
        first[account + 1] = at
    return Moves(masks[:at].copy(), costs[:at].copy(), -values[:at], first)
