"""What would lower a rank: which word of a post to change, computed by searching as if it were changed.

A member who does not want to be found by a query can delete the post or show it to fewer people, which removes all its
rows; or put another word in the place of one of the query's. For every row, the rank is computed that the post would
have with the query's first or second word replaced, wherever it stands in the post, by a word that the query does not
have: as long as before, and all else equal. For every post, the word is found whose replacement removes most rows.

What the new word brings is not told: it makes the post findable by other queries, which a draft of the new text shows
(`aidos.rooms.exposure.queries.draft`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.model.retrieval.scorers import DIRICHLET_MATCHING
from aidos.rooms.exposure.queries.live import pair_lists, scores_of
from aidos.rooms.exposure.queries.overlay import query_keys
from aidos.rooms.exposure.queries.records import NO_TERM, NO_WORD, Exposures, Lists
from aidos.rooms.exposure.queries.state import State
from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = ["Remedy", "Rewording", "remedies", "rewordings"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What a changed word would do to one row."""

    rank: int
    """The rank the post has for the query."""
    without_first: int | None
    """Its rank were the first word another; None when it is not among the first k then."""
    without_second: int | None
    """The same for the second word; None also where the query has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """The one word of a post whose replacement removes most of the rows asked about."""

    post: int
    word: int
    removed: int
    """Rows that it removes."""
    rows: int
    """Rows of the post; deleting or restricting it removes them all."""


def remedies(store: ExposureStore, exposures: Exposures) -> list[Remedy]:
    """What a changed word would do, for every row as they were given."""
    state = store.state
    found = _lists(state, exposures)
    ranks = [
        _ranks_without(state, exposures, found, (exposures.first, exposures.second)),
        _ranks_without(state, exposures, found, (exposures.second, exposures.first)),
    ]
    columns = zip(exposures.ranks.tolist(), *(each.tolist() for each in ranks), strict=True)
    return [
        Remedy(rank=rank, without_first=without_first or None, without_second=without_second or None)
        for rank, without_first, without_second in columns
    ]


def rewordings(exposures: Exposures, found: Sequence[Remedy]) -> list[Rewording]:
    """For every post of the rows, by number, the one word whose replacement removes most of its rows.

    Where words remove as many, it is the one with the smaller number, the rarer one.
    """
    removed: dict[int, Counter[int]] = {}
    rows = Counter(exposures.posts.tolist())
    columns = (exposures.posts, exposures.first, exposures.second)
    for (post, first, second), remedy in zip(
        zip(*(each.tolist() for each in columns), strict=True), found, strict=True
    ):
        counts = removed.setdefault(post, Counter())
        counts[first] += remedy.without_first is None
        if second != NO_WORD:
            counts[second] += remedy.without_second is None
    best = {post: min(counts, key=lambda word: (-counts[word], word)) for post, counts in removed.items()}
    return [
        Rewording(post=post, word=best[post], removed=removed[post][best[post]], rows=rows[post])
        for post in sorted(removed)
    ]


def _lists(state: State, exposures: Exposures) -> tuple[Lists, Longs]:
    """The results of all pairs among the queries, and which list belongs to each row; -1 to those of one word."""
    pairs = exposures.second != NO_WORD
    keys = np.unique(query_keys(exposures.first[pairs], exposures.second[pairs]))
    words = np.array([keys >> 32, (keys & 0xFFFFFFFF) - 1])
    terms = np.array([state.terms(words[0]), state.terms(words[1])])
    spread = np.array([[state.ground.spread(int(term)) for term in side] for side in terms]).reshape(2, -1)
    rarer, other = np.where(spread[0] <= spread[1], terms, terms[::-1])
    order = np.argsort(rarer, kind="stable")
    scanned, begins = np.unique(rarer[order], return_index=True)
    wanted = list(zip(scanned.tolist(), np.split(other[order].astype(np.int32), begins[1:]), strict=False))
    parts = pair_lists(state.ground, wanted, state.singles.twos)
    lists = Lists.concatenate(parts) if parts else Lists.empty()
    places = np.full(len(exposures), -1, dtype=np.int64)
    # The lists come by their rarer word, in the order in which the pairs were sorted.
    places[pairs] = np.argsort(order)[np.searchsorted(keys, query_keys(exposures.first, exposures.second)[pairs])]
    return lists, places


def _ranks_without(
    state: State, exposures: Exposures, searched: tuple[Lists, Longs], words: tuple[Ints, Ints]
) -> Longs:
    """The ranks that posts would have with the one word of their queries replaced and the other kept; 0 for none."""
    (lists, places), (replaced, kept) = searched, words
    ground, ranks = state.ground, np.zeros(len(exposures), dtype=np.int64)
    rows = np.flatnonzero(places >= 0)
    posts = exposures.posts[rows]
    none = np.full(len(rows), NO_TERM, dtype=np.int32)
    _, _, held = scores_of(ground, posts, state.terms(replaced[rows]), none, words=2)
    scores, orders, left = scores_of(ground, posts, state.terms(kept[rows]), none, words=2)
    found = lists.take(places[rows])
    owners = np.repeat(np.arange(len(rows)), np.diff(found.starts))
    better = (found.scores > scores[owners]) | ((found.scores == scores[owners]) & (found.orders < orders[owners]))
    better &= found.posts != posts[owners]
    ranks[rows] = np.bincount(owners[better], minlength=len(rows)) + 1
    # A clamped score of 0 is not returned; every other form gives a word it holds more than nothing.
    returned = (left > 0) & ((scores > 0) | (ground.form != DIRICHLET_MATCHING)) & (not ground.both_only)
    ranks[rows] = np.where(returned & (ranks[rows] <= ground.k), ranks[rows], 0)
    # What the post does not hold cannot be replaced.
    ranks[rows] = np.where(held > 0, ranks[rows], exposures.ranks[rows])
    return ranks
