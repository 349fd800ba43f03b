"""What ranking by criticality must know of a community, and of one member of it, read once.

`Community` names the few questions that are asked; an opened exposure directory answers them. `gather` asks them for
one member: her posts that are found, their words, the words of the queries, and all she has written. Everything else
here is computed from that, by array, whether she has a hundred rows or a million.

A community may have a draft in it, so that the queries of a draft are ranked like those of a post. The draft is the
post with the number `DRAFT`; it belongs to whoever the rows say, and its words join that member's language, as they
would if it were posted. Words that no post ever held are numbered behind all others in the order in which they come, as
the look-up of drafts numbers them. Nothing is written anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.retrieval.scorers import Collection
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.draft import DRAFT
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["Community", "Counted", "Drafted", "Material", "gather", "keys_of"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class Counted(Protocol):
    """How large the community is."""

    @property
    def members(self) -> int:
        """Members with posts."""


class Community(Protocol):
    """What is asked of a community; `aidos.rooms.exposure.queries.store.ExposureStore` answers."""

    @property
    def settings(self) -> SearchExposure:
        """How its search behaves."""

    @property
    def facts(self) -> Counted:
        """Its size."""

    @property
    def reference(self) -> Collection:
        """The pinned statistics of its language."""

    def posts(self, numbers: Ints) -> pa.Table:
        """Posts in the order asked, with the columns post_id and text among others."""

    def posts_of(self, member: int) -> NDArray[Any]:
        """The numbers of a member's posts."""

    def terms_of(self, posts: NDArray[Any]) -> tuple[Longs, Ints, Ints]:
        """The words of posts: where each post begins, the numbers of its words, how often each stands there."""

    def words(self, numbers: Ints) -> list[str]:
        """Words by number."""

    def word_numbers(self, words: Sequence[str]) -> Ints:
        """Numbers of words, -1 for those it does not have."""

    def counts_of(self, words: Ints) -> Longs:
        """How often words stand in the reference."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """One member's posts and words, as far as her exposures speak of them."""

    posts: Ints
    """The posts that are found, each once, rising."""
    texts: pa.LargeStringArray
    """Their texts."""
    keys: Longs
    """Their words: the place of the post and the number of the word in one (see `keys_of`), rising."""
    frequencies: Longs
    """How often each of those words stands in its post."""
    lengths: Longs
    """Words of each of the posts."""
    terms: Ints
    """The words of the queries, each once, rising."""
    spelled: tuple[str, ...]
    """The same as text."""
    said: Ints
    """All words of all the member's posts, each once, rising."""
    said_counts: Longs
    """How often she used each."""

    def post_places(self, exposures: Exposures) -> Longs:
        """Where the post of each row stands among the posts."""
        return np.searchsorted(self.posts, exposures.posts)

    def term_places(self, words: Ints) -> Longs:
        """Where words of queries stand among them; their number where there is no word."""
        return np.where(words == NO_WORD, len(self.terms), np.searchsorted(self.terms, words))

    def frequencies_of(self, places: Longs, words: Ints) -> Longs:
        """How often each word stands in the post at each place; 0 where it does not, or there is no word."""
        asked = keys_of(places, words)
        found = np.minimum(np.searchsorted(self.keys, asked), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return np.zeros(len(asked), dtype=np.int64)
        return np.where(self.keys[found] == asked, self.frequencies[found], 0)


def keys_of(places: Longs, words: Ints) -> Longs:
    """A place and a word as one number that sorts by place, then word; a missing word comes before all others."""
    keys: Longs = (places.astype(np.int64) << 32) + (words.astype(np.int64) + 1)
    return keys


def gather(store: Community, exposures: Exposures) -> Material:
    """All that the rows of one member need, each post and each word once."""
    members = exposures.members[:1]
    if (exposures.members != members).any():
        raise ParameterError("rows of several members are given", hint="give those of one member at a time")
    posts = _distinct(exposures.posts)
    keys, frequencies, lengths = _words_by_post(store, posts)
    terms = _distinct(exposures.first, exposures.second)
    terms = terms[terms != NO_WORD]
    said, said_counts = _said(store, members)
    return Material(
        posts=posts,
        texts=pa.array(store.posts(posts).column("text").to_pylist(), type=pa.large_string()),
        keys=keys,
        frequencies=frequencies,
        lengths=lengths,
        terms=terms,
        spelled=tuple(store.words(terms)),
        said=said,
        said_counts=said_counts,
    )


def _distinct(*columns: Ints) -> Ints:
    """Each number once, rising; marking beats sorting where a few numbers come a million times."""
    longest = max(map(len, columns))
    if not longest:
        return np.zeros(0, dtype=np.int32)
    marked = np.zeros(max(int(column.max(initial=0)) for column in columns) + 2, dtype=np.bool_)
    for column in columns:
        marked[column + 1] = True
    return (np.flatnonzero(marked) - 1).astype(np.int32)


def _words_by_post(store: Community, posts: Ints) -> tuple[Longs, Longs, Longs]:
    starts, words, frequencies = store.terms_of(posts)
    places = np.repeat(np.arange(len(posts), dtype=np.int64), np.diff(starts))
    keys = keys_of(places, words)
    order = np.argsort(keys, kind="stable")
    lengths = np.bincount(places, weights=frequencies, minlength=len(posts)).astype(np.int64)
    return keys[order], frequencies[order].astype(np.int64), lengths


def _said(store: Community, members: Ints) -> tuple[Ints, Longs]:
    """The words of everything the member wrote, and how often each."""
    if not len(members):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    _, words, frequencies = store.terms_of(store.posts_of(int(members[0])))
    said, owners = np.unique(words, return_inverse=True)
    counts = np.bincount(owners, weights=frequencies, minlength=len(said))
    return said.astype(np.int32), counts.astype(np.int64)


class Drafted:
    """What is asked of a `Community`, with one post more."""

    def __init__(self, store: Community, text: str) -> None:
        self._store = store
        self._text = text
        self._known = len(store.reference.term_counts)
        terms = Analyser.parse(store.settings.analyser).terms(text)[: store.settings.longest_post]
        own = Counter(terms)
        numbers = store.word_numbers(list(own))
        self._new = [word for word, number in zip(own, numbers.tolist(), strict=True) if number < 0]
        self._words = self.word_numbers(list(own))
        self._frequencies = np.fromiter(own.values(), dtype=np.int32, count=len(own))

    @property
    def settings(self) -> SearchExposure:
        """How its search behaves."""
        return self._store.settings

    @property
    def facts(self) -> Counted:
        """Its size, without the draft."""
        return self._store.facts

    @property
    def reference(self) -> Collection:
        """The pinned statistics of its language, which no post changes."""
        return self._store.reference

    def posts(self, numbers: Ints) -> pa.Table:
        """Id and text of posts in the order asked; the draft has no id yet."""
        asked = np.asarray(numbers)
        others = self._store.posts(asked[asked != DRAFT])
        ids, texts = iter(others.column("post_id").to_pylist()), iter(others.column("text").to_pylist())
        pairs = [("", self._text) if number == DRAFT else (next(ids), next(texts)) for number in asked.tolist()]
        return pa.table({"post_id": [each for each, _ in pairs], "text": [text for _, text in pairs]})

    def posts_of(self, member: int) -> NDArray[Any]:
        """The draft and the member's posts; a draft of nobody in particular stands alone."""
        own = np.array([DRAFT], dtype=np.int64)
        return np.concatenate([own, self._store.posts_of(member)]) if member >= 0 else own

    def terms_of(self, posts: NDArray[Any]) -> tuple[Longs, Ints, Ints]:
        """The words of posts, those of the draft among them (once at most)."""
        asked = np.asarray(posts)
        starts, words, frequencies = self._store.terms_of(asked[asked != DRAFT])
        for place in np.flatnonzero(asked == DRAFT).tolist():
            here = int(starts[place])
            words = np.insert(words, here, self._words)
            frequencies = np.insert(frequencies, here, self._frequencies)
            starts = np.concatenate([starts[: place + 1], starts[place:] + len(self._words)])
        return starts, words, frequencies

    def words(self, numbers: Ints) -> list[str]:
        """Words by number, new ones behind."""
        asked = np.asarray(numbers)
        known = iter(self._store.words(asked[asked < self._known]))
        return [next(known) if number < self._known else self._new[number - self._known] for number in asked.tolist()]

    def word_numbers(self, words: Sequence[str]) -> Ints:
        """Numbers of words, -1 for those that neither a post nor the draft has."""
        new = {word: self._known + place for place, word in enumerate(self._new)}
        numbers = self._store.word_numbers(words)
        told = [
            new.get(word, -1) if number < 0 else number for word, number in zip(words, numbers.tolist(), strict=True)
        ]
        return np.array(told, dtype=np.int32)

    def counts_of(self, words: Ints) -> Longs:
        """How often words stand in the reference; new ones count once, as in the search."""
        counts = np.ones(len(words), dtype=np.int64)
        counts[words < self._known] = self._store.counts_of(words[words < self._known])
        return counts
