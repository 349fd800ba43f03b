"""How many posts stand before a post in the list of two words that it holds, and by a tie alone.

The posts with both words are where two sorted lists of posts meet; the longer one is searched where it is much longer.
Posts with one of the words come from its best posts under the score of a two-word query, which suffice (see `live`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.exposure.queries.kernels.live import Postings
from aidos.rooms.exposure.queries.kernels.scoring import length_norm, match_part

__all__ = ["count_holders", "count_partial"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
MUCH = 16
"""A list that is so many times longer is searched, not walked."""


@njit(cache=True, nogil=True)
def count_holders(
    postings: Postings,
    about: tuple[Ints, Marks, Longs],
    asked: tuple[Ints, Ints, Floats, Longs],
    form: int,
    rates: Floats,
    length_parts: Floats,
    counts: tuple[Ints, Ints, Ints],
) -> None:
    """Count the posts of one segment that hold pairs of terms, and those of them that stand before a given post.

    The rarer term comes first. Counted are all holders, those with a better score than the post that is asked about,
    and those with the same score and a smaller order.
    """
    starts, documents, frequencies = postings
    lengths, deleted, precedence = about
    ones, others, scores, orders = asked
    holders, better, before = counts
    for at in range(ones.size):
        one, other = ones[at], others[at]
        if one + 1 >= starts.size or other + 1 >= starts.size:
            continue
        there, end = starts[other], starts[other + 1]
        search = end - there > MUCH * (starts[one + 1] - starts[one])
        for place in range(starts[one], starts[one + 1]):
            document = documents[place]
            if search:
                there += np.searchsorted(documents[there:end], document)
            else:
                while there < end and documents[there] < document:
                    there += 1
            if there == end:
                break
            if documents[there] != document or deleted[document]:
                continue
            holders[at] += 1
            part = length_parts[lengths[document]]
            score = match_part(form, frequencies[place], rates[one], part)
            score += match_part(form, frequencies[there], rates[other], part)
            if score > 0.0:
                score += length_norm(form, 2, part)
                better[at] += score > scores[at]
                before[at] += score == scores[at] and precedence[document] < orders[at]


@njit(cache=True, nogil=True)
def count_partial(
    rows: Postings,
    first: int,
    asked: tuple[Ints, Floats, Longs],
    singles: tuple[Longs, Floats, Longs, Ints],
    counts: tuple[Ints, Ints],
) -> None:
    """The same of posts of one segment that hold one of the terms and not the ``missing`` one."""
    row_starts, terms, _ = rows
    missing, scores, orders = asked
    starts, their_scores, their_orders, posts = singles
    better, before = counts
    for at in range(missing.size):
        for place in range(starts[at], starts[at + 1]):
            if their_scores[place] < scores[at]:
                break
            document = posts[place] - first
            if not 0 <= document < row_starts.size - 1:
                continue
            both = False
            for there in range(row_starts[document], row_starts[document + 1]):
                both |= terms[there] == missing[at]
            if not both:
                better[at] += their_scores[place] > scores[at]
                before[at] += their_scores[place] == scores[at] and their_orders[place] < orders[at]
