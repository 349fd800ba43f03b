"""Who lives in the world: interests, activity, time zone, and the truth about them.

Most people are ordinary. A few per cent are *afflicted* by a sensitive state and come back to it week after week, some
are *professionals* who read all over its domain, some are *curious* and look once, when news breaks. A person is the
same in worlds of every size with the same seed and topics. The labels are truth for tests, not a model of illness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.world.size import World
from aidos.world.streams import BLOCK, Floats, Ints, fresh_stream, hash_numbers
from aidos.world.vocabulary import Vocabulary

__all__ = ["ROLES", "ROLE_SHARES", "People", "block_count", "draw_topics", "news_days", "people_block"]

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
