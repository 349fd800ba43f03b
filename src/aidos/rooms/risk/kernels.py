"""Compiled loops of the risk measures and over what is kept of people: plain arrays in, plain arrays out.

Nothing in them waits for the interpreter.
An entry's similarities do not depend on which entries stand beside it, to the last digit: a new entry on its own gives
the number that a computation from the beginning would give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = [
    "bow_similarities",
    "count_words",
    "keep_best",
    "keep_bucketed",
    "keep_nearest",
    "keep_top_buckets",
    "latent_similarities",
    "mark_presence",
    "merge",
    "note_bucket",
    "vector_similarities",
    "word_cosines",
]

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

PAIRWISE = 64
"""Up to so many words an entry's length goes by the products of its pairs of words, which no topic changes."""
ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken many at a time; the order is the same whenever the numbers are."""


@njit(cache=True, nogil=True)
def count_words(terms: Ints, starts: Longs, into_starts: Longs, words: Ints, frequencies: Ints) -> int:
    """Each entry's words once, rising, with how often they stand there; how many were written."""
    used = 0
    into_starts[0] = 0
    for entry in range(len(starts) - 1):
        ordered = np.sort(terms[starts[entry] : starts[entry + 1]])
        for place in range(len(ordered)):
            if place > 0 and ordered[place] == ordered[place - 1]:
                frequencies[used - 1] += 1
            else:
                words[used] = ordered[place]
                frequencies[used] = 1
                used += 1
        into_starts[entry + 1] = used
    return used


@njit(cache=True, nogil=True)
def mark_presence(starts: Longs, words: Ints, column_of: Ints, found: Floats) -> None:
    """Write 1 where an entry has the word of a column, 0 elsewhere."""
    found[:] = 0
    for entry in range(len(starts) - 1):
        for place in range(starts[entry], starts[entry + 1]):
            column = column_of[words[place]]
            if column >= 0:
                found[entry, column] = 1


@njit(cache=True, nogil=True)
def bow_similarities(
    starts: Longs,
    words: Ints,
    frequencies: Ints,
    is_feature: NDArray[np.bool_],
    topic_starts: Longs,
    topics: Ints,
    lengths: Floats,
    found: Floats,
) -> None:
    """Cosines of entries (frequencies of the features) and topics (binary, of such lengths).

    The topics of word w are ``topics[topic_starts[w] : topic_starts[w + 1]]``.
    """
    found[:] = 0
    for entry in range(len(starts) - 1):
        square = np.float32(0)
        for place in range(starts[entry], starts[entry + 1]):
            word = words[place]
            if is_feature[word]:
                count = np.float32(frequencies[place])
                square += count * count
                for at in range(topic_starts[word], topic_starts[word + 1]):
                    found[entry, topics[at]] += count
        if square > 0:
            length = np.sqrt(square)
            for column in range(found.shape[1]):
                if found[entry, column] > 0:
                    found[entry, column] = min(np.float32(1), found[entry, column] / (length * lengths[column]))


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def latent_similarities(mixtures: Floats, dimensions: Longs, found: Floats) -> None:
    """Cosines of mixtures of latent topics and single latent topics; 0 for mixtures of nothing."""
    for entry in range(len(mixtures)):
        square = np.float32(0)
        for topic in range(mixtures.shape[1]):
            square += mixtures[entry, topic] * mixtures[entry, topic]
        scale = np.float32(1) / np.sqrt(square) if square > 0 else np.float32(0)
        for column in range(len(dimensions)):
            found[entry, column] = min(np.float32(1), mixtures[entry, dimensions[column]] * scale)


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def word_cosines(rows: Ints, matrix: Floats, topics: Floats, found: Floats) -> None:
    """The cosine of every word and every topic, both of length 1; words without a vector (row -1) have 0."""
    for word in range(len(rows)):
        if rows[word] < 0:
            found[word] = 0
            continue
        vector = matrix[rows[word]]
        for topic in range(len(topics)):
            total = np.float32(0)
            for at in range(len(vector)):
                total += vector[at] * topics[topic, at]
            found[word, topic] = total


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def pairwise_squares(known: Ints, size: int, rows: Ints, matrix: Floats, cosines: Floats, squares: Floats) -> None:
    """|sum of cosine * vector|^2 for every topic, by the products of pairs of words."""
    for one in range(size):
        first, own = matrix[rows[known[one]]], cosines[known[one]]
        for topic in range(len(squares)):
            squares[topic] += own[topic] * own[topic]
        for other in range(one):
            second, its = matrix[rows[known[other]]], cosines[known[other]]
            product = np.float32(0)
            for at in range(len(first)):
                product += first[at] * second[at]
            product *= np.float32(2)
            for topic in range(len(squares)):
                squares[topic] += product * own[topic] * its[topic]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def summed_squares(
    known: Ints, size: int, rows: Ints, matrix: Floats, cosines: Floats, total: Floats, squares: Floats
) -> None:
    """The same by adding the vectors up, topic by topic: for entries of many words."""
    for topic in range(len(squares)):
        total[:] = 0
        for one in range(size):
            weight, vector = cosines[known[one], topic], matrix[rows[known[one]]]
            for at in range(len(total)):
                total[at] += weight * vector[at]
        square = np.float32(0)
        for at in range(len(total)):
            square += total[at] * total[at]
        squares[topic] = square


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def vector_similarities(starts: Longs, words: Ints, rows: Ints, matrix: Floats, cosines: Floats, found: Floats) -> None:
    """Cosines of topics and entries in their context, the entry being the sum of cosine(word, topic) * vector(word).

    Its product with the topic is the sum of squared cosines, so that only its length has to be worked out.
    """
    longest = 0
    for entry in range(len(starts) - 1):
        longest = max(longest, starts[entry + 1] - starts[entry])
    known = np.empty(longest, dtype=np.int32)
    squares = np.empty(found.shape[1], dtype=np.float32)
    total = np.empty(matrix.shape[1], dtype=np.float32)
    for entry in range(len(starts) - 1):
        size = 0
        for place in range(starts[entry], starts[entry + 1]):
            if rows[words[place]] >= 0:
                known[size] = words[place]
                size += 1
        squares[:] = 0
        if size <= PAIRWISE:
            pairwise_squares(known, size, rows, matrix, cosines, squares)
        else:
            summed_squares(known, size, rows, matrix, cosines, total, squares)
        towards = found[entry]
        towards[:] = 0
        for one in range(size):
            own = cosines[known[one]]
            for topic in range(len(towards)):
                towards[topic] += own[topic] * own[topic]
        for topic in range(len(towards)):
            # By Cauchy and Schwarz the length is not below the product; where rounding says so, the cosine is 1.
            length = max(np.sqrt(max(squares[topic], np.float32(0))), towards[topic])
            towards[topic] = towards[topic] / length if length > 0 else np.float32(0)


