"""What a word adds to a post's score, and how even the scores of a result list are.

The arithmetic is that of `aidos.model.retrieval.kernels.matching`, bit for bit: every part is a multiple of 2^-40, so
sums are exact in any order, and equal scores are equal.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.model.retrieval.kernels.matching import GRID, LEAST
from aidos.model.retrieval.scorers import DIRICHLET, DIRICHLET_MATCHING, JELINEK_MERCER

__all__ = ["evenness_of", "insert", "length_norm", "match_part"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def match_part(form: int, often: int, rate: float, length_part: float) -> float:
    """What a word that stands so often in a post of some length adds; 0 where the post is not returned for it."""
    if form == DIRICHLET:
        return max(LEAST, math.log1p(often * rate) + GRID - GRID)
    if form == DIRICHLET_MATCHING:
        return max(0.0, math.log1p(often * rate) + length_part + GRID - GRID)
    if form == JELINEK_MERCER:
        return max(LEAST, math.log1p(often * rate * length_part) + GRID - GRID)
    return max(LEAST, rate * (often / (often + length_part)) + GRID - GRID)


@njit(cache=True, nogil=True)
def length_norm(form: int, words: float, length_part: float) -> float:
    """What the length of a post adds to its score for a query of so many words, whichever of them it holds."""
    return words * length_part + GRID - GRID if form == DIRICHLET else 0.0


@njit(cache=True, nogil=True)
def insert(scores: Floats, places: Ints, size: int, score: float, place: int) -> int:
    """Put a hit into a list, best first, behind those of the same score; the size of the list, which may be full."""
    if size == len(scores):
        size -= 1
        if score <= scores[size]:
            return size + 1
    at = size
    while at > 0 and scores[at - 1] < score:
        scores[at], places[at] = scores[at - 1], places[at - 1]
        at -= 1
    scores[at], places[at] = score, place
    return size + 1


@njit(cache=True, nogil=True)
def evenness_of(scores: Floats, size: int) -> int:
    """Entropy of the softmax of the first scores, best first, in per cent of its largest value; 0 for a single one."""
    if size < 2:
        return 0
    total, weighed, share, before = 0.0, 0.0, 0.0, math.inf
    for at in range(size):
        below = scores[at] - scores[0]
        if below != before:
            share, before = math.exp(below), below
        total += share
        weighed += share * below
    entropy = math.log(total) - weighed / total
    return math.floor(100.0 * entropy / math.log(size) + 0.5)
