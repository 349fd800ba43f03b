"""Whoever misses a result list by a tie alone: a search that orders equal scores in another way would return them.

A list ends after k posts. Where the post at place k and the one behind have the same score, it was the rule for ties
that chose between them; the rules of two real searches differ, and a hundred thousand identical posts differ in nothing
else. What is told of a query counts all posts that tie with its last one. What is told of a member counts the queries
whose words all stand in a post of theirs; partial matches that tie are not looked for, since of these there are very
many that say little. A member who wrote much is looked at in part, newest posts and rarest words first: what is told
is then the least there is, and how much was looked at stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import plainly
from aidos.model.retrieval.scorers import DIRICHLET_MATCHING
from aidos.rooms.exposure.queries.kernels.scoring import length_norm, match_part
from aidos.rooms.exposure.queries.kernels.ties import count_holders, count_partial
from aidos.rooms.exposure.queries.live import Ground, Shard, scores_of
from aidos.rooms.exposure.queries.records import NO_TERM, NO_WORD
from aidos.rooms.exposure.queries.state import State

__all__ = ["TiedOut", "count_tied", "tied_out"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
ROWS = 100_000
"""Pairs of post and query that are looked at."""
SMALL = 10_000_000
STEPS = 20_000_000
"""Places in lists of posts that are looked at for them, about."""
SEARCH = 16
"""Such places for each post of a word, where the list of the other one is searched."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TiedOut:
    """Posts and queries, one pair at each place, that another order of ties would bring together."""

    posts: Longs
    first: Ints
    """The word of the query, or that of its two words with the smaller number."""
    second: Ints
    """The other word; NO_WORD where there is none."""
    documents: Ints
    """How many posts hold all words."""
    looked_at: int
    """Posts of the member that were looked at, all of whose queries were unless `left_out` says otherwise."""
    left_out: int
    """Pairs of their posts and queries that were not looked at, since their words stand in too many posts."""

    def take(self, places: NDArray[Any]) -> TiedOut:
        """Some of the pairs."""
        chosen = {name: getattr(self, name)[places] for name in ("posts", "first", "second", "documents")}
        return replace(self, **chosen)


def count_tied(state: State, terms: Ints, words: int, shown: tuple[Ints, NDArray[np.float64]]) -> int:
    """How many posts have the score of the last one shown for a query, and are not shown."""
    posts, scores = shown
    if len(posts) < state.settings.k:
        return 0
    number = 0
    with plainly():
        for shard in state.ground.shards:
            number += sum(often for score, often in _scores(state.ground, shard, terms, words) if score == scores[-1])
    return number - int(np.count_nonzero(scores == scores[-1]))


def _scores(ground: Ground, shard: Shard, terms: Ints, words: int) -> Iterator[tuple[float, int]]:
    """Every score that posts of a shard have for a query, and how many have it.

    Of a hundred thousand posts few differ in how long they are and how often they hold the words.
    """
    starts, documents, frequencies = shard.postings
    lengths, deleted, _ = shard.about
    known = [term for term in terms.tolist() if term + 1 < len(starts)]
    often = np.zeros((len(known), len(lengths)), dtype=np.int64)
    for row, term in enumerate(known):
        own = slice(*starts[term : term + 2])
        often[row, documents[own]] = frequencies[own]
    enough = (often > 0).sum(axis=0) >= (words if ground.both_only else 1)
    chosen = np.flatnonzero(enough & ~deleted)
    told = (*often[:, chosen], lengths[chosen])
    sizes = tuple(int(each.max(initial=0)) + 1 for each in told)
    kinds, numbers = _counted(np.ravel_multi_index(told, sizes))
    columns = [each.tolist() for each in np.unravel_index(kinds, sizes)]
    rates = ground.rates[known].tolist()
    for *counts, length, number in zip(*columns, numbers.tolist(), strict=True):
        part = float(ground.length_parts[length])
        parts = [match_part(ground.form, count, rate, part) for count, rate in zip(counts, rates, strict=True) if count]
        yield sum(parts) + length_norm(ground.form, float(words), part), number


def _counted(keys: Longs) -> tuple[Longs, Longs]:
    """Different numbers and how often each is there; small ones are not sorted for it."""
    if not len(keys) or keys.max() > SMALL:
        return np.unique(keys, return_counts=True)
    often = np.bincount(keys)
    there = np.flatnonzero(often)
    return there, often[there]


