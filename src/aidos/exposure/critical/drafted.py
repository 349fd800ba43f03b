"""A community with a draft in it, so that the queries of a draft are ranked like those of a post.

The draft is the post with the number `DRAFT`; it belongs to whoever the rows say, and its words join that member's
language, as they would if it were posted. Words that no post ever held are numbered behind all others in the order in
which they come, as the look-up of drafts numbers them. Nothing is written anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.exposure.critical.community import Community, Counted, Ints, Longs
from aidos.exposure.queries.draft import DRAFT
from aidos.exposure.queries.settings import SearchExposure
from aidos.model.retrieval.segment import Collection
from aidos.model.text.analyser import Analyser

__all__ = ["Drafted"]


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
