"""The exact results of chosen queries, straight from the posts: what changes, drafts and remedies are computed from.

A full computation visits every pair of words once; here only some are wanted, so each word is scanned for itself: its
posts are walked, and every other word of such a post is a partner. Posts with both words come from the scan; those
with one word from the best posts of each single word under the score of a two-word query, which suffice: a post that
k + 1 others beat by one word alone is beaten by them whatever else they hold, since a second word never takes away.

Words are terms of the index here; posts are numbered through all shards. Nothing is kept: ask again after a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import plainly
from aidos.model.retrieval.threads import in_chunks
from aidos.rooms.exposure.queries.kernels.live import (
    Postings,
    best_of_term,
    count_partners,
    count_term,
    describe_lists,
    fill_partners,
    forget_slots,
    merge_singles,
    score_posts,
)
from aidos.rooms.exposure.queries.records import NO_TERM, Lists, Singles

__all__ = ["Ground", "Shard", "SinglesOf", "Wanted", "apart_lists", "pair_lists", "scores_of", "term_lists"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

NOTHING = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
FEW = 100
"""Posts that are scored without waking the compiler: those of one query."""
PIECE = 1 << 16
"""Pairs that are merged at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shard:
    """A run of posts: of the index, or those added since."""

    first: int
    """The number of its first post."""
    postings: Postings
    """By term: starts, posts within the shard, frequencies."""
    rows: Postings
    """By post: starts, terms, frequencies."""
    about: tuple[Ints, Marks, Longs]
    """By post: its length, whether it is gone, its order among equals."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ground:
    """All that scores depend on."""

    shards: tuple[Shard, ...]
    form: int
    """How parts of a score go together; see `aidos.model.retrieval.scorers`."""
    k: int
    both_only: bool
    """Whether a post must hold both words of a pair."""
    rates: Floats
    """By term: what a match is worth."""
    length_parts: Floats
    """By length."""

    def spread(self, term: int) -> int:
        """About how many posts hold a word: deleted ones count."""
        starts = [shard.postings[0] for shard in self.shards]
        return sum(int(each[term + 1] - each[term]) for each in starts if term + 1 < len(each))


Wanted: TypeAlias = tuple[int, Ints | None]
"""A word and its partners, each once; None for all it has."""
SinglesOf: TypeAlias = Callable[[Ints], Singles]
"""Gives the best posts of words under the score of a two-word query."""


def term_lists(ground: Ground, terms: Ints, *, words: int = 1, threads: int | None = None) -> Lists:
    """The results of one-word queries; with ``words`` 2, of two-word queries were the one word all that posts hold."""
    room = ground.k + 1
    scores, orders = np.empty((len(terms), room)), np.empty((len(terms), room), dtype=np.int64)
    posts, sizes = np.empty((len(terms), room), dtype=np.int32), np.zeros(len(terms), dtype=np.int64)
    documents = np.zeros(len(terms), dtype=np.int32)

    def prepare() -> Callable[[int, int], None]:
        def fill(begin: int, end: int) -> None:
            for at in range(begin, end):
                term = int(terms[at])
                row, how = (scores[at], orders[at], posts[at]), (term, ground.form, words, ground.rates[term])
                for shard in ground.shards:
                    given = (shard.postings, shard.about, shard.first, *how, ground.length_parts, *row)
                    sizes[at] = best_of_term(*given, sizes[at])
                    documents[at] += count_term(shard.postings, shard.about[1], term)

        return fill

    in_chunks(prepare, len(terms), 1, threads)
    there = np.arange(room) < sizes[:, None]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    certain, evenness = _describe(ground, starts, scores[there])
    return Lists(
        ones=terms,
        others=np.full(len(terms), NO_TERM, dtype=np.int32),
        documents=documents,
        certain=certain,
        evenness=evenness,
        starts=starts,
        scores=scores[there],
        orders=orders[there],
        posts=posts[there],
        whole=np.ones(int(starts[-1]), dtype=np.bool_),
    )


def pair_lists(
    ground: Ground, wanted: Sequence[Wanted], singles: SinglesOf, *, threads: int | None = None
) -> list[Lists]:
    """The results of all pairs that are wanted, for each word with its partners; the rarer word is scanned fastest."""
    made: list[Lists] = [Lists.empty()] * len(wanted)
    # The longest scans first, so that no thread is left with one at the end.
    turns = sorted(range(len(wanted)), key=lambda at: -ground.spread(wanted[at][0]))

    def prepare() -> Callable[[int, int], None]:
        scan = _Scan(ground)

        def fill(begin: int, end: int) -> None:
            for turn in turns[begin:end]:
                made[turn] = scan.lists(*wanted[turn], singles)

        return fill

    in_chunks(prepare, len(wanted), 1, threads)
    return made


def apart_lists(ground: Ground, term: int, partners: Ints | None, singles: SinglesOf) -> Lists:
    """The results of a word with partners that no post holds beside it; None stands for a word that no post holds."""
    strange = partners is None
    named = np.full(1, NO_TERM, dtype=np.int32) if partners is None else partners
    both = (np.zeros(len(named) + 1, np.int64), np.zeros(len(named), np.int32), np.zeros(0), *NOTHING)
    theirs = _no_singles(len(named)) if strange or ground.both_only else singles(named)
    return _merged(ground, term, named, both, (_single(ground, term, singles), theirs))


def scores_of(ground: Ground, posts: Ints, ones: Ints, others: Ints, *, words: int) -> tuple[Floats, Longs, Ints]:
    """The scores of posts for queries, their orders, and how many of the query's words each holds."""
    out = (np.zeros(len(posts)), np.zeros(len(posts), dtype=np.int64), np.zeros(len(posts), dtype=np.int32))
    with plainly() if len(posts) <= FEW else nullcontext():
        for shard in ground.shards:
            asked, how = (posts, ones, others), (ground.form, words, ground.rates, ground.length_parts)
            score_posts(shard.rows, shard.about, shard.first, asked, *how, out)
    return out


