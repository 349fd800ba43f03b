"""How good a ranking is for somebody who wants certain results: average precision, average rank, rank scoring.

All take the ranks of the wanted results, counted from 1. Average precision is 1/n sum of i / rank(l_i) over the wanted
results in order of rank; rank scoring (Breese et al. 1998) halves the worth of a result every so many ranks and is
given as a share of the best possible.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError

__all__ = ["average_precision", "average_rank", "rank_scoring", "wanted_ranks"]

HALF_LIFE = 5
"""Rank at which a result is worth half as much as the first."""


def wanted_ranks(ranking: Sequence[Hashable], wanted: Collection[Hashable]) -> NDArray[np.int64]:
    """Where wanted results stand, counted from 1, in order; those that the ranking lacks have no rank."""
    return np.array([place for place, result in enumerate(ranking, 1) if result in wanted], dtype=np.int64)


def average_precision(ranks: Sequence[int] | NDArray[np.int64]) -> float:
    """1/n sum of i / rank of the i-th wanted result; 1 where they come first."""
    ordered = _ordered(ranks)
    return float(np.mean(np.arange(1, len(ordered) + 1) / ordered))


def average_rank(ranks: Sequence[int] | NDArray[np.int64]) -> float:
    """The mean rank of the wanted results: less is better."""
    return float(np.mean(_ordered(ranks)))


def rank_scoring(ranks: Sequence[int] | NDArray[np.int64], half_life: float = HALF_LIFE) -> float:
    """Worth of the wanted results where they stand, as a share of what they would be worth at the top."""
    if not half_life > 1:
        raise ParameterError(f"half_life must be above 1, got {half_life}")
    ordered = _ordered(ranks)
    best = np.arange(1, len(ordered) + 1)
    worth, most = (np.exp2(-(at - 1) / (half_life - 1)).sum() for at in (ordered, best))
    return float(worth / most)


def _ordered(ranks: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    ordered = np.sort(np.asarray(ranks, dtype=np.int64))
    if not len(ordered):
        raise ParameterError("no wanted result is in the ranking, so that it has no quality to measure")
    if ordered[0] < 1 or (np.diff(ordered) == 0).any():
        raise ParameterError("ranks are counted from 1, and no two results share one")
    return ordered
