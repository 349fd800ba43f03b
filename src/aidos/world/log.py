"""The search log: queries, reformulations and clicks of everybody, block after block.

An average person and month has about 56 keywords, 20 queries, 14 clicks and 7 query pairs (two consecutive, different
queries of one session). Clicks follow a position-based model: a result is clicked when it is looked at, which the
position decides, and attractive, which depends on the query. Results are documents of the query's topic; the log does
not run the search service of ``results.py``. Blocks can be made in any order; rows go by person, then by time.

When people search, and what for: the sessions behind the log. A person searches by the rhythm of the local day, in
sessions that follow her interests. Those of afflicted people come back every week with a handful of needs, those of
professionals spread over the domain, and curious people have one burst of sessions within two days of the news.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aidos.world.columns import Column, append, coded, column, merged, texts
from aidos.world.documents import document_number, document_urls, site_urls
from aidos.world.people import (
    FORMS,
    ROLES,
    People,
    Wording,
    block_count,
    draw_ranks,
    draw_sites,
    draw_topics,
    news_days,
    pack_queries,
    people_block,
    unpack_queries,
)
from aidos.world.prose import FIRST_CLIENT, client_texts, digit_texts
from aidos.world.size import MONTHS, START, World
from aidos.world.streams import Flags, Floats, Ints, fresh_stream, hash_numbers, hash_units
from aidos.world.vocabulary import Vocabulary, build_vocabulary

__all__ = ["SESSIONS_PER_MONTH", "LogMaker", "Sessions", "draw_domain", "draw_sessions", "local_starts", "log_blocks"]

GOES_ON = 0.35
"""How likely another query follows in the session: 7 pairs in 20 queries."""
LONGEST_SESSION = 12
DRIFTS = 0.2
TO_SITES = 0.2
TO_FAVOURITE_SITE = 0.7
FAVOURITE_SITES = 5
NARROW_NEEDS = 4
NARROW_RANKS = 25
SEPARATE = 1860
"""Seconds between sessions, at least: more than the usual gap of half an hour."""

RESULTS = 10
EXAMINED = np.arange(1, RESULTS + 1) ** -1.1
TOPIC_CLICKS = 0.63
"""Clicks for a query about a topic, on average; a little more for sites makes 0.7 in all."""
SITE_CLICKS = np.array([0.84] + [0.015] * (RESULTS - 1))
TIMES = pa.timestamp("s")


@dataclass(frozen=True, slots=True)
class _Queries:
    """Queries of a block, in the order of the log."""

    sessions: Ints
    """The session each belongs to."""
    packed: Ints
    """Topic, rank and form: see ``needs.py``."""


@dataclass(frozen=True, slots=True)
class _Clicks:
    """Clicks of a block, by query and then by position."""

    queries: Ints
    positions: Ints
    """Counted from 1."""


@dataclass(frozen=True, slots=True)
class LogMaker:
    """Makes the log of one world."""

    world: World
    vocabulary: Vocabulary
    wording: Wording

    @classmethod
    def of(cls, world: World) -> LogMaker:
        """A maker with the vocabulary built."""
        vocabulary = build_vocabulary(world)
        return cls(world, vocabulary, Wording(world.seed, vocabulary))

    def block(self, number: int) -> pa.Table:
        """The rows of one block of people: the same whenever and wherever they are made."""
        stream = fresh_stream(self.world.seed, "log", number)
        people = people_block(self.world, self.vocabulary, number)
        sessions = draw_sessions(self.world, self.vocabulary, people, stream)
        queries = self._queries(people, sessions, stream)
        distinct, which = np.unique(queries.packed, return_inverse=True)
        clicks = self._clicks(distinct, which, stream)
        rows = np.repeat(np.arange(len(queries.packed)), 1 + np.bincount(clicks.queries, minlength=len(which)))
        is_query = np.concatenate([[True], rows[1:] != rows[:-1]])
        times = _times(sessions, queries.sessions[rows], is_query, stream)
        objects, positions = self._objects(distinct[which[clicks.queries]], clicks.positions, is_query)
        owners = sessions.people[queries.sessions]
        return pa.table(
            {
                "client_id": coded(owners[rows], client_texts(people.numbers)),
                "timestamp": column(times + int(START.timestamp()), TIMES),
                "user_query": merged(which[rows], self.wording.texts(distinct)),
                "session_id": coded(queries.sessions[rows], _numbered(people, sessions.people, "s", 5)),
                "query_id": coded(rows, _numbered(people, owners, "q", 6)),
                "action": coded(1 - is_query.astype(np.int64), texts(("query", "click"))),
                "object_id": objects,
                "position": positions,
            }
        )

    def _queries(self, people: People, sessions: Sessions, stream: np.random.Generator) -> _Queries:
        """The queries of each session: forms of one need, then perhaps of another."""
        more = np.log(1.0 - stream.random(len(sessions.people))) / np.log(GOES_ON)
        lengths = 1 + np.minimum(more.astype(np.int64), LONGEST_SESSION - 1)
        session = np.repeat(np.arange(len(lengths)), lengths)
        first = np.zeros(len(session), dtype=np.bool_)
        first[np.cumsum(lengths) - lengths] = True
        fresh = first | (stream.random(len(session)) < DRIFTS)
        need = np.cumsum(fresh) - 1
        topics, ranks = self._needs(people, sessions, session[fresh], stream)
        # A step of 1 to 3 forms on is always another form; the first form is mostly the plain one.
        plain = np.where(stream.random(len(session)) < 0.7, 0, stream.integers(1, FORMS, len(session)))
        steps = np.where(first, plain, stream.integers(1, FORMS, len(session)))
        walked = np.cumsum(steps)
        forms = (walked - (walked - steps)[first][session]) % FORMS
        return _Queries(session, pack_queries(topics[need], ranks[need], forms))

    def _needs(
        self, people: People, sessions: Sessions, session: Ints, stream: np.random.Generator
    ) -> tuple[Ints, Ints]:
        """Topics and ranks: a site, one of the few needs of an afflicted person, or a need of the session's topic."""
        who = people.numbers[sessions.people[session]]
        units, kinds, choices = stream.random((3, len(session)))
        narrow = sessions.narrow[session]
        to_site = ~narrow & (kinds < TO_SITES)
        favourite = kinds < TO_SITES * TO_FAVOURITE_SITE
        known = hash_units(self.world.seed, "favourite", who, (choices * FAVOURITE_SITES).astype(np.int64))
        sites = draw_sites(np.where(favourite, known, units))
        few = hash_numbers(self.world.seed, "narrow", who, (choices * NARROW_NEEDS).astype(np.int64)) % NARROW_RANKS
        ranks = np.where(to_site, sites, np.where(narrow, few, draw_ranks(units)))
        return np.where(to_site, self.wording.sites, sessions.topics[session]), ranks

    def _clicks(self, distinct: Ints, which: Ints, stream: np.random.Generator) -> _Clicks:
        topics, _, _ = unpack_queries(distinct)
        level = TOPIC_CLICKS / EXAMINED.sum() * (0.4 + 1.2 * hash_units(self.world.seed, "attraction", distinct))
        chances = np.where((topics == self.wording.sites)[:, None], SITE_CLICKS, level[:, None] * EXAMINED)
        # Sixteen bits a result decide: finer chances would cost most of the time of a block.
        drawn = np.frombuffer(stream.bytes(2 * RESULTS * len(which)), np.uint16).reshape(-1, RESULTS)
        queries, places = np.nonzero(drawn < (chances * 2**16).astype(np.uint16)[which])
        return _Clicks(queries, places + 1)

    def _objects(self, packed: Ints, positions: Ints, is_query: Flags) -> tuple[Column, Column]:
        """The columns of clicked results and their positions: empty in rows of queries."""
        topics, ranks, _ = unpack_queries(packed)
        at_home = (topics == self.wording.sites) & (positions == 1)
        start = hash_units(self.world.seed, "results", packed) ** 3 * self.world.documents_per_topic
        places = (start.astype(np.int64) + positions - 1) % self.world.documents_per_topic
        numbers = document_number(self.vocabulary, topics % len(self.vocabulary.topics), places)
        keys, which = np.unique(np.where(at_home, -1 - ranks, numbers), return_inverse=True)
        sites = int(np.searchsorted(keys, 0))
        urls = append(site_urls(-1 - keys[:sites]), document_urls(self.world.seed, self.vocabulary, keys[sites:]))
        codes = np.zeros(len(is_query), dtype=np.int64)
        codes[~is_query] = which
        ranked = np.zeros(len(is_query), dtype=np.int32)
        ranked[~is_query] = positions
        return coded(codes, urls, is_query), column(ranked, absent=is_query)


