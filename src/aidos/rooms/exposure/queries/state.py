"""A community's exposure as it stands: the last full computation, and over it what changed since.

Everything here is read when it is first asked for and then kept. Words, posts and members that came later are numbered
behind those of the base. A state never changes: a change makes another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.model.retrieval.scorers import Collection
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.base import Base
from aidos.rooms.exposure.queries.ground import SingleLists, all_orders, column, make_ground, words_of
from aidos.rooms.exposure.queries.layout import ABOUT
from aidos.rooms.exposure.queries.live import Ground
from aidos.rooms.exposure.queries.manifest import Facts, is_renewed, read, take_renewed
from aidos.rooms.exposure.queries.overlay import CHANGES, Overlay, query_keys, read_overlay
from aidos.rooms.exposure.queries.records import NO_WORD
from aidos.rooms.exposure.queries.validation import check_overlay

__all__ = ["State", "open_state"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class State:
    """The base and what lies over it."""

    def __init__(self, base: Base, overlay: Overlay) -> None:
        self.base = base
        self.overlay = overlay
        self.settings = base.settings
        self.analyser = Analyser.parse(base.settings.analyser)

    @property
    def posts(self) -> int:
        """Numbers of posts that were ever given."""
        return self.base.posts + self.overlay.added.num_rows

    @property
    def members(self) -> int:
        """Numbers of members that were ever given."""
        return self.base.members + self.overlay.members.num_rows

    @property
    def words(self) -> int:
        """Numbers of words that were ever given."""
        return self.base.words + self.overlay.words.num_rows

    @cached_property
    def ground(self) -> Ground:
        """What scores depend on."""
        return make_ground(self.base, self.overlay)

    @cached_property
    def singles(self) -> SingleLists:
        """The best posts of every word."""
        return SingleLists(self.base, self.overlay)

    @cached_property
    def orders(self) -> Longs:
        """By post: of two with one score the smaller comes first."""
        return all_orders(self.base, self.overlay)

    @cached_property
    def times(self) -> Longs:
        """By post: microseconds since 1970."""
        old: Longs = self.base.array("statistics/timestamps")
        return np.concatenate([old, column(self.overlay.added, "timestamp")]) if self.overlay.added.num_rows else old

    @cached_property
    def latest(self) -> int:
        """The time of the newest post that there ever was."""
        return int(self.times.max(initial=0))

    @cached_property
    def deleted(self) -> Ints:
        """Posts of the base that are gone."""
        return column(self.overlay.deleted, "number")

    @cached_property
    def changed(self) -> Longs:
        """The keys of queries that were computed again."""
        return query_keys(column(self.overlay.queries, "first"), column(self.overlay.queries, "second"))

    @cached_property
    def reference(self) -> Collection:
        """What the collection looked like when it was computed, by word; later words count once."""
        known, more = self.base.reference, self.overlay.words.num_rows
        counts = [
            np.concatenate([each, np.ones(more, np.int64)]) for each in (known.term_counts, known.document_counts)
        ]
        return Collection(
            documents=known.documents, tokens=known.tokens, term_counts=counts[0], document_counts=counts[1]
        )

    def gone(self, posts: NDArray[Any]) -> NDArray[np.bool_]:
        """Which posts are deleted."""
        marks = np.isin(posts, self.deleted)
        later = posts >= self.base.posts
        if later.any():
            marks[later] = column(self.overlay.added, "gone")[posts[later] - self.base.posts]
        return marks

    def members_of(self, posts: NDArray[Any]) -> Ints:
        """Who wrote posts."""
        found = np.empty(len(posts), dtype=np.int32)
        later = posts >= self.base.posts
        found[~later] = self.base.array("statistics/members")[posts[~later]]
        found[later] = column(self.overlay.added, "member")[posts[later] - self.base.posts]
        return found

    def rows(self, posts: NDArray[Any]) -> tuple[Longs, Ints, Ints]:
        """The words of posts and how often each stands there, one post behind the other."""
        starts, terms, frequencies = self.rows_by_term(posts)
        return starts, self.word_numbers(terms), frequencies

    def rows_by_term(self, posts: NDArray[Any]) -> tuple[Longs, Ints, Ints]:
        """The same by term."""
        shards = self.ground.shards
        at = np.searchsorted([shard.first for shard in shards], posts, side="right") - 1
        sizes = np.zeros(len(posts), dtype=np.int64)
        begins = np.zeros(len(posts), dtype=np.int64)
        for number, shard in enumerate(shards):
            mine = posts[at == number] - shard.first
            begins[at == number] = shard.rows[0][mine]
            sizes[at == number] = shard.rows[0][mine + 1] - shard.rows[0][mine]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        terms, frequencies = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.int32)
        places, owners = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], sizes), np.repeat(at, sizes)
        for number, shard in enumerate(shards):
            terms[owners == number] = shard.rows[1][places[owners == number]]
            frequencies[owners == number] = shard.rows[2][places[owners == number]]
        return starts, terms, frequencies

    def terms(self, words: NDArray[Any]) -> Ints:
        """The terms of words in the index; later words have their own numbers."""
        known = self.base.array("statistics/terms")
        found = words.astype(np.int32)
        old = (words >= 0) & (words < len(known))
        found[old] = known[words[old]]
        return found

    def word_numbers(self, terms: NDArray[Any]) -> Ints:
        """The words of terms."""
        return words_of(self.base.array("statistics/word_numbers"), terms)

    def find_words(self, texts: Sequence[str]) -> Ints:
        """The numbers of words, -1 for those that never stood in a post."""
        found = self.base.index.vocabulary.ids(list(texts))
        numbers = np.full(len(found), -1, dtype=np.int32)
        numbers[found >= 0] = self.word_numbers(found[found >= 0])
        for at in np.flatnonzero(found < 0).tolist():
            numbers[at] = self._later_words.get(texts[at], -1)
        return numbers

    def word_texts(self, words: NDArray[Any]) -> list[str]:
        """The words of numbers."""
        later = [str(word) for word in self._later_words]
        known = words < self.base.words
        texts = iter(self.base.index.vocabulary.terms(self.terms(words[known]).astype(np.int64)))
        return [next(texts) if old else later[word - self.base.words] for old, word in zip(known, words, strict=True)]

    def stored(self, first: NDArray[Any], second: NDArray[Any]) -> list[dict[str, Any] | None]:
        """The rows of queries as they stand, None for those that are not there."""
        found: list[dict[str, Any] | None] = [None] * len(first)
        keys = query_keys(first, second)
        at = np.searchsorted(self.changed, keys)
        new = at < len(self.changed)
        new[new] = self.changed[at[new]] == keys[new]
        for place in np.flatnonzero(new).tolist():
            row = self.overlay.queries.slice(int(at[place]), 1).to_pylist()[0]
            found[place] = row if row["documents"] else None
        old = np.flatnonzero(~new & (first < self.base.words) & (second < self.base.words))
        for place, known in zip(old.tolist(), self.base.queries(first[old], second[old]), strict=True):
            found[place] = known
        return found

    def word_documents(self, words: NDArray[Any]) -> Ints:
        """How many posts hold words now."""
        found: Ints = self.reference.document_counts[words].astype(np.int32)
        # Words that came later count once in the reference, whatever became of them.
        found[words >= self.base.words] = 0
        keys = query_keys(words, np.full(len(words), NO_WORD))
        at = np.searchsorted(self.changed, keys)
        new = at < len(self.changed)
        new[new] = self.changed[at[new]] == keys[new]
        found[new] = column(self.overlay.queries, "documents")[at[new]]
        return found

    def exposures(self, member: int, most: int | None = None) -> pa.Table:
        """The rows of one member by post, first and second word; ``most`` bounds those of the last computation."""
        added = self.overlay.exposures
        members = column(added, "member")
        begin, end = np.searchsorted(members, [member, member + 1]).tolist()
        mine = added.slice(begin, end - begin)
        if member >= self.base.members:
            return mine
        old = self.base.exposures(member, most)
        if not len(self.changed):
            return old
        keys = query_keys(column(old, "first"), column(old, "second"))
        at = np.minimum(np.searchsorted(self.changed, keys), len(self.changed) - 1)
        kept = old.filter(pa.array(self.changed[at] != keys))
        both = pa.concat_tables([kept, mine])
        return both.sort_by([(name, "ascending") for name in ("post", "first", "second")]) if mine.num_rows else kept

    @cached_property
    def _later_words(self) -> dict[str, int]:
        names = self.overlay.words.column("name").to_pylist()
        return {str(name): self.base.words + at for at, name in enumerate(names)}


def open_state(path: Path, *, held: bool = False) -> tuple[Facts, State]:
    """What a directory says of itself, and what it holds; ``held`` says that nobody else can write to it."""
    while True:
        if is_renewed(path):
            # Whoever forgot somebody was stopped behind the turning point, or is just about to finish.
            with nullcontext() if held else ABOUT.held(path, wait=None):
                if is_renewed(path):
                    take_renewed(path)
        facts = read(path)
        base = Base(path, facts)
        if not facts.generation:
            return facts, State(base, Overlay.empty(tokens=facts.tokens, cut_posts=facts.cut_posts))
        try:
            overlay = read_overlay(path, facts.generation, facts.files)
            check_overlay(path / CHANGES, overlay, base.sizes, facts.settings)
            return facts, State(base, overlay)
        except InputError:
            # Somebody may have changed it in between, and removed what the older manifest names.
            if read(path).generation == facts.generation:
                raise
