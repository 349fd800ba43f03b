"""How well documents fit histories, for many (query, history) pairs: the terms of each hit are read once.

A table holds ln P(w|U) of every word; the words of one history are written over it, used for all queries that belong
to the history, and taken back. Words that no history holds are minus infinity in the table and are passed over.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.model.retrieval.kernels.matching import GRID, rise, sort_heap

__all__ = ["MEAN", "STANDARD", "SUM", "combine", "fit_histories"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

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
