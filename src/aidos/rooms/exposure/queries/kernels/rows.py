"""From queries with their posts to posts with their queries, by counting alone.

Results come in the order of their queries. They are dealt out to buckets of posts and written away; later the rows of
some buckets are dealt out to their posts. Both steps keep the order within, so the rows of a post stand by query, and
nothing is ever compared. A row is packed while it is dealt, so that it goes to one place in memory instead of many.

How many queries begin with a word, and how many results they have, is counted here too, without ranking anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = [
    "MOST_QUERIES",
    "are_packed",
    "count_by_bucket",
    "count_by_post",
    "count_followers",
    "deal_to_buckets",
    "deal_to_posts",
    "unpack",
]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
POST_BITS = 31
MARK_BITS = 8
MOST_QUERIES = 1 << 24
"""A packed row holds the post, the mark, and the number of the query within its chunk, which must be less than this."""
WHOLE = 128
RANK = 127
"""A row's mark is its rank, and whether the post holds all words."""


@njit(cache=True, nogil=True)
def count_by_bucket(posts: Ints, buckets: Shorts, bounds: Longs) -> None:
    """Where the rows of each bucket begin."""
    bounds[:] = 0
    for post in posts:
        bounds[buckets[post] + 1] += 1
    for bucket in range(1, len(bounds)):
        bounds[bucket] += bounds[bucket - 1]


@njit(cache=True, nogil=True)
def deal_to_buckets(results: tuple[Longs, Ints, Bytes], buckets: Shorts, cursor: Longs, into: Longs) -> None:
    """Write every result to its bucket: the query, the mark and the post."""
    starts, posts, whole = results
    for query in range(len(starts) - 1):
        for at in range(starts[query], starts[query + 1]):
            post = posts[at]
            bucket = buckets[post]
            mark = (at - starts[query] + 1) | (np.int64(whole[at]) * WHOLE)
            into[cursor[bucket]] = (np.int64(query) << (POST_BITS + MARK_BITS)) | (mark << POST_BITS) | np.int64(post)
            cursor[bucket] += 1


@njit(cache=True, nogil=True)
def are_packed(rows: Longs, first: int, end: int, queries: int) -> bool:
    """Whether rows are of posts and queries that there are."""
    for row in rows:
        post = row & ((1 << POST_BITS) - 1)
        if row < 0 or not first <= post < end or row >> (POST_BITS + MARK_BITS) >= queries:
            return False
    return True


@njit(cache=True, nogil=True)
def count_by_post(rows: Longs, first: int, counts: Longs) -> None:
    """Add the rows of each post; ``counts`` begins with the post ``first``."""
    for row in rows:
        counts[(row & ((1 << POST_BITS) - 1)) - first] += 1


@njit(cache=True, nogil=True)
def deal_to_posts(rows: Longs, first: int, queries: Ints, cursor: Longs, into: Ints) -> None:
    """Write rows of one chunk behind those of the chunks before, post by post, with what is known of their queries."""
    for row in rows:
        post, query = (row & ((1 << POST_BITS) - 1)) - first, row >> (POST_BITS + MARK_BITS)
        there = cursor[post]
        cursor[post] = there + 1
        into[there, 0], into[there, 1], into[there, 2] = queries[query, 0], queries[query, 1], queries[query, 2]
        into[there, 3] = (queries[query, 3] << MARK_BITS) | ((row >> POST_BITS) & 255)


@njit(cache=True, nogil=True)
def unpack(
    rows: Ints,
    counts: Longs,
    first: int,
    members: Ints,
    into: tuple[Ints, Ints, Ints, Ints, Bytes, Bytes, Bytes, Ints, Bytes],
) -> None:
    """Write the columns of packed rows that stand by post."""
    into_members, into_posts, firsts, seconds, ranks, whole, certain, documents, evenness = into
    begin = 0
    for post in range(len(counts)):
        end = begin + counts[post]
        into_members[begin:end] = members[first + post]
        into_posts[begin:end] = first + post
        begin = end
    for at in range(len(rows)):
        firsts[at], seconds[at], documents[at] = rows[at, 0], rows[at, 1], rows[at, 2]
        packed = rows[at, 3]
        rank = packed & RANK
        ranks[at], whole[at] = rank, (packed & WHOLE) != 0
        certain[at] = rank <= packed >> (2 * MARK_BITS)
        evenness[at] = (packed >> MARK_BITS) & 255


@njit(cache=True, nogil=True)
def count_followers(
    word: int, depth: int, both: int, rows: tuple[Longs, Ints], postings: tuple[Longs, Ints, Ints], counts: Ints
) -> tuple[int, int]:
    """Distinct words behind this one in some post, and what the lists of these pairs hold together.

    ``both`` is whether results hold both words; ``counts`` are zeros, by word, and are zeros again afterwards.
    """
    row_starts, words = rows
    starts, documents, places = postings
    holders = starts[word + 1] - starts[word]
    for at in range(starts[word], starts[word + 1]):
        row = documents[at]
        for there in range(row_starts[row] + places[at] + 1, row_starts[row + 1]):
            counts[words[there]] += 1
    queries, results = 0, 0
    for at in range(starts[word], starts[word + 1]):
        row = documents[at]
        for there in range(row_starts[row] + places[at] + 1, row_starts[row + 1]):
            other = words[there]
            if counts[other] == 0:
                continue
            matches = counts[other] if both else holders + starts[other + 1] - starts[other] - counts[other]
            queries, results = queries + 1, results + min(depth, matches)
            counts[other] = 0
    return queries, results
