"""The compiled loops of building and merging an index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = ["add_counts", "append_names", "append_postings", "append_rows", "count_terms", "invert", "subtract", "tally"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@njit(cache=True)
def count_terms(terms: Ints, starts: Longs, last: Longs, row_starts: Longs, frequencies: Ints) -> None:
    """Make each document's terms distinct, in place, in the order in which they come, and count them.

    ``last`` remembers for every term where it was put last; what it holds at first does not matter.
    """
    put = 0
    for document in range(starts.size - 1):
        begin = put
        for place in range(starts[document], starts[document + 1]):
            term = terms[place]
            there = last[term]
            if begin <= there < put and terms[there] == term:
                frequencies[there] += 1
            else:
                terms[put] = term
                frequencies[put] = 1
                last[term] = put
                put += 1
        row_starts[document + 1] = put


@njit(cache=True)
def tally(terms: Ints, starts: Longs) -> None:
    """Where the postings of every term will begin; ``starts`` comes filled with zeros."""
    for place in range(terms.size):
        starts[terms[place] + 1] += 1
    for term in range(1, starts.size):
        starts[term] += starts[term - 1]


@njit(cache=True)
def invert(row_starts: Longs, terms: Ints, frequencies: Ints, starts: Longs, documents: Ints, by_term: Ints) -> None:
    """From the terms of every document to the documents of every term; ``starts`` comes filled with zeros."""
    tally(terms, starts)
    cursor = starts.copy()
    for document in range(row_starts.size - 1):
        for place in range(row_starts[document], row_starts[document + 1]):
            there = cursor[terms[place]]
            documents[there] = document
            by_term[there] = frequencies[place]
            cursor[terms[place]] = there + 1


@njit(cache=True)
def append_postings(
    starts: Longs,
    documents: Ints,
    frequencies: Ints,
    numbers: Ints,
    cursor: Longs,
    into_starts: Longs,
    into_documents: Ints,
    into_frequencies: Ints,
) -> bool:
    """Write a segment's postings behind those of the segments before; ``numbers`` are the new ones, -1 for none.

    False where there are more of them than the rows of the documents say.
    """
    for term in range(starts.size - 1):
        there = cursor[term]
        for place in range(starts[term], starts[term + 1]):
            document = numbers[documents[place]]
            if document >= 0:
                if there >= into_starts[term + 1]:
                    return False
                into_documents[there] = document
                into_frequencies[there] = frequencies[place]
                there += 1
        cursor[term] = there
    return True


@njit(cache=True)
def append_rows(
    row_starts: Longs,
    terms: Ints,
    frequencies: Ints,
    numbers: Ints,
    into_starts: Longs,
    into_terms: Ints,
    into_frequencies: Ints,
) -> None:
    """Write a segment's documents behind those of the segments before."""
    for document in range(row_starts.size - 1):
        new = numbers[document]
        if new >= 0:
            there = into_starts[new]
            for place in range(row_starts[document], row_starts[document + 1]):
                into_terms[there] = terms[place]
                into_frequencies[there] = frequencies[place]
                there += 1
            into_starts[new + 1] = there


@njit(cache=True)
def append_names(offsets: Longs, store: Bytes, numbers: Ints, into_offsets: Longs, into_store: Bytes) -> None:
    """Write the names of a segment's documents behind those of the segments before."""
    for document in range(offsets.size - 1):
        new = numbers[document]
        if new >= 0:
            there = into_offsets[new]
            for place in range(offsets[document], offsets[document + 1]):
                into_store[there] = store[place]
                there += 1
            into_offsets[new + 1] = there


@njit(cache=True)
def subtract(
    row_starts: Longs,
    terms: Ints,
    frequencies: Ints,
    documents: Longs,
    term_counts: Longs,
    document_counts: Longs,
) -> None:
    """Take documents out of the counts of a collection, in place."""
    for document in documents:
        for place in range(row_starts[document], row_starts[document + 1]):
            term_counts[terms[place]] -= frequencies[place]
            document_counts[terms[place]] -= 1


@njit(cache=True)
def add_counts(starts: Longs, frequencies: Ints, term_counts: Longs, document_counts: Longs) -> None:
    """Add a segment without deleted documents to the counts of a collection, in place."""
    for term in range(starts.size - 1):
        document_counts[term] += starts[term + 1] - starts[term]
        for place in range(starts[term], starts[term + 1]):
            term_counts[term] += frequencies[place]
