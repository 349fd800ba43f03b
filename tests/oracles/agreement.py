"""How much two rankings of hits differ: Kendall tau loss and Jaccard loss, on lists of ids.

For two orders of the same hits the Kendall loss is the share of pairs that stand the other way round, (1 - tau) / 2: 0
for equal orders, 1 for the reverse. Where the lists hold different hits, a hit that a list lacks comes after all that
it has (Fagin, Kumar and Sivakumar 2003, with penalty 1/2): a pair of which each list has one is counted as reversed,
and a pair that one list lacks altogether as one half. The sum is divided by the pairs of hits in either list.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.mediator.kernels.mixing import count_inversions

__all__ = ["jaccard_loss", "kendall_loss"]


def kendall_loss(first: Sequence[Hashable], second: Sequence[Hashable], top: int = 100) -> float:
    """Share of pairs of hits on which the first ``top`` of two rankings do not agree."""
    mine, theirs = _top(first, top), _top(second, top)
    places = {hit: place for place, hit in enumerate(theirs)}
    common = np.array([places[hit] for hit in mine if hit in places], dtype=np.int64)
    union = len(mine) + len(theirs) - len(common)
    if union < 2:
        return 0.0
    disagreed = float(count_inversions(common)) + _one_sided(mine, set(theirs)) + _one_sided(theirs, set(mine))
    alone, also_alone = len(mine) - len(common), len(theirs) - len(common)
    disagreed += alone * also_alone + 0.5 * (_pairs(alone) + _pairs(also_alone))
    return disagreed / _pairs(union)


def jaccard_loss(first: Sequence[Hashable], second: Sequence[Hashable], top: int = 20) -> float:
    """1 - (hits in both) / (hits in either), of the first ``top``; 0 where both are empty."""
    mine, theirs = set(_top(first, top)), set(_top(second, top))
    either = len(mine | theirs)
    return 1.0 - len(mine & theirs) / either if either else 0.0


def _top(ranking: Sequence[Hashable], top: int) -> Sequence[Hashable]:
    if top < 1:
        raise ParameterError(f"top must be at least 1, got {top}")
    hits = ranking[:top]
    if len(set(hits)) != len(hits):
        raise InputError("a ranking holds the same hit twice")
    return hits


def _one_sided(ranking: Sequence[Hashable], shared: set[Hashable]) -> int:
    """Pairs where a hit that the other list lacks stands before one that it has."""
    alone = found = 0
    for hit in ranking:
        if hit in shared:
            found += alone
        else:
            alone += 1
    return found


def _pairs(number: int) -> int:
    return number * (number - 1) // 2
