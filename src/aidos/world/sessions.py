"""When people search, and what for: the sessions behind the log.

A person searches by the rhythm of the local day, in sessions that follow her interests. Those of afflicted people come
back every week with a handful of needs, those of professionals spread over the domain, and curious people have one
burst of sessions within two days of the news.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aidos.world.people import ROLES, People, draw_topics, news_days
from aidos.world.size import MONTHS, World
from aidos.world.streams import Flags, Floats, Ints
from aidos.world.vocabulary import Vocabulary

__all__ = ["SESSIONS_PER_MONTH", "Sessions", "draw_domain", "draw_sessions", "local_starts"]

SESSIONS_PER_MONTH = 13.0
"""Sessions of an average person, those of special roles included."""
ROLE_SESSIONS = 0.31
"""What special roles add to the average, a person and month."""

AFFLICTED_EXTRA_A_WEEK = 0.6
BURST = 4
BURST_EXTRA = 3.0
BURST_DAYS = 2.0
PROFESSIONAL_SHARE = 0.35
ONSET_DAYS = 14

DAY = 86_400
HOURLY = (8, 4, 2, 1, 1, 2, 6, 14, 26, 36, 42, 44, 45, 44, 43, 43, 44, 46, 50, 58, 66, 64, 46, 22)
"""Searches by hour of the local day."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions of a block of people, by person and then by start."""

    people: Ints
    """The place of the person in the block."""
    topics: Ints
    starts: Ints
    """Seconds after the world's beginning, in UTC."""
    narrow: Flags
    """Whether the needs are the few that an afflicted person has."""


def draw_sessions(world: World, vocabulary: Vocabulary, people: People, stream: np.random.Generator) -> Sessions:
    """All sessions of a block of people."""
    usual = _usual_people(world, people, stream)
    usual_topics = _usual_topics(vocabulary, people, usual, stream)
    usual_days = stream.integers(0, world.days, len(usual)).astype(np.float64)
    sick, sick_days = _weekly(world, people, stream)
    nosy, nosy_days = _bursts(world, vocabulary, people, stream)
    who = np.concatenate([usual, sick, nosy])
    topics = np.concatenate([usual_topics, people.role_topics[sick], people.role_topics[nosy]])
    days = np.concatenate([usual_days, sick_days, nosy_days])
    starts = local_starts(days, people.utc_offsets[who], world, stream)
    narrow = np.zeros(len(who), dtype=np.bool_)
    narrow[len(usual) : len(usual) + len(sick)] = True
    order = np.argsort((who << 32) + starts, kind="stable")
    return Sessions(who[order], topics[order], starts[order], narrow[order])


def draw_domain(vocabulary: Vocabulary, topics: Ints, stream: np.random.Generator) -> Ints:
    """For each sensitive topic a topic of its domain, all equally likely."""
    drawn = topics.copy()
    units = stream.random(len(topics))
    for topic, domain in vocabulary.domains.items():
        mine = topics == topic
        drawn[mine] = domain[(units[mine] * len(domain)).astype(np.int64)]
    return drawn


def local_starts(days: Floats, utc_offsets: Ints, world: World, stream: np.random.Generator) -> Ints:
    """Moments of the given days by the local rhythm, in seconds of UTC after the beginning."""
    local = np.floor(days).astype(np.int64) * DAY + _time_of_day(stream.random(len(days)))
    starts: Ints = (local - utc_offsets * 3600) % (world.days * DAY)
    return starts


def _usual_people(world: World, people: People, stream: np.random.Generator) -> Ints:
    rate = (SESSIONS_PER_MONTH - ROLE_SESSIONS) * MONTHS * world.activity
    return np.repeat(np.arange(len(people)), stream.poisson(rate * people.activity))


def _usual_topics(vocabulary: Vocabulary, people: People, who: Ints, stream: np.random.Generator) -> Ints:
    """Topics by interest; professionals turn to their domain instead for a good part of the time."""
    topics = draw_topics(people, who, stream)
    professional = people.roles[who] == ROLES.index("professional")
    at_work = np.flatnonzero((stream.random(len(who)) < PROFESSIONAL_SHARE) & professional)
    topics[at_work] = draw_domain(vocabulary, people.role_topics[who[at_work]], stream)
    return topics


def _weekly(world: World, people: People, stream: np.random.Generator) -> tuple[Ints, Floats]:
    """Afflicted people's sessions: every week from the onset on."""
    afflicted = people.having("afflicted")
    weeks = world.days // 7
    times = 1 + stream.poisson(AFFLICTED_EXTRA_A_WEEK * world.activity, (len(afflicted), weeks))
    onset = stream.random(len(afflicted)) * ONSET_DAYS
    who = np.repeat(afflicted, times.sum(axis=1))
    week = np.repeat(np.tile(np.arange(weeks), len(afflicted)), times.ravel())
    days = (week + stream.random(len(week))) * 7
    kept = days >= np.repeat(onset, times.sum(axis=1))
    return who[kept], days[kept]


def _bursts(world: World, vocabulary: Vocabulary, people: People, stream: np.random.Generator) -> tuple[Ints, Floats]:
    """Curious people's sessions: all within two days of the news."""
    curious = people.having("curious")
    days = news_days(world, vocabulary)
    times = BURST + stream.poisson(BURST_EXTRA, len(curious))
    who = np.repeat(curious, times)
    news = np.array([days[topic] for topic in people.role_topics[who].tolist()], dtype=np.float64)
    return who, news + stream.random(len(who)) * BURST_DAYS


def _time_of_day(units: Floats) -> Ints:
    """Seconds of the local day for fractions in [0, 1)."""
    hours = np.concatenate([[0.0], np.cumsum(HOURLY) / sum(HOURLY)])
    seconds: Ints = np.interp(units, hours, np.arange(25) * 3600.0).astype(np.int64)
    return np.minimum(seconds, DAY - 1)
