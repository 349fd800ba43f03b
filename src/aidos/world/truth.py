"""What is true in the world, apart from what can be seen: the answers to check mechanisms against.

One long table: what it is about (a person, a topic, an account, a query), whose it is, the fact, the topic it names,
and a number. It belongs beside the samples, never inside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from aidos.world.columns import column, repeated, take, texts
from aidos.world.people import ROLES, People, block_count, news_days, people_block
from aidos.world.prose import client_texts
from aidos.world.results import (
    account_audit,
    account_count,
    account_names,
    build_index,
    query_names,
)
from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary, build_vocabulary

__all__ = ["truth_blocks"]

NOTABLE = 0.05
"""The smallest share of a person's interests that is told."""


def truth_blocks(world: World) -> Iterator[pa.Table]:
    """Facts about topics, then people, then audited accounts and their queries."""
    vocabulary = build_vocabulary(world)
    yield _topics(world, vocabulary)
    for block in range(block_count(world)):
        yield _people(people_block(world, vocabulary, block), vocabulary)
    index = build_index(world, vocabulary)
    for account in range(account_count(world)):
        audit = account_audit(world, vocabulary, index, account)
        name = str(account_names(np.array([account]))[0])
        rows: list[Row] = [("account", name, "switch-rate", None, audit.rate)]
        rows.extend(
            ("account", name, "profile", vocabulary.topics[topic].id, float(audit.weights[topic]))
            for topic in np.flatnonzero(audit.weights).tolist()
        )
        places = np.arange(len(audit.switched))
        names = map(str, query_names(np.full(len(places), account), places))
        rows.extend(
            ("query", query, "switched", None, float(on)) for query, on in zip(names, audit.switched, strict=True)
        )
        yield _table(rows)


Row = tuple[str, str, str, str | None, float]


def _table(rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    kinds = (pa.string(), pa.string(), pa.string(), pa.string(), pa.float64())
    names = ("about", "id", "fact", "topic", "value")
    return pa.table({name: pa.array(column, kind) for name, column, kind in zip(names, columns, kinds, strict=True)})


def _topics(world: World, vocabulary: Vocabulary) -> pa.Table:
    """The day of the news and the domain of every sensitive topic, and which topics in use are sensitive."""
    ids = [topic.id for topic in vocabulary.topics]
    rows: list[Row] = [
        ("topic", topic_id, "sensitive", topic_id, float(place >= vocabulary.ordinary))
        for place, topic_id in enumerate(ids[: vocabulary.in_use])
    ]
    rows += [
        ("topic", ids[topic], "news-day", ids[topic], float(day)) for topic, day in news_days(world, vocabulary).items()
    ]
    rows += [
        ("topic", ids[topic], "domain", ids[other], 1.0)
        for topic, domain in vocabulary.domains.items()
        for other in domain.tolist()
    ]
    return _table(rows)


def _people(people: People, vocabulary: Vocabulary) -> pa.Table:
    """The role of every person, activity, clock, and notable interests."""
    names = client_texts(people.numbers)
    ids = texts([topic.id for topic in vocabulary.topics])
    none = pa.nulls(len(people), pa.string())
    who, topics = np.nonzero(people.interests >= NOTABLE)
    roles = take(texts(ROLES), people.roles)
    about = take(ids, people.role_topics, people.role_topics < 0)
    pieces = [
        (names, roles, about, np.ones(len(people))),
        (names, repeated("activity", len(people)), none, people.activity),
        (names, repeated("utc-offset", len(people)), none, people.utc_offsets.astype(np.float64)),
        (
            take(names, who),
            repeated("interest", len(who)),
            take(ids, topics),
            people.interests[who, topics],
        ),
    ]
    return pa.concat_tables(
        pa.table(
            {"about": repeated("person", len(name)), "id": name, "fact": fact, "topic": topic, "value": column(value)}
        )
        for name, fact, topic, value in pieces
    )
