"""Questions and answers for a world of people and topics, so that the whole experiment runs without anybody's data.

Every topic has words of its own and twelve niches with further ones; a person who asks on a topic mostly asks within
one niche of it. A text mixes common words, words of the topic and words of the niche, all with Zipf frequencies.
Answers fall on topics as questions do, and on niches evenly. Nothing here is language; nobody's style is modelled.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["write_posts"]

Longs = NDArray[np.int64]
Strings: TypeAlias = Any
"""Strings of Arrow, whose types have no names that fit all versions."""

COMMON, TOPICAL, NICHE_WORDS = 3000, 400, 60
"""Words of each kind."""
NICHES = 12
IN_NICHE = 0.75
"""Share of a person's questions that are in her own niche of the topic."""
KINDS = (0.45, 0.30, 0.25)
"""Share of common words, of the topic's and of the niche's."""
FIRST_TIME = 1_577_836_800_000_000
"""The beginning of 2020, in microseconds; a second between two posts."""
QUESTION, ANSWER = (12, 40), (20, 90)
"""Words of the shortest and of the longest text."""


def write_posts(objects: Objects, seed: int, answers: int = 100_000) -> pa.Table:
    """Posts (`aidos.core.records.POSTS`): a question for each object, in order, and so many answers."""
    stream = np.random.default_rng(seed)
    topics = objects.labels
    width = int(topics.max(initial=0)) + 1
    chunks, owners = np.unique(objects.people * width + topics, return_inverse=True)
    own = stream.integers(0, NICHES, len(chunks))[owners]
    niches = np.where(stream.random(len(topics)) < IN_NICHE, own, stream.integers(0, NICHES, len(topics)))
    answered = stream.choice(topics, answers)
    asked_texts = _texts(topics, niches, QUESTION, width, stream)
    answer_texts = _texts(answered, stream.integers(0, NICHES, answers), ANSWER, width, stream)
    number = len(topics)
    return pa.table(
        {
            "post_id": pa.concat_arrays([_names("q", np.arange(number)), _names("a", np.arange(answers))]),
            "author_id": pa.concat_arrays([_names("p", objects.people), _names("x", np.arange(answers))]),
            "timestamp": pa.array(FIRST_TIME + np.arange(number + answers) * 1_000_000, pa.timestamp("us")),
            "text": pa.concat_arrays([asked_texts, answer_texts]),
            "forum": _names("f", np.concatenate([topics, answered])),
            "kind": pa.array(["question"] * number + ["answer"] * answers),
        }
    )


def _texts(topics: Longs, niches: Longs, lengths: tuple[int, int], width: int, stream: np.random.Generator) -> Strings:
    sizes = stream.integers(*lengths, len(topics), endpoint=True)
    owners = np.repeat(np.arange(len(topics)), sizes)
    kinds = stream.choice(len(KINDS), len(owners), p=KINDS)
    words = np.empty(len(owners), dtype=np.int64)
    firsts = (
        np.zeros(len(owners), dtype=np.int64),
        COMMON + topics[owners] * TOPICAL,
        COMMON + width * TOPICAL + (topics[owners] * NICHES + niches[owners]) * NICHE_WORDS,
    )
    for kind, (first, held) in enumerate(zip(firsts, (COMMON, TOPICAL, NICHE_WORDS), strict=True)):
        chosen = kinds == kind
        words[chosen] = first[chosen] + _zipf(held, int(chosen.sum()), stream)
    spelled = _names("w", np.arange(COMMON + width * (TOPICAL + NICHES * NICHE_WORDS)))
    starts = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
    listed: Any = pa.LargeListArray.from_arrays(starts, spelled.take(words))
    return pc.binary_join(listed, " ")


def _zipf(number: int, draws: int, stream: np.random.Generator) -> Longs:
    weights = np.cumsum(1.0 / np.arange(1, number + 1))
    drawn: Longs = np.searchsorted(weights, stream.random(draws) * weights[-1], side="right")
    return drawn


def _names(prefix: str, numbers: Longs) -> Strings:
    join: Any = pc.binary_join_element_wise
    return join(prefix, pa.array(numbers).cast(pa.string()), "")
