"""Counting words: what an adversary would try first, and what every cleverer measure must beat.

    keyword-count   how often somebody uses words of the topic, in all entries together
    keyword-rate    the same as a share of all her words
    bm25            the mean score of her three best entries for the words of the topic (missing ones count 0)

BM25 is that of the search engines (Robertson and Zaragoza 2009), an entry being a document of the community:

    sum over the topic's words w in the entry of  idf(w) tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)),
    idf(w) = ln(1 + (N - n(w) + 1/2) / (n(w) + 1/2)),      N entries, n(w) of which hold w

with k1 = 1.2 and b = 0.75. Who has no word of the topic has 0 by all three: that is no evidence. Redrawn entries are
scored with N, n(w) and the mean length of the community as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.rooms.risk.knowledge import RiskModels, make_presence, refuse_unheard
from aidos.rooms.risk.measure import RiskMeasure
from aidos.rooms.risk.people import People

__all__ = ["Bm25Risk", "KeywordCountRisk", "KeywordRateRisk", "KeywordRisk", "Scored"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]


class Scored(NamedTuple):
    """Entries of people, those of one person together."""

    scores: Floats
    """A row an entry, a column a topic."""
    lengths: Longs
    """Words of each entry."""
    owners: Longs
    """Whose each entry is, rising."""
    people: int

    def sums(self, best: int | None = None) -> Floats:
        """For everybody and every topic the sum over her entries, or over so many of the best ones."""
        found = np.zeros((self.people, self.scores.shape[1]))
        begins = np.searchsorted(self.owners, np.arange(self.people))
        counting = np.ones(len(self.owners), dtype=np.bool_)
        if best is not None:
            counting = np.arange(len(self.owners)) - begins[self.owners] < best
        for topic, scores in enumerate(self.scores.T):
            ordered = scores if best is None else scores[np.lexsort((-scores, self.owners))]
            weights = ordered[counting]
            found[:, topic] = np.bincount(self.owners[counting], weights=weights, minlength=self.people)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordRisk(RiskMeasure):
    """What they share: entries are scored by the words of a topic, and people by their entries."""

    zero_is_silence: ClassVar[bool] = True

    @abstractmethod
    def scored(self, people: People, words: Sequence[NDArray[np.int32]]) -> Floats:
        """Scores of entries (rows) for topics (columns), from the numbers of each topic's words."""

    @abstractmethod
    def together(self, entries: Scored) -> Floats:
        """The risks of people from the scores of their entries."""

    def risk(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        owners = people.owners(0, people.entries)
        return self.together(Scored(self._scores(people, topics, models), _lengths(people), owners, len(people)))

    def redrawn(self, people: People, person: int, topics: Sequence[str], models: RiskModels, draws: Longs) -> Floats:
        own = int(people.person_starts[person]) + draws.ravel()
        owners = np.repeat(np.arange(len(draws)), draws.shape[1])
        scores = self._scores(people, topics, models)
        return self.together(Scored(scores[own], _lengths(people)[own], owners, len(draws)))

    def _scores(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        refuse_unheard(topics, models, people.analyser, people.vocabulary)
        space = make_presence(topics, models, people.analyser)
        numbers = people.vocabulary.ids(space.terms)
        return self.scored(people, [numbers[own][numbers[own] >= 0] for own in space.topic_columns])


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordCountRisk(KeywordRisk):
    """How often somebody uses words of the topic."""

    name: ClassVar[str] = "keyword-count"

    def about(self) -> str:
        return "How often she uses words of the topic."

    def scored(self, people: People, words: Sequence[NDArray[np.int32]]) -> Floats:
        return _summed(people, words, people.bags.frequencies)

    def together(self, entries: Scored) -> Floats:
        return entries.sums()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordRateRisk(KeywordCountRisk):
    """Which share of somebody's words are words of the topic."""

    name: ClassVar[str] = "keyword-rate"

    def about(self) -> str:
        return "Which share of her words are words of the topic."

    def together(self, entries: Scored) -> Floats:
        written = np.bincount(entries.owners, weights=entries.lengths, minlength=entries.people)
        rates: Floats = entries.sums() / np.maximum(written, 1)[:, None]
        return rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25Risk(KeywordRisk):
    """How well somebody's best entries answer a query for the topic."""

    name: ClassVar[str] = "bm25"

    k1: Annotated[float, Gt(0), Le(1000)] = 1.2
    """How slowly further uses of a word in an entry stop counting."""
    b: Annotated[float, Ge(0), Le(1)] = 0.75
    """How much long entries count less."""
    entries: Annotated[int, Ge(1), Le(1000)] = 3
    """Of how many entries the mean is taken."""

    def about(self) -> str:
        return f"The mean BM25 score of her {self.entries} best entries, for the words of the topic."

    def scored(self, people: People, words: Sequence[NDArray[np.int32]]) -> Floats:
        bags, lengths = people.bags, _lengths(people)
        holding = np.bincount(bags.words, minlength=len(people.vocabulary))
        rarity = np.log1p((people.entries - holding + 0.5) / (holding + 0.5))
        spread = 1 - self.b + self.b * lengths / max(lengths.mean(), 1e-9)
        of_entries = np.repeat(spread, np.diff(bags.starts))
        scores = rarity[bags.words] * bags.frequencies * (self.k1 + 1) / (bags.frequencies + self.k1 * of_entries)
        return _summed(people, words, scores)

    def together(self, entries: Scored) -> Floats:
        return entries.sums(self.entries) / self.entries


def _lengths(people: People) -> Longs:
    """Words of each entry."""
    return _over_entries(people, people.bags.frequencies).astype(np.int64)


def _summed(people: People, words: Sequence[NDArray[np.int32]], values: NDArray[np.generic]) -> Floats:
    """For each entry and topic the values of the topic's words."""
    found = np.zeros((people.entries, len(words)))
    for topic, own in enumerate(words):
        counts = np.zeros(len(people.vocabulary), dtype=np.bool_)
        counts[own] = True
        found[:, topic] = _over_entries(people, np.where(counts[people.bags.words], values, 0))
    return found


def _over_entries(people: People, values: NDArray[np.generic]) -> Floats:
    owners = np.repeat(np.arange(people.entries), np.diff(people.bags.starts))
    return np.bincount(owners, weights=values, minlength=people.entries).astype(np.float64)
