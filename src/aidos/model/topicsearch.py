"""Which topics of a taxonomy a text is about, by retrieval: the query mapping T(q) of UPS, with relevances rel_R(q, t).

Topics are documents: the name three times, the names on the way down to it, the description and the typical words. The
root is none, since to be about everything says nothing. A text finds the best 20 topics of those with at least 0.3 of
the best score, and of these no topic that lies above another of them, so that what is found has no overlap. It is a
rough map: short texts are ambiguous, and a taxonomy covers what its author thought of. Nothing is promised about any
single text.

`TopicMap` gives every text one topic: the one under which its words are most likely, or none without a known word. To
it a topic is its name, its typical words and its description.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.jsontext import parse_json
from aidos.core.taxonomy import Taxonomy, Topic
from aidos.core.topictree import TopicTree
from aidos.engine.files import directory_when_done
from aidos.engine.inputs import read_bytes
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import BM25, QueryLikelihood, Scorer
from aidos.model.retrieval.search import search, search_batch
from aidos.model.taxonomies.cache import digest_of
from aidos.model.text.analyser import Analyser

__all__ = ["NO_PLACE", "NO_TOPIC", "TopicHits", "TopicMap", "TopicSearch", "TopicShares"]

Floats = NDArray[np.float64]
Places = NDArray[np.int32]
Longs = NDArray[np.int64]

NO_PLACE = -1
"""Of a text without any word that a topic knows."""
ANALYSER = Analyser(stop_words="english", stemmer="english")
NAMES = 3
"""How often a topic's own name counts."""
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
        scorer: Scorer | None = None,
        index: Index | None = None,
    ) -> None:
        """Index the topics, or take an ``index`` that an earlier one saved; BM25 unless a scorer is given."""
        self.taxonomy = taxonomy
        self.tree = tree or TopicTree.of(taxonomy)
        self.scorer = scorer or BM25()
        if not isinstance(self.scorer, BM25) and not getattr(self.scorer, "matching_only", False):
            raise ParameterError(
                f"{self.scorer.name} gives scores below 0, of which no share can be taken",
                hint="use bm25, or set matching_only",
            )
        self._index = index or Index.build(_documents(taxonomy, self.tree), analyser=ANALYSER)

    @classmethod
    def open(
        cls, path: Path, taxonomy: Taxonomy, tree: TopicTree | None = None, *, scorer: Scorer | None = None
    ) -> Self:
        """Map what `save` wrote; InputError where it is of another taxonomy."""
        try:
            digest = parse_json(read_bytes(path / ABOUT))["digest"]
        except (InputError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is no index of topics, or is damaged", hint="make it again") from error
        if digest != digest_of(taxonomy):
            raise InputError(f"{path} is the index of another taxonomy", hint="make it again for this one")
        return cls(taxonomy, tree, scorer=scorer, index=Index.open(path / INDEX))

    def save(self, path: Path) -> None:
        """Write the index to a new directory, whole or not at all."""
        with directory_when_done(path, private=True) as partial:
            self._index.save(partial / INDEX)
            (partial / ABOUT).write_text(json.dumps({"digest": digest_of(self.taxonomy)}), encoding="utf-8")
        self._index = Index.open(path / INDEX, verify=False)

    def find(self, text: str, *, most: int = 20, least: float = 0.3) -> TopicHits:
        """The best topics, at most ``most``, with at least that share of the best score and without overlap."""
        _check(most, least)
        hits = search(self._index, text, self.scorer, most)
        if not len(hits):
            return TopicHits(places=np.zeros(0, dtype=np.int32), scores=np.zeros(0))
        enough = hits.scores >= least * hits.scores[0]
        places, scores = hits.places[enough] + np.int32(1), hits.scores[enough]
        apart = ~_above_another(self.tree, places)
        return TopicHits(places=places[apart], scores=scores[apart])

    def map_texts(self, texts: Sequence[str], *, threads: int | None = None) -> Places:
        """The place of the best topic of each text, NO_PLACE where there is none."""
        found = search_batch(self._index, texts, self.scorer, size=1, threads=threads)
        places = np.full(len(texts), NO_PLACE, dtype=np.int32)
        there = found.sizes > 0
        if there.any():
            places[there] = found.places[there, 0] + 1
        return places

    def share_texts(
        self, texts: Sequence[str], *, most: int = 5, least: float = 0.3, threads: int | None = None
    ) -> TopicShares:
        """What `find` finds for each text, as shares that sum to 1."""
        _check(most, least)
        found = search_batch(self._index, texts, self.scorer, size=most, threads=threads)
        room = found.places.shape[1]
        there = np.arange(room) < found.sizes[:, None]
        places = np.where(there, found.places + np.int32(1), np.int32(NO_PLACE))
        scores = np.where(there, found.scores, 0.0)
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
    ways = [""] * len(tree)
    for place, (topic_id, parent) in enumerate(zip(tree.ids, tree.parents.tolist(), strict=True)):
        if not place:
            continue
        topic = taxonomy[topic_id]
        way = ways[parent]
        ways[place] = f"{way} {topic.name}"
        yield topic_id, " ".join((*[topic.name] * NAMES, way, topic.description, *topic.words))


NO_TOPIC = ""
"""Of a text without any word that a topic knows."""


class TopicMap:
    """Maps texts to the topics of a taxonomy, each text to one."""

    def __init__(self, taxonomy: Taxonomy, *, analyser: Analyser = ANALYSER, depth: int | None = None) -> None:
        """With ``depth`` topics further down count as their ancestor at that depth."""
        if depth is not None and depth < 0:
            raise ParameterError(f"depth must be at least 0, got {depth}", hint="1 tells the main branches apart")
        self.taxonomy = taxonomy
        self.depth = depth
        self._index = Index.build(((topic.id, _words(topic)) for topic in taxonomy.walk()), analyser=analyser)

    def topics(self, texts: Sequence[str]) -> list[str]:
        """The topic of each text, NO_TOPIC where there is none."""
        found = search_batch(self._index, texts, QueryLikelihood(), size=1)
        return [self._settle(hits.ids[0]) if hits.ids else NO_TOPIC for hits in found]

    def _settle(self, topic_id: str) -> str:
        if self.depth is None:
            return topic_id
        path = self.taxonomy.path(topic_id)
        return path[min(self.depth, len(path) - 1)].id


def _words(topic: Topic) -> str:
    # The name says most, so it counts twice.
    return " ".join((topic.name, topic.name, *topic.words, topic.description))