def tied_out(state: State, posts: Longs) -> TiedOut:
    """The queries of all words of these posts that miss them by a tie."""
    rows, looked_at = _rows_of(state, posts)
    rows, left_out = _cheap(state, rows)
    ground, (own, ones, others) = state.ground, rows
    scores, orders = np.zeros(len(own)), state.orders[own]
    alone = others == NO_TERM
    for words, here in ((1, np.flatnonzero(alone)), (2, np.flatnonzero(~alone))):
        scores[here] = scores_of(ground, own[here].astype(np.int32), ones[here], others[here], words=words)[0]
    holders, better, before = (np.zeros(len(own), dtype=np.int32) for _ in range(3))
    _count_alone(state, ones, np.flatnonzero(alone), (scores, orders), (holders, better, before))
    _count_pairs(state, (ones, others), np.flatnonzero(~alone), (scores, orders), (holders, better, before))
    out = (better < ground.k) & (better + before >= ground.k)
    there = np.flatnonzero(out & ((scores > 0) | (ground.form != DIRICHLET_MATCHING)))
    numbers = np.sort([state.word_numbers(ones[there]), state.word_numbers(others[there])], axis=0)
    return TiedOut(
        posts=own[there],
        first=np.where(alone[there], numbers[1], numbers[0]).astype(np.int32),
        second=np.where(alone[there], NO_WORD, numbers[1]).astype(np.int32),
        documents=holders[there],
        looked_at=looked_at,
        left_out=left_out,
    )


Rows = tuple[Longs, Ints, Ints]
"""Posts, and the terms of queries whose words they hold: the rarer first, NO_TERM behind a single one."""


def _rows_of(state: State, posts: Longs) -> tuple[Rows, int]:
    """The newest posts with their queries, as many as may be looked at (one at least), and how many these are."""
    posts = posts[np.argsort(-state.times[posts], kind="stable")]
    starts, terms, _ = state.rows_by_term(posts[:ROWS])
    sizes = np.diff(starts)
    ends = np.cumsum(sizes * (sizes + 1) // 2)
    number = min(len(sizes), max(1, int(np.searchsorted(ends, ROWS, side="right"))))
    owners: list[Longs] = [np.zeros(0, dtype=np.int64)]
    sides: list[NDArray[Any]] = [np.zeros((2, 0), dtype=np.int32)]
    rarity = state.reference.document_counts
    for at in range(number):
        mine = terms[starts[at] : starts[at + 1]]
        mine = mine[np.lexsort((mine, rarity[state.word_numbers(mine)]))]
        one, other = np.triu_indices(len(mine))
        sides.append(np.array([mine[one], np.where(one == other, NO_TERM, mine[other])], dtype=np.int32))
        owners.append(np.full(len(one), posts[at]))
    ones, others = np.concatenate(sides, axis=1)
    return (np.concatenate(owners), ones, others), number


def _cheap(state: State, rows: Rows) -> tuple[Rows, int]:
    """Those whose words stand in few posts, as far as the work that may be done goes."""
    own, ones, others = rows
    terms, places = np.unique(np.concatenate([ones, others]), return_inverse=True)
    spread = np.array([state.ground.spread(term) if term >= 0 else 0 for term in terms.tolist()], dtype=np.int64)
    short, long = np.split(spread[places], 2)
    cost = np.minimum(short * SEARCH, short + long) + 1
    order = np.argsort(cost, kind="stable")
    near = np.sort(order[: max(1, int(np.searchsorted(np.cumsum(cost[order]), STEPS, side="right")))])
    return (own[near], ones[near], others[near]), len(own) - len(near)


Standing = tuple[Floats, Longs]
"""The score of each post for its query, and its order among equals."""
Counts = tuple[Ints, Ints, Ints]
"""Of each query, by row: posts with all words, with a better score, and before the post with the same score."""


def _count_alone(state: State, ones: Ints, here: Longs, standing: Standing, counts: Counts) -> None:
    """Of queries of one word, from its best posts."""
    words = state.word_numbers(ones[here])
    lists = state.singles.ones(words)
    owners = np.repeat(np.arange(len(here)), np.diff(lists.starts))
    score, order = standing[0][here][owners], standing[1][here][owners]
    better, same = lists.scores > score, (lists.scores == score) & (lists.orders < order)
    for count, which in zip(counts[1:], (better, same), strict=True):
        count[here] += np.bincount(owners[which], minlength=len(here)).astype(np.int32)
    counts[0][here] += state.word_documents(words)


def _count_pairs(state: State, terms: tuple[Ints, Ints], here: Longs, standing: Standing, counts: Counts) -> None:
    """Of queries of two words: posts with both, then those with one."""
    ground, (one, other) = state.ground, (side[here] for side in terms)
    score, order = standing[0][here], standing[1][here]
    own: Counts = (np.zeros(len(here), np.int32), np.zeros(len(here), np.int32), np.zeros(len(here), np.int32))
    how = (ground.form, ground.rates, ground.length_parts)
    for shard in ground.shards:
        count_holders(shard.postings, shard.about, (one, other, score, order), *how, own)
    for mine, missing in ((one, other), (other, one)) if not ground.both_only else ():
        found = state.singles.twos(mine)
        singles = (found.starts, found.scores, found.orders, found.posts)
        for shard in ground.shards:
            count_partial(shard.rows, shard.first, (missing, score, order), singles, own[1:])
    for count, more in zip(counts, own, strict=True):
        count[here] += more
