"""Who can matter: everybody else is dropped before the search, and the optimum stays.

Take subjects in the order of relevance. A subject is dominated by another that comes no later and whose account is owed
no less. In any answer a dominated subject may give her position to a dominator that got none: the cost does not rise
(the cost of attention never falls with the balance) and the quality does not fall. With as many dominating accounts as
there are positions, one of them must be free, so the subject can be dropped. Attention has to end after the last
position for that; it does not have to fall.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.fairness.kernels.compiled import njit
from aidos.fairness.kernels.sorting import sort_by

__all__ = ["skyband"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