class _Scan:
    """A thread's memory: which partner has which slot."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        terms = len(ground.rates)
        # Zeros cost nothing until they are touched: most scans meet few of all words.
        self._slots = np.zeros(terms, dtype=np.int32)
        self._partners = np.empty(terms, dtype=np.int32)
        self._counts = np.zeros(terms, dtype=np.int32)

    def lists(self, term: int, partners: Ints | None, singles: SinglesOf) -> Lists:
        ground, number = self._ground, 0
        if partners is not None:
            number = len(partners)
            self._partners[:number] = partners
            self._slots[partners] = np.arange(1, number + 1)
            self._counts[:number] = 0
        for shard in ground.shards:
            seen = (self._slots, self._partners, self._counts, number)
            number = count_partners(shard.postings, shard.rows, shard.about[1], term, partners is None, *seen)
        counts, partners = self._counts[:number].copy(), self._partners[:number].copy()
        starts = np.concatenate([[0], np.cumsum(np.minimum(counts, ground.k + 1))]).astype(np.int64)
        sizes, size = np.zeros(number, dtype=np.int32), int(starts[-1])
        both = (starts, sizes, np.empty(size), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int32))
        for shard in ground.shards:
            how = (term, ground.form, ground.rates, ground.length_parts, self._slots)
            fill_partners(shard.postings, shard.rows, shard.about, shard.first, *how, *both)
        forget_slots(self._slots, partners, number)
        mine, parts = _single(ground, term, singles), []
        for at in range(0, number, PIECE):
            piece = partners[at : at + PIECE]
            theirs = _no_singles(len(piece)) if ground.both_only else singles(piece)
            lists = _merged(ground, term, piece, _cut(both, at), (mine, theirs))
            parts.append(replace(lists, documents=counts[at : at + PIECE]))
        return Lists.concatenate(parts) if parts else Lists.empty()


def _merged(ground: Ground, term: int, partners: Ints, both: Any, singles: tuple[Singles, Singles]) -> Lists:
    """The lists of a word with each of its partners; how many posts hold both is not told."""
    room, number = ground.k + 1, len(partners)
    mine, theirs = singles
    starts, whole = np.zeros(number + 1, dtype=np.int64), np.empty(number * room, dtype=np.bool_)
    scores, orders = np.empty(number * room), np.empty(number * room, dtype=np.int64)
    posts = np.empty(number * room, dtype=np.int32)
    own, others = (mine.scores, mine.orders, mine.posts), (theirs.starts, theirs.scores, theirs.orders, theirs.posts)
    merge_singles(both, own, others, (starts, scores, orders, posts, whole), room)
    size = int(starts[-1])
    certain, evenness = _describe(ground, starts, scores)
    return Lists(
        ones=np.full(number, term, dtype=np.int32),
        others=partners,
        documents=np.zeros(number, dtype=np.int32),
        certain=certain,
        evenness=evenness,
        starts=starts,
        scores=scores[:size].copy(),
        orders=orders[:size].copy(),
        posts=posts[:size].copy(),
        whole=whole[:size].copy(),
    )


def _single(ground: Ground, term: int, singles: SinglesOf) -> Singles:
    return _no_singles(1) if ground.both_only else singles(np.array([term], dtype=np.int32))


def _cut(both: Any, at: int) -> Any:
    starts, sizes, scores, orders, posts = both
    return starts[at : at + PIECE + 1], sizes[at : at + PIECE], scores, orders, posts


def _no_singles(number: int) -> Singles:
    nothing = np.zeros(0, dtype=np.int64)
    return Singles(
        starts=np.zeros(number + 1, np.int64), scores=np.zeros(0), orders=nothing, posts=nothing.astype(np.int32)
    )


def _describe(ground: Ground, starts: Longs, scores: Floats) -> tuple[Bytes, Bytes]:
    certain, evenness = np.zeros(len(starts) - 1, dtype=np.uint8), np.zeros(len(starts) - 1, dtype=np.uint8)
    describe_lists(starts, scores, ground.k, certain, evenness)
    return certain, evenness
