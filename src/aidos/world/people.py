"""Who lives in the world: interests, activity, time zone, and the truth about them.

Most people are ordinary. A few per cent are *afflicted* by a sensitive state and come back to it week after week, some
are *professionals* who read all over its domain, some are *curious* and look once, when news breaks. A person is the
same in worlds of every size with the same seed and topics. The labels are truth for tests, not a model of illness.

What people search for, and in which words. A *need* is a topic and a rank in it: needs of low rank are asked by many,
and the tail has no end. A need is put into words in four *forms*: as it is, with a word more, with another last word,
with a word less; sessions move from form to form. The words follow from the seed, the need and the form alone, so the
same need reads the same for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.world.columns import Column, append, join_words, texts
from aidos.world.prose import SITES, rare_texts, site_names
from aidos.world.size import World
from aidos.world.streams import BLOCK, Floats, Ints, fresh_stream, hash_numbers, hash_units
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, pick, zipf_cumulative

__all__ = [
    "FORMS",
    "ROLES",
    "ROLE_SHARES",
    "People",
    "Wording",
    "block_count",
    "draw_ranks",
    "draw_sites",
    "draw_topics",
    "news_days",
    "pack_queries",
    "people_block",
    "unpack_queries",
]

ROLES = ("ordinary", "afflicted", "professional", "curious")
"""What a person is to her sensitive topic, by number."""
ROLE_SHARES = (0.915, 0.04, 0.015, 0.03)

SPREAD = 1.0
"""Of the logarithm of activity: the busiest hundredth does a good tenth of everything."""
MOST_ACTIVE = 20.0
INTEREST_CONCENTRATION = 0.08
STRAY_SHARE = 0.02
"""What everybody's searches have of sensitive topics, by accident."""
UTC_OFFSETS = (-8, -7, -6, -5, -3, 0, 1, 2, 3, 5, 8, 9, 10)
OFFSET_SHARES = (0.10, 0.03, 0.10, 0.17, 0.04, 0.14, 0.20, 0.05, 0.03, 0.05, 0.04, 0.03, 0.02)


@dataclass(frozen=True, slots=True)
class People:
    """A block of people, a row each."""

    numbers: Ints
    activity: Floats
    """Against the average of 1."""
    utc_offsets: Ints
    """Hours that their clocks are ahead of UTC."""
    roles: Ints
    role_topics: Ints
    """The sensitive topic that the role is about; -1 for ordinary people."""
    interests: Floats
    """A row a person, a column a topic in use; a row sums to 1."""

    def __len__(self) -> int:
        return len(self.numbers)

    def having(self, role: str) -> Ints:
        """The places of people with that role."""
        return np.flatnonzero(self.roles == ROLES.index(role))


def block_count(world: World) -> int:
    """Into how many blocks the people fall."""
    return -(-world.people // BLOCK)


def people_block(world: World, vocabulary: Vocabulary, block: int) -> People:
    """The people of one block. A whole block is drawn even when the world needs less of it."""
    stream = fresh_stream(world.seed, "people", block)
    here = min(BLOCK, world.people - block * BLOCK)
    activity = np.exp(SPREAD * stream.standard_normal(BLOCK) - SPREAD**2 / 2)
    offsets = stream.choice(UTC_OFFSETS, BLOCK, p=OFFSET_SHARES)
    roles = stream.choice(len(ROLES), BLOCK, p=ROLE_SHARES)
    topics = stream.integers(vocabulary.ordinary, vocabulary.in_use, BLOCK)
    return People(
        numbers=np.arange(block * BLOCK, block * BLOCK + here),
        activity=np.minimum(activity, MOST_ACTIVE)[:here],
        utc_offsets=offsets[:here],
        roles=roles[:here],
        role_topics=np.where(roles == 0, -1, topics)[:here],
        interests=_interests(stream, vocabulary)[:here],
    )


def draw_topics(people: People, who: Ints, stream: np.random.Generator) -> Ints:
    """A topic by interest for each place in ``who``."""
    cumulative = np.cumsum(people.interests, axis=1)
    cumulative[:, -1] = 1.0
    flat = (cumulative + np.arange(len(people))[:, None]).ravel()
    in_use = people.interests.shape[1]
    found = np.searchsorted(flat, who + stream.random(len(who)), side="right")
    topics: Ints = np.clip(found - who * in_use, 0, in_use - 1)
    return topics


def news_days(world: World, vocabulary: Vocabulary) -> dict[int, int]:
    """The day on which each sensitive topic is in the news, counted from 0: never in the first or last week."""
    topics = np.array(vocabulary.sensitive)
    days = 7 + hash_numbers(world.seed, "news", topics) % (world.days - 14)
    return dict(zip(topics.tolist(), days.tolist(), strict=True))


def _interests(stream: np.random.Generator, vocabulary: Vocabulary) -> Floats:
    """A few ordinary topics each, popular ones more often, and a stray share of the sensitive ones."""
    ordinary, sensitive = vocabulary.ordinary, len(vocabulary.sensitive)
    popularity = (np.arange(ordinary) + 3.0) ** -0.5
    concentration = INTEREST_CONCENTRATION * ordinary * popularity / popularity.sum()
    shares = stream.standard_gamma(concentration, (BLOCK, ordinary)) + 1e-9
    shares *= (1 - STRAY_SHARE) / shares.sum(axis=1, keepdims=True)
    return np.concatenate([shares, np.full((BLOCK, sensitive), STRAY_SHARE / sensitive)], axis=1)


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
