"""The best documents of one segment for many queries: a term at a time, and only documents that match are touched.

The full Dirichlet form looks as if every document had to be scored for every word. It is a sum of three parts,

    ln(1 + tf / (mu P))  +  ln(mu / (|d| + mu))  +  ln P

of which only the first depends on the match, so the second can be added once, and the third at the very end. The first
depends on nothing but the word and how often it stands there, so a small table replaces the logarithms; the second is
read from a table by length.

Bounds that close the list of candidates before frequent words come (MaxScore) were tried and did not pay for the
hundred best: lengths vary so much that a bound without the length seldom lies below the last hit.

Every part is rounded to a multiple of 2^-40 before it is added. Sums of such numbers are exact in double precision up
to 2048, so a score does not depend on the order of words or of segments: equal documents get equal scores, bit for
bit, and ties are broken by document order alone.

How well documents fit histories, for many (query, history) pairs: the terms of each hit are read once. A table holds ln
P(w|U) of every word; the words of one history are written over it, used for all queries that belong to the history, and
taken back. Words that no history holds are minus infinity in the table and are passed over.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.model.retrieval.scorers import DIRICHLET, DIRICHLET_MATCHING, JELINEK_MERCER

__all__ = ["MEAN", "STANDARD", "SUM", "combine", "fit_histories", "search_segment", "sort_hits"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]

GRID = 1.5 * 2.0**12
"""To add and to subtract it rounds to a multiple of 2^-40."""
LEAST = 2.0**-40
TABLE = 16
"""Frequencies below it are looked up."""


@njit(cache=True, nogil=True)
def worse(score: float, place: int, other_score: float, other_place: int) -> bool:
    """Whether the first stands below the second: a lower score, or the same and later in document order."""
    # Without a branch, since which of two hits is worse cannot be foreseen.
    return (score < other_score) | ((score == other_score) & (place > other_place))


@njit(cache=True, nogil=True)
def sink(scores: Floats, places: Ints, size: int, score: float, place: int) -> None:
    """Put a hit at the root of a heap, whose root is the worst, and let it sink to where it belongs."""
    here = 0
    while True:
        below = 2 * here + 1
        if below >= size:
            break
        if below + 1 < size:
            below += worse(scores[below + 1], places[below + 1], scores[below], places[below])
        if not worse(scores[below], places[below], score, place):
            break
        scores[here], places[here] = scores[below], places[below]
        here = below
    scores[here], places[here] = score, place


@njit(cache=True, nogil=True)
def rise(scores: Floats, places: Ints, size: int, score: float, place: int) -> None:
    """Add a hit to a heap that still has room."""
    here = size
    while here > 0:
        above = (here - 1) // 2
        if not worse(score, place, scores[above], places[above]):
            break
        scores[here], places[here] = scores[above], places[above]
        here = above
    scores[here], places[here] = score, place


@njit(cache=True, nogil=True)
def sort_heap(scores: Floats, places: Ints, size: int) -> None:
    """Turn a heap into a list, best first."""
    for last in range(size - 1, 0, -1):
        score, place = scores[last], places[last]
        scores[last], places[last] = scores[0], places[0]
        sink(scores, places, last, score, place)


@njit(cache=True, nogil=True)
def sort_hits(scores: Floats, places: Ints, sizes: Longs, constants: Floats) -> None:
    """Turn every heap into a list, and add to its scores what all documents get."""
    for query in range(len(sizes)):
        sort_heap(scores[query], places[query], sizes[query])
        scores[query, : sizes[query]] += constants[query]


@njit(cache=True, nogil=True)
def add_term(
    found: tuple[Ints, Ints],
    lengths: Ints,
    length_parts: Floats,
    form: int,
    rate: float,
    sums: Floats,
    touched: Ints,
    size: int,
) -> int:
    """Add one term of the query to the documents that have it; the number of documents touched so far."""
    documents, frequencies = found
    if form == DIRICHLET_MATCHING:
        return add_if_gain(found, lengths, length_parts, rate, sums, touched, size)
    if form == DIRICHLET:
        table = np.empty(TABLE)
        for often in range(TABLE):
            table[often] = max(LEAST, math.log1p(often * rate) + GRID - GRID)
        for at in range(len(documents)):
            document, often = documents[at], frequencies[at]
            before = sums[document]
            touched[size] = document
            size += before == 0.0
            if often < TABLE:
                sums[document] = before + table[often]
            else:
                sums[document] = before + max(LEAST, math.log1p(often * rate) + GRID - GRID)
        return size
    for at in range(len(documents)):
        document, often = documents[at], frequencies[at]
        part = length_parts[lengths[document]]
        match = math.log1p(often * rate * part) if form == JELINEK_MERCER else rate * (often / (often + part))
        touched[size] = document
        size += sums[document] == 0.0
        sums[document] += max(LEAST, match + GRID - GRID)
    return size


@njit(cache=True, nogil=True)
def add_if_gain(
    found: tuple[Ints, Ints], lengths: Ints, length_parts: Floats, rate: float, sums: Floats, touched: Ints, size: int
) -> int:
    """The same where a document that would lose by the term is passed over."""
    documents, frequencies = found
    table = np.empty(TABLE)
    for often in range(TABLE):
        table[often] = math.log1p(often * rate)
    for at in range(len(documents)):
        document, often = documents[at], frequencies[at]
        match = table[often] if often < TABLE else math.log1p(often * rate)
        gain = match + length_parts[lengths[document]] + GRID - GRID
        if gain > 0.0:
            touched[size] = document
            size += sums[document] == 0.0
            sums[document] += gain
    return size


@njit(cache=True, nogil=True)
def keep_best(
    touched: Ints,
    lengths: Ints,
    deleted: Marks,
    length_parts: Floats,
    words: float,
    sums: Floats,
    first: int,
    scores: Floats,
    places: Ints,
    size: int,
) -> int:
    """Put the best of the touched documents on a heap, and leave the sums at 0 again; the size of the heap."""
    room = len(scores)
    for document in touched:
        score = sums[document]
        sums[document] = 0.0
        # Lengths take away and never add, so most documents are out before their length or their mark is looked at.
        if size == room and score < scores[0]:
            continue
        if words > 0.0:
            score += words * length_parts[lengths[document]] + GRID - GRID
        place = first + document
        if size < room:
            if not deleted[document]:
                rise(scores, places, size, score, place)
                size += 1
        elif worse(scores[0], places[0], score, place) and not deleted[document]:
            sink(scores, places, size, score, place)
    return size


@njit(cache=True, nogil=True)
def search_segment(
    postings: tuple[Longs, Ints, Ints, Ints, Marks],
    first: int,
    asked: tuple[Longs, Longs, Floats],
    length_parts: Floats,
    form: int,
    sums: Floats,
    touched: Ints,
    heaps: tuple[Floats, Ints, Longs],
) -> None:
    """Let the documents of one segment join the heaps of the queries; ``sums`` must be 0 and will be again."""
    starts, documents, frequencies, lengths, deleted = postings
    query_starts, terms, rates = asked
    scores, places, sizes = heaps
    known = len(starts) - 1
    for query in range(len(query_starts) - 1):
        size = 0
        for at in range(query_starts[query], query_starts[query + 1]):
            term = terms[at]
            if term < known:
                begin, end = starts[term], starts[term + 1]
                found = (documents[begin:end], frequencies[begin:end])
                size = add_term(found, lengths, length_parts, form, rates[at], sums, touched, size)
        words = float(query_starts[query + 1] - query_starts[query]) if form == DIRICHLET else 0.0
        sizes[query] = keep_best(
            touched[:size],
            lengths,
            deleted,
            length_parts,
            words,
            sums,
            first,
            scores[query],
            places[query],
            sizes[query],
        )


SUM, MEAN, STANDARD = range(3)


@njit(cache=True, nogil=True)
def load_history(held: tuple[Longs, Longs, Longs], owner: int, smoothing: float, table: Floats) -> float:
    """Write the words of one history over the table; what its length takes away from every word."""
    starts, terms, counts = held
    total = 0
    for at in range(starts[owner], starts[owner + 1]):
        total += counts[at]
        share = math.exp(table[terms[at]])
        table[terms[at]] = math.log(share + counts[at] / smoothing) + GRID - GRID
    return -math.log1p(total / smoothing) + GRID - GRID


@njit(cache=True, nogil=True)
def fit_histories(
    rows: tuple[Longs, Ints, Ints],
    first: int,
    queries: Longs,
    owners: Longs,
    held: tuple[Longs, Longs, Longs],
    smoothing: float,
    table: Floats,
    places: Ints,
    sizes: Longs,
    fits: Floats,
    words: Ints,
) -> None:
    """For some queries, the fit of each hit of one segment and the number of its words that some history holds."""
    row_starts, row_terms, row_frequencies = rows
    starts, terms, _ = held
    last, loaded = first + len(row_starts) - 1, -1
    kept = np.empty(0)
    shift = 0.0
    for row in range(len(queries)):
        query, owner = queries[row], owners[queries[row]]
        if owner != loaded:
            if loaded >= 0:
                table[terms[starts[loaded] : starts[loaded + 1]]] = kept
            kept = table[terms[starts[owner] : starts[owner + 1]]]
            shift = load_history(held, owner, smoothing, table)
            loaded = owner
        for hit in range(sizes[query]):
            place = places[query, hit]
            if place < first or place >= last:
                continue
            fit, known = 0.0, 0
            for at in range(row_starts[place - first], row_starts[place - first + 1]):
                value = table[row_terms[at]]
                if value > -math.inf:
                    fit += row_frequencies[at] * value
                    known += row_frequencies[at]
            fits[row, hit] = fit + known * shift
            words[row, hit] = known
    if loaded >= 0:
        table[terms[starts[loaded] : starts[loaded + 1]]] = kept


@njit(cache=True, nogil=True)
def standardise(values: Floats) -> None:
    """Mean 0 and deviation 1, or all 0 when they are equal."""
    values -= values.mean()
    spread = math.sqrt((values * values).mean())
    for at in range(len(values)):
        values[at] = values[at] / spread if spread > 1e-9 else 0.0


@njit(cache=True, nogil=True)
def per_word(fit: Floats, words: Ints) -> None:
    """Divide by the number of words; where there are none, the average of the others: neither better nor worse."""
    total, judged = 0.0, 0
    for hit in range(len(fit)):
        if words[hit] > 0:
            fit[hit] /= words[hit]
            total += fit[hit]
            judged += 1
    for hit in range(len(fit)):
        if words[hit] == 0:
            fit[hit] = total / max(judged, 1)


@njit(cache=True, nogil=True)
def combine(
    queries: Longs,
    scores: Floats,
    places: Ints,
    sizes: Longs,
    fits: Floats,
    words: Ints,
    query_weight: float,
    normalisation: int,
    into_scores: Floats,
    into_places: Ints,
) -> None:
    """Put the hits of some queries in the order of score and fit together."""
    for row in range(len(queries)):
        query = queries[row]
        size = sizes[query]
        score, fit = scores[query, :size].copy(), fits[row, :size]
        if normalisation != SUM:
            per_word(fit, words[row])
        if normalisation == STANDARD and size > 0:
            standardise(score)
            standardise(fit)
        for hit in range(size):
            both = query_weight * score[hit] + (1.0 - query_weight) * fit[hit]
            rise(into_scores[query], into_places[query], hit, both, places[query, hit])
        sort_heap(into_scores[query], into_places[query], size)
