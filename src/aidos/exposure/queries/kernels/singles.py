"""The best posts of every single word: as a query of its own, and as what one of two words brings.

A post that holds one of two words scores by that word and by its length taken twice. Lists in that order, as long as
the result list and one more, are enough to complete every pair (see `sweep`); lists of the one-word query are not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.exposure.queries.kernels.scoring import insert
from aidos.model.compiled import njit
from aidos.model.retrieval.scorers import DIRICHLET_MATCHING

__all__ = ["UNLISTED", "best_singles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
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
