"""The documents that can be searched: titles, texts, and the mix of topics in each, known exactly.

Documents are numbered; the number tells the topic, so that the log can point at a document without making it. Each is
about one topic and, in part, about a second one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aidos.world.columns import Column, column, glue, take, texts
from aidos.world.prose import SITES, Prose, Texts, digit_texts, site_address, site_names
from aidos.world.size import World
from aidos.world.streams import BLOCK, Floats, Ints, fresh_stream, hash_units
from aidos.world.vocabulary import Vocabulary, build_vocabulary, pick, zipf_cumulative

__all__ = [
    "Documents",
    "document_blocks",
    "document_count",
    "document_number",
    "document_table",
    "document_urls",
    "make_documents",
    "site_urls",
]

SHORTEST, LONGEST = 40, 120
TITLE = (3, 8)
SNIPPET = 24
BACKGROUND = 0.45
LEAST_SHARE, MOST_SHARE = 0.6, 0.95


@dataclass(frozen=True, slots=True)
class Documents:
    """Some documents: their topics and words."""

    numbers: Ints
    topics: Ints
    second_topics: Ints
    shares: Floats
    """How much of a document is about its first topic."""
    titles: Texts
    bodies: Texts


def document_count(world: World, vocabulary: Vocabulary) -> int:
    """How many documents the world has."""
    return world.documents_per_topic * len(vocabulary.topics)


def document_number(vocabulary: Vocabulary, topics: Ints, places: Ints) -> Ints:
    """The number of a topic's document at a place (from 0)."""
    numbers: Ints = places * len(vocabulary.topics) + topics
    return numbers


def document_urls(seed: int, vocabulary: Vocabulary, numbers: Ints) -> Column:
    """Where documents are found: a site, the topic, the document's place in it."""
    sites = pick(zipf_cumulative(SITES, shift=5.0), hash_units(seed, "document site", numbers))
    topics = texts([topic.id for topic in vocabulary.topics])
    return glue(
        site_urls(sites),
        take(topics, numbers % len(vocabulary.topics)),
        digit_texts((numbers // len(vocabulary.topics), 5)),
        between="/",
    )


def site_urls(sites: Ints) -> Column:
    """The home pages of sites, without a slash at the end."""
    return take(texts([site_address(site) for site in site_names()]), sites)


def make_documents(world: World, vocabulary: Vocabulary, prose: Prose, block: int) -> Documents:
    """One block of documents."""
    stream = fresh_stream(world.seed, "documents", block)
    numbers = np.arange(block * BLOCK, min((block + 1) * BLOCK, document_count(world, vocabulary)))
    topics = numbers % len(vocabulary.topics)
    other = stream.integers(0, vocabulary.in_use - 1, len(numbers))
    second = other + (other >= topics)
    shares = stream.uniform(LEAST_SHARE, MOST_SHARE, len(numbers))
    mix = (topics, np.minimum(second, vocabulary.in_use - 1), shares)
    titles = prose.draw(stream, stream.integers(*TITLE, len(numbers)), mix, BACKGROUND / 2)
    bodies = prose.draw(stream, stream.integers(SHORTEST, LONGEST, len(numbers)), mix, BACKGROUND)
    return Documents(numbers, topics, mix[1], shares, titles, bodies)


def document_table(world: World, vocabulary: Vocabulary, prose: Prose, block: int) -> pa.Table:
    """One block of documents with their texts."""
    made = make_documents(world, vocabulary, prose, block)
    stream = fresh_stream(world.seed, "document sentences", block)
    ends = prose.sentence_ends(stream, made.bodies)
    places = np.arange(len(ends)) - made.bodies.starts[made.bodies.owners]
    shown = places < SNIPPET
    opening = Texts(made.bodies.words[shown], np.minimum(made.bodies.lengths, SNIPPET))
    ids = texts([topic.id for topic in vocabulary.topics])
    return pa.table(
        {
            "object_id": document_urls(world.seed, vocabulary, made.numbers),
            "title": prose.write(made.titles, np.zeros(len(made.titles.words), dtype=np.bool_)),
            "snippet": prose.write(opening, ends[shown]),
            "text": prose.write(made.bodies, ends),
            "topic": take(ids, made.topics),
            "topic_share": column(np.round(made.shares, 4)),
            "second_topic": take(ids, made.second_topics),
        }
    )


def document_blocks(world: World) -> Iterator[pa.Table]:
    """All documents, a block at a time."""
    vocabulary = build_vocabulary(world)
    prose = Prose(vocabulary)
    for block in range(-(-document_count(world, vocabulary) // BLOCK)):
        yield document_table(world, vocabulary, prose, block)
