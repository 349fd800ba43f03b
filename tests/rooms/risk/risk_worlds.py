"""Small communities with everything that goes wrong in large ones, and knowledge to rank them by."""

import atexit
from contextlib import ExitStack
from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from aidos.engine.embedded import EmbeddedEngine
from aidos.model.latent.model import TopicModel
from aidos.model.sensitive import SensitiveTopic, TopicSet
from aidos.model.text.analyser import Analyser
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.people import read_people

WEEK = 7 * 86_400
NAMES = [f"word{number}" for number in range(24)]
TOPICS = TopicSet(
    topics=(
        SensitiveTopic(name="debt", domain="money", words=tuple(NAMES[0:4])),
        SensitiveTopic(name="loans", domain="money", words=tuple(NAMES[3:6]), weights=(3.0, 2.0, 1.0)),
        SensitiveTopic(name="taxes", domain="money", words=tuple(NAMES[6:9])),
        SensitiveTopic(name="banks", domain="money", words=(NAMES[9], NAMES[0])),
        SensitiveTopic(name="grief", domain="loss", words=tuple(NAMES[10:13])),
        SensitiveTopic(name="hiv", domain="health", words=tuple(NAMES[13:16])),
        SensitiveTopic(name="cancer", domain="health", words=tuple(NAMES[15:18])),
    )
)
ASKED = ("debt", "grief", "hiv", "banks")
DIMENSIONS = {"debt": 0, "loans": 1, "taxes": 0, "banks": 2, "grief": 3, "hiv": 4, "cancer": 5}
"""Debt and taxes are one latent topic."""


def posts(rows):
    """A table of posts from (author, seconds, text); without times where the first has none."""
    authors, times, texts = zip(*rows, strict=True)
    columns = {
        "post_id": pa.array([f"p{number:05}" for number in range(len(rows))]),
        "author_id": pa.array(authors),
        "text": pa.array(texts, type=pa.string()),
    }
    if times[0] is not None:
        columns["timestamp"] = pa.array(times, type=pa.timestamp("s"))
    return pa.table(columns)


@cache
def engine():
    """One for all tests: opening it takes longer than reading a few rows."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(EmbeddedEngine(threads=1))


def people_of(rows, **options):
    return read_people(engine().table(posts(rows)), **options)


def models_of(seed=5, *, topics=TOPICS, analyser=None):
    """Random knowledge over the words; two of them are in no model."""
    analyser = analyser or Analyser()
    stream = np.random.default_rng(seed)
    known = NAMES[:22]
    return RiskModels(
        topics=topics,
        latent=TopicModel(
            words=tuple(known),
            phi=stream.dirichlet(np.full(len(known), 0.2), 6).astype(np.float32),
            prior=np.full(6, 0.1, dtype=np.float32),
            analyser=analyser,
        ),
        dimensions=DIMENSIONS,
        vectors=WordVectors(
            words=tuple(known), matrix=stream.normal(size=(len(known), 5)).astype(np.float32), analyser=analyser
        ),
    )


texts = st.lists(st.sampled_from(NAMES), max_size=8).map(" ".join)
rows = st.lists(st.tuples(st.sampled_from("abcde"), st.integers(-3 * WEEK, 6 * WEEK), texts), min_size=1, max_size=25)
"""Entries of up to five people, some without words, before and after 1970."""


def heard(given):
    """The same with one post that has a word of every topic, so that none is refused."""
    return [*given, ("z", 0, " ".join(NAMES[:18]))]
