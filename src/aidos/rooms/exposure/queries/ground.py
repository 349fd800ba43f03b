"""What scores depend on, put together from the last full computation and from what changed since.

Scores are pinned to what the collection looked like when it was computed, so that one post more or less moves only the
queries of its own words; a word that came later counts as if it had stood there once. Posts that were added lie in a
shard of their own, behind those of the index.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.model.retrieval.part import Forward, Segment, assemble
from aidos.model.retrieval.threads import read_only
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.exposure.queries.base import Base
from aidos.rooms.exposure.queries.layout import BETWEEN, numbers_in
from aidos.rooms.exposure.queries.live import Ground, Shard
from aidos.rooms.exposure.queries.overlay import Overlay
from aidos.rooms.exposure.queries.records import Singles

__all__ = [
    "SingleLists",
    "added_orders",
    "all_orders",
    "column",
    "make_ground",
    "unknown_rate",
    "values_of",
    "words_of",
]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

LISTED = ("one_posts", "one_scores", "two_posts", "two_scores")


def make_ground(base: Base, overlay: Overlay) -> Ground:
    """The ground of all searches as things stand."""
    settings = base.settings
    shards = _base_shards(base, column(overlay.deleted, "number"))
    if overlay.added.num_rows:
        shards = [*shards, _added_shard(base, overlay)]
    # No post is longer than those that are looked at; a language without a word scores nothing.
    lengths = np.arange(settings.longest_post + 1 if base.reference.tokens else 1, dtype=np.int64)
    length_parts = base.scorer.length_parts(base.reference.mean_length or 1.0, lengths)
    return Ground(
        shards=tuple(shards),
        form=base.scorer.form,
        k=settings.k,
        both_only=settings.semantics == "and",
        rates=read_only(_rates(base, overlay.words.num_rows)),
        length_parts=read_only(length_parts),
    )


class SingleLists:
    """The best posts of every word, from the base or, where they changed, from what was computed since."""

    def __init__(self, base: Base, overlay: Overlay) -> None:
        self._base, self._room = base, base.settings.k + 1
        self._orders = all_orders(base, overlay)
        self._numbers = base.array("statistics/word_numbers")
        self._changed = column(overlay.singles, "word")
        self._new = {name: values_of(overlay.singles, name).reshape(-1, self._room) for name in LISTED}

    def ones(self, words: Ints) -> Singles:
        """For the query of the one word."""
        return self._lists(words, "one_posts", "one_scores")

    def twos(self, terms: Ints) -> Singles:
        """For a query of two words, were the one all that posts hold. Asked by term, as scans do."""
        return self._lists(words_of(self._numbers, terms), "two_posts", "two_scores")

    def _lists(self, words: Ints, *names: str) -> Singles:
        posts, scores = (self._rows(words, name) for name in names)
        there = posts >= 0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        return Singles(
            starts=starts, scores=scores[there], orders=self._orders[posts[there]], posts=posts[there].astype(np.int32)
        )

    def _rows(self, words: Ints, name: str) -> NDArray[Any]:
        old = self._base.array(f"singles/{name}")
        found = np.full((len(words), self._room), -1, dtype=old.dtype)
        known = words < len(old)
        found[known] = old[words[known]]
        if len(self._changed):
            at = np.minimum(np.searchsorted(self._changed, words), len(self._changed) - 1)
            new = self._changed[at] == words
            found[new] = self._new[name][at[new]]
        return found


def words_of(numbers: Ints, terms: NDArray[Any]) -> Ints:
    """The numbers of words by their terms; ``numbers`` are the base's. Later words, and no word, keep their term's."""
    found = terms.astype(np.int32)
    known = (terms >= 0) & (terms < len(numbers))
    found[known] = numbers[terms[known]]
    return found


def all_orders(base: Base, overlay: Overlay) -> Longs:
    """By post: of two with one score the smaller comes first."""
    old: Longs = base.array("statistics/precedence")
    return np.concatenate([old, added_orders(base, overlay)]) if overlay.added.num_rows else old


def added_orders(base: Base, overlay: Overlay) -> Longs:
    """The orders of posts that were added: behind the post of the base that comes before, by time and id."""
    added = overlay.added
    gaps, times = column(added, "gap"), column(added, "timestamp")
    ids = added.column("post_id").to_pylist()
    sign = {"newest": -1, "oldest": 1, "id": 0}[base.settings.ties]
    turn = sorted(range(len(ids)), key=lambda at: (gaps[at], sign * times[at], ids[at]))
    sorted_gaps = gaps[turn]
    within = np.arange(len(turn)) - np.searchsorted(sorted_gaps, sorted_gaps)
    orders = np.empty(len(turn), dtype=np.int64)
    orders[turn] = ((sorted_gaps - 1) << BETWEEN) + 1 + within
    return orders


def column(table: pa.Table, name: str) -> NDArray[Any]:
    """A column of numbers, not copied where it has no chunks."""
    return numbers_in(table.column(name))


def values_of(table: pa.Table, name: str) -> NDArray[Any]:
    """What the lists of a column hold, one behind the other."""
    lists: Any = table.column(name).combine_chunks()
    found: NDArray[Any] = lists.flatten().to_numpy(zero_copy_only=False)
    return found


def _base_shards(base: Base, deleted: Ints) -> list[Shard]:
    orders, first, shards = base.array("statistics/precedence"), 0, []
    for segment, forward in zip(base.index.segments, base.index.forwards, strict=True):
        end = first + len(segment)
        gone = segment.deleted
        mine = deleted[(deleted >= first) & (deleted < end)]
        if len(mine):
            gone = gone.copy()
            gone[mine - first] = True
        shards.append(_shard(first, segment, forward, gone, orders[first:end]))
        first = end
    return shards


def _added_shard(base: Base, overlay: Overlay) -> Shard:
    added = overlay.added
    sizes = pc.list_value_length(added.column("terms")).to_numpy()
    forward = Forward(
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        terms=values_of(added, "terms"),
        frequencies=values_of(added, "frequencies"),
    )
    terms = len(base.index.vocabulary) + overlay.words.num_rows
    segment = assemble(forward, column(added, "length"), Vocabulary(), terms).segment
    return _shard(base.posts, segment, forward, column(added, "gone"), added_orders(base, overlay))


def _shard(first: int, segment: Segment, forward: Forward, gone: NDArray[np.bool_], orders: Longs) -> Shard:
    return Shard(
        first=first,
        postings=(read_only(segment.starts), read_only(segment.documents), read_only(segment.frequencies)),
        rows=(read_only(forward.starts), read_only(forward.terms), read_only(forward.frequencies)),
        about=(read_only(segment.lengths), read_only(gone), read_only(orders)),
    )


def unknown_rate(base: Base) -> float:
    """What a match is worth for a word that came later: it counts as if it had stood there once."""
    one = np.ones(1, dtype=np.int64)
    once = replace(base.reference, term_counts=one, document_counts=one)
    return float(base.scorer.rates(once, np.zeros(1, dtype=np.int64))[0]) if once.tokens else 0.0


def _rates(base: Base, new_words: int) -> Floats:
    """By term."""
    known, numbers = base.reference, base.array("statistics/word_numbers")
    by_word = base.scorer.rates(known, np.arange(len(known.term_counts)))
    return np.concatenate([by_word[numbers], np.full(new_words, unknown_rate(base))])
