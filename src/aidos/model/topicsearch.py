"""Which topics of a taxonomy a text is about, by retrieval: the query mapping T(q) of UPS, with relevances rel_R(q, t).

Topics are documents: the name three times, the names on the way down to it, the description and the typical words, and
twice the words by which people search for topics of that name (`aidos.model.topics`). The root is none, since to be
about everything says nothing. A text is read as `aidos.model.topicwords` says and finds the best 20 topics of those
with at least 0.3 of the best score, and of these no topic that lies above another of them, so that what is found has no
overlap. Beside a best one of these that is not sensitive, one that the taxonomy marks as sensitive needs 0.8 of its
score: most of those with less were wrong. What people marked themselves has no part in it.

Where that is a guess, nothing is found. The best topic must explain at least SURE of what the words of the text weigh,
those that no topic has among them, or as much as ENOUGH of a word that one topic alone has. Both were chosen on real
queries, and what they do on others is in the guide to taxonomies. It stays a rough map: short texts are ambiguous, and
a taxonomy covers what its author thought of. Nothing is promised about any single text.

With an encoder (`aidos.model.topicwords`) texts of which the words say too little are asked of its vectors.

`TopicMap` gives every text one topic, or none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import log1p
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.core.taxonomy import Taxonomy
from aidos.core.topictree import TopicTree
from aidos.engine.files import directory_when_done
from aidos.engine.inputs import read_bytes
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import BM25
from aidos.model.retrieval.search import search_queries
from aidos.model.taxonomies.cache import digest_of
from aidos.model.topics import words_by_topic
from aidos.model.topicwords import ANALYSER, JOINT, Encoder, TopicVectors, TopicWords, phrased

__all__ = ["NO_PLACE", "NO_TOPIC", "TopicHits", "TopicMap", "TopicSearch", "TopicShares"]

Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Longs = NDArray[np.int64]

NO_PLACE = -1
"""Of a text that is about no topic, as far as one can tell."""
SCORER = BM25(b=0.1)
NAMES = 3
"""How often a topic's own name counts."""
LEARNED = 2
"""How often a word counts that aidos knows of a topic beside what the taxonomy says."""
UNKNOWN_WEIGHT = 0.5
"""What a word that no topic has weighs against the best topic, beside one that a single topic has."""
SURE, ENOUGH = 0.3, 0.6
LEAST, LEAST_SENSITIVE = 0.3, 0.8
"""Of the best score, what other topics need, and sensitive ones beside a best one that is not."""
CLOSENESS = 0.3
"""Cosine from which on a text is about a topic, where vectors are asked."""
READING = 2
"""Changes whenever the same taxonomy is indexed in another way."""
ABOUT = "topics.json"
INDEX = "index"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicHits:
    """Topics that a text is about, best first; none lies above another."""

    places: Places
    """Places in the TopicTree."""
    scores: Floats
    """Relevances, above 0: they compare topics of one text and nothing across texts."""

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicShares:
    """How much each of many texts is about topics: those of text i stand from ``starts[i]`` to ``starts[i + 1]``."""

    starts: Longs
    places: Places
    """Places in the TopicTree, the best of each text first."""
    shares: Floats
    """Relevance over the sum of relevances: above 0, and 1 in all for a text with any topic."""

    def __len__(self) -> int:
        return len(self.starts) - 1


