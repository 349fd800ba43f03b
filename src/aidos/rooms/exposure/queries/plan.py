"""How the work is cut: chunks of first words, and buckets of posts, of about equal work each.

A chunk is as much as a thread computes and writes at once. Buckets are where its rows are dealt to, so that those of
some posts can be read back from all chunks. How many rows a post will have is estimated: those of its own pairs of
words, and those of every list it tops, since the best posts of a frequent word fill the lists of its rare partners.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.rooms.exposure.queries.flat import Flat
from aidos.rooms.exposure.queries.kernels.rows import MOST_QUERIES

__all__ = ["Plan", "make_plan"]

Longs = NDArray[np.int64]

RESULTS = 12_000_000
"""Results of a chunk, at most, as long as it has more than one first word."""
PAIRS = 16_000_000
"""Pairs of words in posts that a chunk touches, likewise."""
BUCKET_ROWS = 500_000
BUCKETS = 1024
FILLED = 0.25
"""Of the pairs that begin with a word so many, about, are distinct; it decides only how even the buckets are."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Kept beside the work, so that whoever goes on cuts it likewise."""

    words: Longs
    """Where chunks begin, and the number of words."""
    room: Longs
    """Queries of each chunk, at most."""
    posts: Longs
    """Where buckets begin, and the number of posts."""


def make_plan(flat: Flat, depth: int, members: NDArray[np.int32], first_posts: Longs) -> Plan:
    """Cut the work of a collection; ``depth`` is how many results a query has."""
    if flat.words > MOST_QUERIES:
        raise InputError(
            f"the posts have {flat.words:,} distinct words, more than {MOST_QUERIES:,}",
            hint="compute parts of the community, or leave rare forms out with a stemmer",
        )
    behind = np.arange(flat.words, dtype=np.int64)[::-1]
    queries = 1 + np.minimum(flat.work, behind)
    words = _chunks(queries * depth, flat.work)
    room = np.add.reduceat(queries, words[:-1]) if len(words) > 1 else np.zeros(0, dtype=np.int64)
    return Plan(words=words, room=room, posts=_buckets(flat, depth, members, first_posts))


def _chunks(results: Longs, pairs: Longs) -> Longs:
    """Cut before a chunk has too many results or pairs; one word is never cut."""
    results, pairs = np.cumsum(results), np.cumsum(pairs)
    bounds = [0]
    while bounds[-1] < len(results):
        begin = bounds[-1]
        before = (results[begin - 1], pairs[begin - 1]) if begin else (0, 0)
        end = min(
            np.searchsorted(results, before[0] + RESULTS, side="right"),
            np.searchsorted(pairs, before[1] + PAIRS, side="right"),
        )
        bounds.append(max(begin + 1, int(end)))
    return np.array(bounds, dtype=np.int64)


def _buckets(flat: Flat, depth: int, members: NDArray[np.int32], first_posts: Longs) -> Longs:
    sizes = np.diff(flat.rows[0])
    weights = np.empty(len(sizes))
    weights[flat.numbers] = 1 + sizes * (sizes + 1) / 2
    partners = FILLED * np.minimum(np.diff(flat.postings[0]) * sizes.mean() if len(sizes) else 0, flat.words)
    rows = flat.two[1][:, :depth]
    there = rows >= 0
    lists = np.bincount(flat.numbers[rows[there]], np.repeat(partners, there.sum(axis=1)), len(sizes))
    ends = np.cumsum(weights + lists)
    number = int(np.clip(ends[-1] / BUCKET_ROWS, 1, BUCKETS))
    bounds = [0]
    for goal in ends[-1] * np.arange(1, number) / number:
        post = int(np.searchsorted(ends, goal))
        start = int(first_posts[members[post]])
        # Where the member fits, the bucket ends before them: then their rows stand in one file.
        bounds.append(start if start > bounds[-1] else max(post, bounds[-1]))
    return np.unique(np.array([*bounds, len(sizes)], dtype=np.int64))
