"""Pairs counted without listing them: similar pairs within groups, and pairs that two orders do not agree on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.mediator.kernels.hashing import Longs
from aidos.rooms.shield.mediator.kernels.vectors import Rows, jaccard

__all__ = ["compare_orders", "count_inversions", "summed_jaccard"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@njit(cache=True)
def summed_jaccard(rows: Rows, starts: Longs, kinds: Longs, counts: Longs) -> Floats:
    """For each kind within each group, its summed similarity with all objects of the group, itself included.

    Group g holds ``counts`` objects of the ``kinds`` that stand from starts[g] to starts[g + 1].
    """
    sums = np.zeros(len(kinds))
    for group in range(len(starts) - 1):
        for one in range(starts[group], starts[group + 1]):
            for other in range(one, starts[group + 1]):
                alike = jaccard(rows, kinds[one], kinds[other])
                sums[one] += alike * counts[other]
                if other != one:
                    sums[other] += alike * counts[one]
    return sums


@njit(cache=True)
def count_inversions(values: Longs) -> int:
    """Pairs that stand in falling order, by merging ever longer runs: n log n."""
    here, there = values.copy(), np.empty_like(values)
    found, width = 0, 1
    while width < len(here):
        for start in range(0, len(here), 2 * width):
            middle, end = min(start + width, len(here)), min(start + 2 * width, len(here))
            left, right = start, middle
            for place in range(start, end):
                if right >= end or (left < middle and here[left] <= here[right]):
                    there[place] = here[left]
                    left += 1
                else:
                    there[place] = here[right]
                    found += middle - left
                    right += 1
        here, there = there, here
        width *= 2
    return found


@njit(cache=True, nogil=True)
def compare_orders(first: Ints, second: Ints, sizes: Longs, top: int) -> Floats:
    """Two orders of the same hits, a row each query: the share of reversed pairs, and the Jaccard loss of the top."""
    losses = np.zeros((len(sizes), 2))
    for query in range(len(sizes)):
        size = sizes[query]
        order = np.argsort(first[query, :size])
        ranks = np.empty(size, np.int64)
        sought = np.searchsorted(first[query, :size][order], second[query, :size])
        for place in range(size):
            ranks[place] = order[sought[place]]
        if size > 1:
            losses[query, 0] = count_inversions(ranks) / (size * (size - 1) / 2)
        if size > 0:
            shown = min(size, top)
            both = np.sum(ranks[:shown] < shown)
            losses[query, 1] = 1.0 - both / (2 * shown - both)
    return losses
