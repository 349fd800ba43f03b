"""Where a post that is not there yet would stand in result lists, and which lists it cannot enter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.exposure.queries.kernels.scoring import evenness_of
from aidos.model.compiled import njit

__all__ = ["beaten_pairs", "place_draft"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


@njit(cache=True, nogil=True)
def place_draft(
    starts: Longs,
    scores: Floats,
    orders: Longs,
    own: Floats,
    order: int,
    k: int,
    ranks: Ints,
    certain: Marks,
    evenness: Bytes,
) -> None:
    """The rank a post would have in every list with a score of its ``own``, 0 where it is not among the first k.

    It stands behind posts of the same score whose order is not larger. Certain: it is among the first k however ties
    fall. The evenness is that of the list with the post in it.
    """
    shown = np.empty(k)
    for number in range(starts.size - 1):
        begin, size, before = starts[number], starts[number + 1] - starts[number], 0
        score = own[number]
        while before < size and (
            scores[begin + before] > score or (scores[begin + before] == score and orders[begin + before] <= order)
        ):
            before += 1
        ranks[number] = 0
        if before >= k or score == -np.inf:
            continue
        ranks[number] = before + 1
        certain[number] = size < k or scores[begin + k - 1] != score
        many = min(size + 1, k)
        shown[:before] = scores[begin : begin + before]
        shown[before] = score
        shown[before + 1 : many] = scores[begin + before : begin + many - 1]
        evenness[number] = evenness_of(shown, many)


@njit(cache=True, nogil=True)
def beaten_pairs(
    starts: Longs, scores: Floats, posts: Ints, pairs: tuple[Longs, Longs], own: Floats, k: int, beaten: Marks
) -> None:
    """Whether k posts beat a score by one word alone, for pairs of the words whose single lists are given."""
    ones, others = pairs
    for pair in range(ones.size):
        begin, end = starts[ones[pair]], starts[ones[pair] + 1]
        better = 0
        while begin + better < end and scores[begin + better] > own[pair]:
            better += 1
        mine = posts[begin : begin + better]
        for there in range(starts[others[pair]], starts[others[pair] + 1]):
            if scores[there] <= own[pair]:
                break
            again = False
            for post in mine:
                again |= post == posts[there]
            better += not again
        beaten[pair] = better >= k
