"""What people search for, and in which words.

A *need* is a topic and a rank in it: needs of low rank are asked by many, and the tail has no end. A need is put into
words in four *forms*: as it is, with a word more, with another last word, with a word less; sessions move from form to
form. The words follow from the seed, the need and the form alone, so the same need reads the same for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.world.columns import Column, append, join_words, texts
from aidos.world.prose import SITES, rare_texts, site_names
from aidos.world.streams import Floats, Ints, hash_numbers, hash_units
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, pick, zipf_cumulative

__all__ = ["FORMS", "Wording", "draw_ranks", "draw_sites", "pack_queries", "unpack_queries"]

FORMS = 4
SLOTS = 6
TAIL = 1.3
"""How fast the tail falls: about 1 / (1 + TAIL) of the distinct needs are asked once, however large the world."""
HEAD = 60.0
"""Ranks over which frequencies are nearly level."""
RANK_BITS = 30
MAX_RANK = 2**RANK_BITS - 1

SHORT_NEEDS = 20
SHORT_LENGTHS = np.cumsum([0.35, 0.45, 0.20])
LONG_LENGTHS = np.cumsum([0.03, 0.15, 0.32, 0.29, 0.14, 0.07])
BACKGROUND_SHARE = 0.22
RARE_FROM = 200
RARE_SHARE = 0.10
TABLE_BITS = 12
FIELDS = 5
"""Choices that one hash is enough for."""
SITE_WORDS = ("login", "www", "site")
RARE = -2
"""Stands for a rare token until its text is made."""


def draw_ranks(units: Floats) -> Ints:
    """Ranks of needs for fractions in [0, 1), by a Zipf-Mandelbrot law without an end."""
    ranks = HEAD * ((1.0 - units) ** (-1.0 / TAIL) - 1.0)
    whole: Ints = np.minimum(ranks, MAX_RANK).astype(np.int64)
    return whole


def draw_sites(units: Floats) -> Ints:
    """Ranks of sites for fractions in [0, 1)."""
    return pick(zipf_cumulative(SITES, shift=1.0), units)


def pack_queries(topics: Ints, ranks: Ints, forms: Ints) -> Ints:
    """One number for a topic, a rank and a form; the topic after the last one stands for sites."""
    packed: Ints = ((topics << RANK_BITS) + ranks) * FORMS + forms
    return packed


def unpack_queries(queries: Ints) -> tuple[Ints, Ints, Ints]:
    """Topics, ranks and forms of packed queries."""
    needs = queries // FORMS
    return needs >> RANK_BITS, needs & MAX_RANK, queries % FORMS


@dataclass(frozen=True, slots=True)
class Wording:
    """How the needs of one world are put into words."""

    seed: int
    vocabulary: Vocabulary
    known: Column = field(init=False, repr=False)
    """The vocabulary, then the names of sites and what goes with them."""

    def __post_init__(self) -> None:
        listed = (*self.vocabulary.words, *site_names(), *SITE_WORDS)
        object.__setattr__(self, "known", texts(listed))

    @property
    def sites(self) -> int:
        """The number that stands for sites where a topic is expected."""
        return len(self.vocabulary.topics)

    def texts(self, queries: Ints) -> Column:
        """Packed queries as typed."""
        topics, ranks, forms = unpack_queries(queries)
        words = np.full((len(queries), SLOTS + 1), -1, dtype=np.int64)
        named = topics == self.sites
        words[named] = self._site_words(ranks[named], forms[named])
        asked = ~named
        words[asked] = self._topic_words(topics[asked], ranks[asked], forms[asked])
        rare = np.flatnonzero(words == RARE)
        tokens = rare_texts(hash_numbers(self.seed, "rare", queries[rare // words.shape[1]] // FORMS))
        words.ravel()[rare] = len(self.known) + np.arange(len(rare))
        return _joined(append(self.known, tokens), words)

    def _site_words(self, ranks: Ints, forms: Ints) -> Ints:
        """A site's name: alone, with ``login``, after ``www``, with ``site``."""
        first = len(self.vocabulary.words)
        login, www, site = (first + SITES + place for place in range(3))
        words = np.full((len(ranks), SLOTS + 1), -1, dtype=np.int64)
        words[:, 0] = np.where(forms == 2, www, first + ranks)
        words[:, 1] = np.select([forms == 1, forms == 2, forms == 3], [login, first + ranks, site], -1)
        return words

    def _topic_words(self, topics: Ints, ranks: Ints, forms: Ints) -> Ints:
        """The first words of the need, as many as it has, changed as the form says."""
        choices = self._choices(topics, ranks)
        lengths = self._lengths(topics, ranks)
        words = np.where(np.arange(SLOTS + 1) < lengths[:, None], choices[:, : SLOTS + 1], -1)
        rare = (ranks >= RARE_FROM) & (hash_units(self.seed, "tail", topics, ranks) < RARE_SHARE)
        rows = np.arange(len(words))
        words[rows[rare], 0] = RARE
        longer, other, shorter = (rows[forms == form] for form in (1, 2, 3))
        words[longer, lengths[longer]] = choices[longer, SLOTS + 1]
        words[other, lengths[other] - 1] = choices[other, SLOTS + 2]
        # One word cannot lose a word: it gets another one.
        single, several = shorter[lengths[shorter] == 1], shorter[lengths[shorter] > 1]
        words[several, lengths[several] - 1] = -1
        words[single, 1] = choices[single, SLOTS + 3]
        return words

    def _lengths(self, topics: Ints, ranks: Ints) -> Ints:
        """How many words a need has: the most frequent needs have few."""
        units = hash_units(self.seed, "length", topics, ranks)
        return 1 + np.where(ranks < SHORT_NEEDS, pick(SHORT_LENGTHS, units), pick(LONG_LENGTHS, units))

    def _choices(self, topics: Ints, ranks: Ints) -> Ints:
        """Ten different words for each need, as numbers: some to begin with, the last three for other forms."""
        number = SLOTS + FORMS
        background = self.vocabulary.background
        typical, mixed = _word_table(0, 0.0), _word_table(len(background), BACKGROUND_SHARE)
        chosen = np.empty((number, len(topics)), dtype=np.int16)
        for slot in range(number):
            if slot % FIELDS == 0:
                bits = hash_numbers(self.seed, f"words {slot}", topics, ranks)
            table = mixed if 0 < slot < SLOTS else typical
            chosen[slot] = table[bits >> (slot % FIELDS * TABLE_BITS) & (2**TABLE_BITS - 1)]
            _make_different(chosen, slot)
        common = np.broadcast_to(background, (self.sites, len(background)))
        words: Ints = np.concatenate([self.vocabulary.topic_words, common], axis=1)[topics[:, None], chosen.T]
        return words


def _word_table(background: int, share: float) -> NDArray[np.int16]:
    """A table to look choices up in: words of the topic, and then background words with their share, by Zipf."""
    units = (np.arange(2**TABLE_BITS) + 0.5) / 2**TABLE_BITS
    chosen = pick(zipf_cumulative(WORDS_PER_TOPIC), (units - share) / (1 - share))
    plain = units < share
    if background:
        chosen[plain] = WORDS_PER_TOPIC + pick(zipf_cumulative(background), units[plain] / share)
    return chosen.astype(np.int16)


def _make_different(chosen: NDArray[np.int16], slot: int) -> None:
    """Move choices of a slot on to the next word of the topic until no earlier slot has the same."""
    suspects = np.arange(chosen.shape[1])
    while len(suspects):
        same = (chosen[:slot, suspects] == chosen[slot, suspects]).any(axis=0)
        suspects = suspects[same]
        chosen[slot, suspects] = (chosen[slot, suspects] + 1) % WORDS_PER_TOPIC


def _joined(words: Column, numbers: Ints) -> Column:
    """Rows of word numbers as texts; negative numbers stand for nothing."""
    present = numbers >= 0
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return join_words(words, numbers[present], starts)
