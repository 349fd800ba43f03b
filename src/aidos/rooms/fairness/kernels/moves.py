"""Moves of the search, what they cost, and whose moves can matter.

A move: an account takes a set of positions, at a cost; its burden is the DCG it gives, negative. Positions are bits. An
account with one subject takes one position; an account with several may take as many positions as it has subjects, its
most relevant subject on the first of them, because that is the best order at the same cost.

Where a single position has attention, a walk over the subjects that are good enough is all that is needed.

What it costs to give somebody attention: one family covers every objective. The potential of a balance x is x^2 / (2
width) up to the width and |x| - width / 2 beyond it (Huber). Width 0 is the absolute objective of the thesis, infinite
width stands for the squared one. In every case the cost of attention never falls as the balance grows, which is what
dominance needs.

Who cannot matter is dropped before the search, and the optimum stays. Take subjects in the order of relevance. A
subject is dominated by another that comes no later and whose account is owed no less. In any answer a dominated subject
may give her position to a dominator that got none: the cost does not rise (the cost of attention never falls with the
balance) and the quality does not fall. With as many dominating accounts as there are positions, one of them must be
free, so the subject can be dropped. Attention has to end after the last position for that; it does not have to fall.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.fairness.kernels.pareto import Moves, njit, sort_by

__all__ = ["cost_of_attention", "moves_of_accounts", "moves_of_subjects", "scan", "skyband"]

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


@njit(cache=True)
def scan(balance: Floats, gains: Floats, least_gain: float, width: float) -> int:
    """The subject whose attention costs least among those with enough gain; of equals the most relevant."""
    best = 0
    least = cost_of_attention(balance[0], 1.0, width)
    for subject in range(1, balance.size):
        if gains[subject] < least_gain:
            break
        cost = cost_of_attention(balance[subject], 1.0, width)
        if cost < least:
            best, least = subject, cost
    return best


@njit(cache=True, inline="always")
def _potential(balance: float, width: float) -> float:
    """The Huber function, for a width that is positive and finite."""
    size = abs(balance)
    if size <= width:
        return balance * balance / (2.0 * width)
    return size - width / 2.0


@njit(cache=True)
def cost_of_attention(balance: float, attention: float, width: float) -> float:
    """Change of the potential when ``attention`` is added to ``balance``.

    Where the change is the whole attention, up or down, it is returned as it is: a difference of two potentials would
    differ in the last bits between subjects that are equally owed, and rounding would break ties.
    """
    if width == inf:
        return attention * (2.0 * balance + attention)
    if balance >= width:
        return attention
    if balance + attention <= -width:
        return -attention
    if width == 0.0:
        return attention + 2.0 * balance if balance < 0.0 else attention
    return _potential(balance + attention, width) - _potential(balance, width)


@njit(cache=True)
def skyband(balance: Floats, gains: Floats, accounts: Ints, positions: int) -> Ints:
    """Subjects that are not dropped, by relevance and, among equal gains, the one who is owed most first.

    ``accounts`` says who shares an account (and so a balance), in numbers below that of the subjects; it is empty when
    nobody does.
    """
    kept = _pass(balance, accounts, np.arange(balance.size), positions)
    # Among equal gains the first pass knew only the order of arrival. Who is owed more may stand in front.
    begin, spare = 0, np.empty(kept.size, dtype=np.int64)
    for end in range(1, kept.size + 1):
        if end == kept.size or gains[kept[end]] != gains[kept[begin]]:
            sort_by(kept, balance, begin, end, spare)
            begin = end
    return _pass(balance, accounts, kept, positions)


@njit(cache=True)
def _pass(balance: Floats, accounts: Ints, order: Ints, positions: int) -> Ints:
    """One walk that remembers the smallest balances, one more of them than positions."""
    lowest = np.full(positions + 1, np.inf)
    kept = np.empty(order.size, dtype=np.int64)
    number = 0
    shared = accounts.size > 0
    times = np.zeros(accounts.size, dtype=np.int64)
    for subject in order:
        owed = balance[subject]
        again = shared and times[accounts[subject]] > 0
        # An account that was met before stands among the lowest itself, and does not dominate its own subjects.
        if owed >= lowest[positions if again else positions - 1]:
            continue
        if not again:
            _insert(lowest, owed)
        if shared:
            if times[accounts[subject]] == positions:
                continue
            times[accounts[subject]] += 1
        kept[number] = subject
        number += 1
    return kept[:number].copy()


@njit(cache=True)
def _insert(lowest: Floats, value: float) -> None:
    there = lowest.size - 1
    while there > 0 and lowest[there - 1] > value:
        lowest[there] = lowest[there - 1]
        there -= 1
    lowest[there] = value
