"""What a word adds to a post's score, and how even the scores of a result list are.

The arithmetic is that of `aidos.model.retrieval.kernels.matching`, bit for bit: every part is a multiple of 2^-40, so
sums are exact in any order, and equal scores are equal.

The best posts of every single word are those of the word as a query of its own, and those that it brings as one of two
words. A post that holds one of two words scores by that word and by its length taken twice. Lists in that order, as
long as the result list and one more, are enough to complete every pair (see `sweep`); lists of the one-word query are
not.

A draft is placed likewise: where a post that is not there yet would stand in result lists, and which it cannot enter.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.model.retrieval.kernels.matching import GRID, LEAST
from aidos.model.retrieval.scorers import DIRICHLET, DIRICHLET_MATCHING, JELINEK_MERCER

__all__ = [
    "UNLISTED",
    "beaten_pairs",
    "best_singles",
    "evenness_of",
    "insert",
    "length_norm",
    "match_part",
    "place_draft",
]

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


Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
UNLISTED = 255
"""The place in a word's list of a post that is not in it."""


@njit(cache=True, nogil=True)
def best_singles(
    begin: int,
    end: int,
    form: int,
    rows: tuple[Longs, Floats, Ints],
    postings: tuple[Longs, Ints, Ints],
    norms: tuple[Floats, Floats],
    one: tuple[Floats, Ints],
    two: tuple[Floats, Ints],
    listed: Bytes,
) -> None:
    """Fill both lists of some words, and note for each word of each row which place its post has in the second."""
    row_starts, parts, lengths = rows
    starts, documents, places = postings
    norms_one, norms_two = norms
    one_scores, one_rows = one
    two_scores, two_rows = two
    for word in range(begin, end):
        ones, twos = 0, 0
        for at in range(starts[word], starts[word + 1]):
            row = documents[at]
            part = parts[row_starts[row] + places[at]]
            if form == DIRICHLET_MATCHING and part <= 0.0:
                continue
            ones = insert(one_scores[word], one_rows[word], ones, part + norms_one[lengths[row]], at - starts[word])
            twos = insert(two_scores[word], two_rows[word], twos, part + norms_two[lengths[row]], at - starts[word])
        for place in range(ones):
            one_rows[word, place] = documents[starts[word] + one_rows[word, place]]
        for place in range(twos):
            at = starts[word] + two_rows[word, place]
            row = documents[at]
            two_rows[word, place] = row
            listed[row_starts[row] + places[at]] = place


Marks = NDArray[np.bool_]


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