class TopicSearch:
    """Finds topics by text. Any number of threads may ask."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        tree: TopicTree | None = None,
        *,
        index: Index | None = None,
        encode: Encoder | None = None,
        closeness: float = CLOSENESS,
    ) -> None:
        """Index the topics, or take an ``index`` that an earlier one saved.

        With ``encode`` its vectors are asked of texts that the words leave open, also of those in other languages.
        """
        self.taxonomy = taxonomy
        self.tree = tree or TopicTree.of(taxonomy)
        self._vectors: TopicVectors | None = None
        if encode is not None:
            texts = [text.replace(JOINT, " ") for _, text in _documents(taxonomy, self.tree)]
            self._vectors = TopicVectors(texts, encode, closeness=closeness)
        self._take(index or Index.build(_documents(taxonomy, self.tree), analyser=ANALYSER))

    def _take(self, index: Index) -> None:
        self._index = index
        self._telling = log1p((max(len(index), 1) - 0.5) / 1.5)
        self._words = TopicWords(
            index,
            list(self.taxonomy.topics.values()),
            weights=SCORER.rates(index.collection, np.arange(len(index.collection.term_counts))),
            unknown=UNKNOWN_WEIGHT * self._telling,
        )

    @classmethod
    def open(cls, path: Path, taxonomy: Taxonomy, tree: TopicTree | None = None) -> Self:
        """Map what `save` wrote; InputError where it is of another taxonomy, or of an earlier version of aidos."""
        try:
            digest = parse_json(read_bytes(path / ABOUT))["digest"]
        except (InputError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no index of topics, or is damaged", hint="make it again") from error
        if digest != _digest(taxonomy):
            raise InputError(f"{path} is the index of another taxonomy, or of another aidos", hint="make it again")
        return cls(taxonomy, tree, index=Index.open(path / INDEX))

    def save(self, path: Path) -> None:
        """Write the index to a new directory, whole or not at all."""
        with directory_when_done(path, private=True) as partial:
            self._index.save(partial / INDEX)
            (partial / ABOUT).write_text(json.dumps({"digest": _digest(self.taxonomy)}), encoding="utf-8")
        self._take(Index.open(path / INDEX, verify=False))

    @cached_property
    def _sensitive(self) -> NDArray[np.bool_]:
        """Which places the taxonomy marks, or something above them."""
        found = np.array([bool(self.taxonomy[topic].sensitive) for topic in self.tree.ids])
        for place in range(1, len(self.tree)):
            found[place] |= found[self.tree.parents[place]]
        return found

    def find(self, text: str, *, most: int = 20, least: float = LEAST) -> TopicHits:
        """The best topics, at most ``most``, with at least that share of the best score and without overlap."""
        _check(most, least)
        places, scores, sizes = self._best([text], most, 1)
        places, scores = places[0, : sizes[0]], scores[0, : sizes[0]]
        enough = scores >= least * scores[:1]
        places, scores = places[enough], scores[enough]
        apart = ~_above_another(self.tree, places)
        places, scores = places[apart], scores[apart]
        sensitive = self._sensitive[places]
        told = ~(sensitive & ~sensitive[:1]) | (scores >= LEAST_SENSITIVE * scores[:1])
        return TopicHits(places=places[told], scores=scores[told])

    def map_texts(self, texts: Sequence[str], *, threads: int | None = None) -> Places:
        """The place of the best topic of each text, NO_PLACE where there is none."""
        places, _, sizes = self._best(texts, 1, threads)
        found = np.full(len(texts), NO_PLACE, dtype=np.int32)
        found[sizes > 0] = places[sizes > 0, :1].ravel()
        return found

    def share_texts(
        self, texts: Sequence[str], *, most: int = 5, least: float = LEAST, threads: int | None = None
    ) -> TopicShares:
        """Topics of each text without overlap, sensitive or not, as shares that sum to 1: weak ones count little."""
        _check(most, least)
        found, given, sizes = self._best(texts, most, threads)
        room = found.shape[1]
        there = np.arange(room) < sizes[:, None]
        places, scores = np.where(there, found, np.int32(NO_PLACE)), np.where(there, given, 0.0)
        kept = there & (scores >= least * scores[:, :1])
        for column in range(room):
            mine = places[:, column]
            ends = mine + self.tree.sizes[mine]
            below = kept & (places > mine[:, None]) & (places < ends[:, None])
            # What lies below one topic lies below all above it, so that topics may be dropped one after the other.
            kept[:, column] &= ~below.any(axis=1)
        scores = np.where(kept, scores, 0.0)
        shares = scores / np.maximum(scores.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
        return TopicShares(starts=starts, places=places[kept], shares=shares[kept])

    def _best(self, texts: Sequence[str], most: int, threads: int | None) -> tuple[Places, Floats, Longs]:
        """The best topics of each text with their scores, and how many there are: none where it is not sure."""
        asked = self._words.read(texts)
        found = search_queries(self._index, asked.queries, SCORER, most, threads)
        if not found.places.shape[1]:
            return found.places, found.scores, found.sizes
        best = np.where(found.sizes > 0, found.scores[:, 0], 0.0)
        sure = best >= np.minimum(SURE * asked.weights, ENOUGH * self._telling)
        places, scores, sizes = found.places + np.int32(1), found.scores, np.where(sure, found.sizes, 0)
        unsure = np.flatnonzero(sizes == 0)
        if self._vectors is not None and len(unsure):
            closest, cosines, close = self._vectors.best([texts[at] for at in unsure.tolist()], places.shape[1])
            places[unsure], scores[unsure], sizes[unsure] = closest + np.int32(1), cosines, close
        return places, scores, sizes


def _check(most: int, least: float) -> None:
    if most < 1:
        raise ParameterError(f"most must be at least 1, got {most}")
    if not 0 <= least <= 1:
        raise ParameterError(f"least must be from 0 to 1, got {least}", hint="0.3 is usual")


def _above_another(tree: TopicTree, places: Places) -> NDArray[np.bool_]:
    """Which places have another of them below: the topics below one are the numbers that follow it."""
    ends = places + tree.sizes[places]
    below = (places[None, :] > places[:, None]) & (places[None, :] < ends[:, None])
    return np.asarray(below.any(axis=1))


def _documents(taxonomy: Taxonomy, tree: TopicTree) -> Iterator[tuple[str, str]]:
    """All topics but the root, in the order of their places, as texts."""
    more = words_by_topic(taxonomy)
    ways = [""] * len(tree)
    for place, (topic_id, parent) in enumerate(zip(tree.ids, tree.parents.tolist(), strict=True)):
        if not place:
            continue
        topic = taxonomy[topic_id]
        name, way = phrased(topic.name), ways[parent]
        ways[place] = f"{way} {name}"
        said = (topic.description, *map(phrased, topic.words))
        learned = map(phrased, more.get(topic_id, ()))
        yield topic_id, " ".join((*[name] * NAMES, way, *said, *[word for word in learned for _ in range(LEARNED)]))


def _digest(taxonomy: Taxonomy) -> str:
    """Names the taxonomy and the way in which it is indexed."""
    learned = sha256(repr(sorted(words_by_topic(taxonomy).items())).encode()).hexdigest()
    return f"{digest_of(taxonomy)}-{READING}-{learned}"


NO_TOPIC = ""
"""Of a text that is about no topic, as far as one can tell."""


class TopicMap:
    """Maps texts to the topics of a taxonomy, each text to one."""

    def __init__(self, taxonomy: Taxonomy, *, depth: int | None = None) -> None:
        """With ``depth`` topics further down count as their ancestor at that depth."""
        if depth is not None and depth < 0:
            raise ParameterError(f"depth must be at least 0, got {depth}", hint="1 tells the main branches apart")
        self.taxonomy = taxonomy
        self.depth = depth
        self._search = TopicSearch(taxonomy)

    def topics(self, texts: Sequence[str]) -> list[str]:
        """The topic of each text, NO_TOPIC where there is none."""
        ids = self._search.tree.ids
        return [NO_TOPIC if place == NO_PLACE else self._settle(ids[place]) for place in self._search.map_texts(texts)]

    def _settle(self, topic_id: str) -> str:
        if self.depth is None:
            return topic_id
        path = self.taxonomy.path(topic_id)
        return path[min(self.depth, len(path) - 1)].id
