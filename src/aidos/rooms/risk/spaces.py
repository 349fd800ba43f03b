"""Where entries and topics are vectors: how similar every entry is to every topic that matters, by cosines in [0, 1].

    bow   the words of all sensitive topics are the features. A topic is 1 at its own words, an entry has how often it
          uses each feature; words that point to no topic do not count.
    lda   latent topics are the dimensions. A topic is the latent one that was matched to it, an entry is its mixture
          theta: the cosine is theta(x) / |theta|. Topics that were matched to the same latent one are the same here.
    w2v   words are points. A topic is the weighted sum of its words' vectors; an entry in the context of topic X is the
          sum of cos(v, X) v over its distinct words v. With vectors of length 1 its product with X/|X| is the sum of
          cos(v, X)^2, so that the cosine is never negative, and only the entry's length depends on pairs of words.
          A word that points away from the topic counts like one that points to it: so the thesis has it.

An entry without any known word is similar to nothing: 0. Columns are topics (or words, for the baselines), those that
are asked for first, then the others of their domains if the measure looks at domains; nothing else is computed.
`aidos.rooms.risk.knowledge` makes spaces from what the adversary knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.model.latent.model import TopicModel
from aidos.model.text.vocabulary import Vocabulary
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.entries import Bags
from aidos.rooms.risk.kernels import (
    bow_similarities,
    latent_similarities,
    mark_presence,
    vector_similarities,
    word_cosines,
)

__all__ = [
    "SPACES",
    "BowSpace",
    "LatentSpace",
    "Layout",
    "PresenceSpace",
    "Similarity",
    "Space",
    "SpaceName",
    "VectorSpace",
]

Floats: TypeAlias = NDArray[np.float32]
Longs: TypeAlias = NDArray[np.int64]
SpaceName = Literal["bow", "lda", "w2v"]
SPACES: tuple[SpaceName, ...] = ("bow", "lda", "w2v")
Similarity: TypeAlias = Callable[[Bags], Floats]
"""Entries in, a row of similarities for each out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Which columns are which topics."""

    columns: int
    asked: Longs
    """The column of every topic that was asked for, in the order of asking."""
    domains: tuple[Longs, ...]
    """For each of them the columns of the other topics of its domain; empty where domains do not matter."""
    left_out: tuple[str, ...] = ()
    """Topics of the domains that the model does not know; they do not count as parts of the domain."""


class BowSpace:
    """Cosines over the words of the sensitive topics."""

    def __init__(self, layout: Layout, topic_terms: Sequence[Sequence[str]], features: Sequence[str]) -> None:
        """The distinct terms of each column's topic; all features, those among them."""
        self.layout = layout
        self._columns: dict[str, list[int]] = {term: [] for term in features}
        for column, terms in enumerate(topic_terms):
            for term in terms:
                self._columns[term].append(column)
        self._lengths = np.sqrt(np.array([len(terms) for terms in topic_terms])).astype(np.float32)

    def bind(self, vocabulary: Vocabulary) -> Similarity:
        """Similarities of entries whose words are numbered by a vocabulary."""
        places = vocabulary.ids(list(self._columns))
        here = [(int(place), own) for place, own in zip(places, self._columns.values(), strict=True) if place >= 0]
        is_feature = np.zeros(len(vocabulary), dtype=np.bool_)
        sizes = np.zeros(len(vocabulary), dtype=np.int64)
        for place, own in here:
            is_feature[place], sizes[place] = True, len(own)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        topics = np.array([column for _, own in sorted(here) for column in own], dtype=np.int32)

        def similarities(bags: Bags) -> Floats:
            found = np.empty((len(bags.starts) - 1, self.layout.columns), dtype=np.float32)
            bow_similarities(*bags, is_feature, starts, topics, self._lengths, found)
            return found

        return similarities


class PresenceSpace:
    """Not a space of topics: a column is a word, and similarity is 1 where the entry has it. For the baselines."""

    def __init__(self, topic_terms: Sequence[Sequence[str]]) -> None:
        """The distinct terms of each topic that is asked for."""
        self.terms = tuple(dict.fromkeys(term for terms in topic_terms for term in terms))
        numbers = {term: number for number, term in enumerate(self.terms)}
        self.topic_columns = tuple(np.array([numbers[term] for term in terms], dtype=np.int64) for terms in topic_terms)
        self.layout = Layout(columns=len(self.terms), asked=np.zeros(0, dtype=np.int64), domains=())

    def bind(self, vocabulary: Vocabulary) -> Similarity:
        """Which words the entries have, whose words are numbered by a vocabulary."""
        column_of = np.full(len(vocabulary), -1, dtype=np.int32)
        places = vocabulary.ids(self.terms)
        column_of[places[places >= 0]] = np.flatnonzero(places >= 0)

        def similarities(bags: Bags) -> Floats:
            found = np.empty((len(bags.starts) - 1, self.layout.columns), dtype=np.float32)
            mark_presence(bags.starts, bags.words, column_of, found)
            return found

        return similarities


class LatentSpace:
    """Cosines of mixtures of latent topics."""

    def __init__(self, layout: Layout, model: TopicModel, dimensions: Sequence[int]) -> None:
        """The latent topic of each column."""
        self.layout = layout
        self._model = model
        self._dimensions = np.array(dimensions, dtype=np.int64)

    def bind(self, vocabulary: Vocabulary) -> Similarity:
        """Similarities of entries whose words are numbered by a vocabulary."""
        known = self._model.numbers(list(vocabulary))

        def similarities(bags: Bags) -> Floats:
            mixtures = self._model.infer(bags.starts, known[bags.words], bags.frequencies, threads=1)
            found = np.empty((len(mixtures), self.layout.columns), dtype=np.float32)
            latent_similarities(mixtures, self._dimensions, found)
            return found

        return similarities


class VectorSpace:
    """Cosines of sums of word vectors, in the context of each topic."""

    def __init__(self, layout: Layout, vectors: WordVectors, topics: Floats) -> None:
        """The vector of each column's topic; of length 1, as those of the words are."""
        self.layout = layout
        self._vectors = vectors
        self._topics = topics

    def bind(self, vocabulary: Vocabulary) -> Similarity:
        """Similarities of entries whose words are numbered by a vocabulary."""
        rows = self._vectors.numbers(list(vocabulary))
        cosines = np.empty((len(rows), self.layout.columns), dtype=np.float32)
        word_cosines(rows, self._vectors.matrix, self._topics, cosines)

        def similarities(bags: Bags) -> Floats:
            found = np.empty((len(bags.starts) - 1, self.layout.columns), dtype=np.float32)
            vector_similarities(bags.starts, bags.words, rows, self._vectors.matrix, cosines, found)
            return found

        return similarities


Space = BowSpace | PresenceSpace | LatentSpace | VectorSpace
"""Everything that has a ``layout`` and can be bound to a vocabulary."""
