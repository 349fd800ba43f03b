"""How well objects fit among others: the mean similarity of an object with the rest of its profile or account.

Coherence of o in S is sum of sim(o, o') over o' in S other than o, divided by |S| - 1; an object alone has coherence 0.
All objects are done at once, by counting instead of comparing pairs; only weighted Jaccard compares the different
topic vectors of each group with each other.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.shield.mediator.kernels.pairs import summed_jaccard
from aidos.shield.mediator.kernels.vectors import Rows
from aidos.shield.mediator.objects import MOST_NUMBER, Objects, TopicVectors

__all__ = ["Similarity", "coherences"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Similarity = Literal["same-topic", "cosine", "jaccard"]


def coherences(objects: Objects, groups: Longs, similarity: Similarity) -> Floats:
    """The coherence of each object among the objects of its group: its person's, or its account's."""
    if len(groups) != len(objects):
        raise InputError(f"{len(objects)} objects but {len(groups)} groups", hint="give one group per object")
    sizes = np.bincount(groups)[groups] if len(groups) else np.zeros(0, dtype=np.int64)
    match similarity:
        case "same-topic":
            others = _same_topic(objects, groups)
        case "cosine":
            others = _cosine(objects.vectors, groups)
        case "jaccard":
            others = _jaccard(objects.vectors, groups)
    return np.where(sizes > 1, others / np.maximum(sizes - 1, 1), 0.0)


def _same_topic(objects: Objects, groups: Longs) -> Floats:
    _, chunks = np.unique(objects.people * (MOST_NUMBER + 1) + objects.labels, return_inverse=True)
    _, cells, counts = np.unique(chunks * (groups.max(initial=0) + 1) + groups, return_inverse=True, return_counts=True)
    return (counts[cells] - 1).astype(np.float64)


def _cosine(vectors: TopicVectors, groups: Longs) -> Floats:
    rows = vectors.unit_rows()
    owners = np.repeat(np.arange(len(vectors)), np.diff(rows.starts))
    topics = rows.topics.max(initial=0) + 1
    _, cells = np.unique(groups[owners] * topics + rows.topics, return_inverse=True)
    sums = np.bincount(cells, weights=rows.weights)
    products = rows.weights * (sums[cells] - rows.weights) if len(cells) else rows.weights
    return np.bincount(owners, weights=products, minlength=len(vectors)).astype(np.float64)


def _jaccard(vectors: TopicVectors, groups: Longs) -> Floats:
    kinds, rows = _kinds(vectors)
    number = len(rows.starts) - 1
    pairs, cells, counts = np.unique(groups * max(number, 1) + kinds, return_inverse=True, return_counts=True)
    held, which = np.divmod(pairs, max(number, 1))
    starts = np.searchsorted(held, np.arange(groups.max(initial=-1) + 2))
    sums = summed_jaccard(rows, starts, which, counts)
    empty = np.diff(vectors.starts) == 0
    return sums[cells] - np.where(empty, 0.0, 1.0)


def _kinds(vectors: TopicVectors) -> tuple[Longs, Rows]:
    """The number of each object's vector among the different ones, and those."""
    rows = vectors.rows()
    numbers: dict[bytes, int] = {}
    kinds = np.empty(len(vectors), dtype=np.int64)
    first: list[int] = []
    for number in range(len(vectors)):
        span = slice(rows.starts[number], rows.starts[number + 1])
        kinds[number] = numbers.setdefault(rows.topics[span].tobytes() + rows.weights[span].tobytes(), len(numbers))
        if kinds[number] == len(first):
            first.append(number)
    return kinds, vectors.taken(np.array(first, dtype=np.int64)).rows()
