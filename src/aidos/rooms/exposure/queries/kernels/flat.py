"""The posts as flat rows, made for the sweep: words by number, posts by who comes first when scores are equal.

Both numberings save work later. Rows whose words rise are walked from a word to the more frequent ones; lists of posts
that come in the order of ties need no second key, since an equal score that comes later stands behind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.exposure.queries.kernels.scoring import match_part

__all__ = ["fill_rows", "invert_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
HALF = 32
FEW = 48
"""Words of a row that are sorted by inserting them one by one."""


@njit(cache=True, nogil=True)
def sort_keys(keys: Longs) -> None:
    """Small rows by insertion, the others by the library."""
    if len(keys) > FEW:
        keys.sort()
        return
    for at in range(1, len(keys)):
        key, here = keys[at], at
        while here > 0 and keys[here - 1] > key:
            keys[here] = keys[here - 1]
            here -= 1
        keys[here] = key


@njit(cache=True, nogil=True)
def fill_rows(
    posts: tuple[int, int, int],
    forward: tuple[Longs, Ints, Ints, Ints],
    ranks: Ints,
    word_numbers: Ints,
    scoring: tuple[int, Floats, Floats],
    rows: tuple[Longs, Ints, Floats],
) -> None:
    """Write the rows of some posts of a segment: words by number, and what each adds to a score.

    ``posts`` says which, and the number of the segment's first; ``ranks`` gives the place of each post in the order of
    ties, which is where its row stands.
    """
    begin, end, first = posts
    starts, terms, frequencies, lengths = forward
    form, rates, length_parts = scoring
    row_starts, words, parts = rows
    keys = np.empty(np.diff(starts[begin : end + 1]).max() if end > begin else 0, dtype=np.int64)
    for post in range(begin, end):
        size = starts[post + 1] - starts[post]
        for at in range(size):
            number = np.int64(word_numbers[terms[starts[post] + at]])
            keys[at] = (number << HALF) | np.int64(frequencies[starts[post] + at])
        sort_keys(keys[:size])
        into = row_starts[ranks[first + post]]
        length_part = length_parts[lengths[post]]
        for at in range(size):
            word = keys[at] >> HALF
            words[into + at] = word
            parts[into + at] = match_part(form, keys[at] & 0x7FFFFFFF, rates[word], length_part)


@njit(cache=True, nogil=True)
def invert_rows(
    begin: int, end: int, rows: tuple[Longs, Ints], cursor: Longs, documents: Ints, places: Ints, work: Longs
) -> None:
    """Write the postings of some words: which rows hold them, where in the row, and how many words come behind."""
    row_starts, words = rows
    for row in range(len(row_starts) - 1):
        last = row_starts[row + 1]
        for at in range(row_starts[row], last):
            word = words[at]
            if begin <= word < end:
                documents[cursor[word]] = row
                places[cursor[word]] = at - row_starts[row]
                cursor[word] += 1
                work[word] += last - at - 1