@njit(cache=True, nogil=True)
def keep_best(values: Floats, rows: Longs, best: Floats) -> None:
    """Raise row ``rows[i]`` of the best values to those of entry i where these are higher."""
    for entry in range(len(values)):
        own = best[rows[entry]]
        for column in range(values.shape[1]):
            own[column] = max(own[column], values[entry, column])


@njit(cache=True, nogil=True)
def note_bucket(bucket: int, value: float, buckets: Longs, highest: Floats) -> None:
    """Note an entry's value in its bucket, where only the highest buckets are kept; all values begin at 0.

    A bucket that is not kept has no value above any that is, so that nothing else has to be remembered: entries may
    come one at a time and in any order.
    """
    least = 0
    for place in range(len(highest)):
        if highest[place] > 0 and buckets[place] == bucket:
            highest[place] = max(highest[place], value)
            return
        if highest[place] < highest[least]:
            least = place
    if value > highest[least]:
        highest[least] = value
        buckets[least] = bucket


@njit(cache=True, nogil=True)
def keep_top_buckets(
    values: Floats, columns: Longs, rows: Longs, entry_buckets: Longs, buckets: Longs, highest: Floats
) -> None:
    """Note all entries: person, column and place in ``buckets`` and ``highest``."""
    for entry in range(len(values)):
        for place in range(len(columns)):
            value = values[entry, columns[place]]
            if value > 0:
                row = rows[entry]
                note_bucket(entry_buckets[entry], value, buckets[row, place], highest[row, place])


Doubles = NDArray[np.float64]


@njit(cache=True, nogil=True)
def keep_nearest(values: Floats, asked: Longs, rows: Longs, first_entry: int, best: Floats, nearest: Ints) -> None:
    """Raise the best values where an entry's are higher, and note the entry where a topic was asked for."""
    for entry in range(len(values)):
        row = rows[entry]
        for place in range(len(asked)):
            if values[entry, asked[place]] > best[row, asked[place]]:
                nearest[row, place] = first_entry + entry
        for column in range(values.shape[1]):
            best[row, column] = max(best[row, column], values[entry, column])


@njit(cache=True, nogil=True)
def keep_bucketed(
    values: Floats,
    asked: Longs,
    rows: Longs,
    entry_buckets: Longs,
    first_entry: int,
    buckets: Longs,
    highest: Floats,
    bucketed: Ints,
) -> None:
    """Note entries in their buckets, and which entry each kept value is of."""
    before = np.empty(highest.shape[2], dtype=np.float32)
    for entry in range(len(values)):
        row = rows[entry]
        for place in range(len(asked)):
            value = values[entry, asked[place]]
            if value > 0:
                before[:] = highest[row, place]
                note_bucket(entry_buckets[entry], value, buckets[row, place], highest[row, place])
                for kept in range(len(before)):
                    if highest[row, place, kept] != before[kept]:
                        bucketed[row, place, kept] = first_entry + entry


@njit(cache=True, nogil=True)
def merge(ordered: Doubles, gone: Doubles, come: Doubles, found: Doubles) -> int:
    """Write the sorted values that stay and those that come, in order; how many, or -1 where one to go is not there.

    There must be room for all that are there and all that come.
    """
    at = 0
    place = 0
    left = 0
    new = 0
    while left < len(gone) or new < len(come):
        leaves = len(ordered)
        if left < len(gone):
            leaves = place + np.searchsorted(ordered[place:], gone[left])
            if leaves == len(ordered) or ordered[leaves] != gone[left]:
                return -1
        enters = place + np.searchsorted(ordered[place:], come[new]) if new < len(come) else len(ordered)
        stop = min(leaves, enters)
        found[at : at + stop - place] = ordered[place:stop]
        at += stop - place
        place = stop
        if new < len(come) and enters <= leaves:
            found[at] = come[new]
            at += 1
            new += 1
        else:
            place += 1
            left += 1
    found[at : at + len(ordered) - place] = ordered[place:]
    return at + len(ordered) - place