def log_blocks(world: World) -> Iterator[pa.Table]:
    """The whole log, a block of people at a time."""
    maker = LogMaker.of(world)
    for number in range(block_count(world)):
        yield maker.block(number)


def _times(sessions: Sessions, session: Ints, is_query: Flags, stream: np.random.Generator) -> Ints:
    """Seconds after the beginning: actions follow each other, and sessions of one person never touch."""
    waits = stream.standard_exponential(len(session))
    steps = np.where(is_query, np.minimum(15 + 60 * waits, 900), np.minimum(4 + 20 * waits, 300)).astype(np.int64)
    first = np.concatenate([[True], session[1:] != session[:-1]])
    steps[first] = 0
    passed = np.cumsum(steps)
    passed -= passed[first][session]
    last = np.concatenate([first[1:], [True]])
    busy = passed[last] + SEPARATE
    # Each start is at least the one before plus what that session takes: a running maximum, person by person.
    before = np.cumsum(busy) - busy
    lane = sessions.people << 36
    starts = np.maximum.accumulate(sessions.starts - before + lane) + before - lane
    times: Ints = starts[session] + passed
    return times


def _numbered(people: People, owners: Ints, letter: str, width: int) -> Column:
    """Names that count from 1 within each person: the pseudonym, a letter, the number."""
    first = np.concatenate([[True], owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, np.bool_)
    begins = np.flatnonzero(first)
    places = np.arange(len(owners)) - np.repeat(begins, np.diff(np.append(begins, len(owners))))
    return digit_texts((people.numbers[owners] + FIRST_CLIENT, 8), letter, (places + 1, width))


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
