"""A world like that of the thesis: 975 people, about 253,000 queries, 142 topics, made from four numbers.

Nobody has the thesis' log. What its table says about people fits a world drawn like this:

- Profile sizes follow a Pareto law from 150 queries on with mean 260 (exponent 2.35). All random (alpha = 1), a person
  with n queries has entropy ln n less what falls together by chance; the mean of ln n is 5.43, the chance part 0.17,
  and the difference, 5.26, is half a percent from the thesis' 5.29.
- Each person's shares of topics are drawn by a Pitman-Yor process with discount 0.5 and strength -0.04 (broken sticks
  with Beta(1 - d, theta + k d) parts): a few large interests and many small ones. Two numbers of the thesis fix the two
  parameters. Two of a person's queries share a topic with probability (1 - d) / (1 + theta) = 0.52, which is what
  random assignment loses in coherence (0.535 there). The entropy of topics is psi(1 + theta) - psi(1 - d) = 1.32, less
  0.13 since a few hundred queries on 142 topics do not show the whole tail. With alpha = 0 every chunk is whole in one
  account and few chunks of a person meet by chance, so the entropy over accounts is that of the topics: 1.18.
- Which topics people have follows a Zipf law over the 142 with exponent 1.3, which fits the least divergence of random
  assignment (0.86).

Sizes and the first two sticks are drawn evenly over their quantiles, so that one world is like another. Not modelled:
time, sessions, and likes of people for related topics.

`write_posts` makes questions and answers for it, so that the whole experiment runs without anybody's data. Every topic
has words of its own and twelve niches with further ones; a person who asks on a topic mostly asks within one niche of
it. A text mixes common words, words of the topic and words of the niche, all with Zipf frequencies. Answers fall on
topics as questions do, and on niches evenly. Nothing here is language; nobody's style is modelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["ThesisWorld", "thesis_world", "write_posts"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Strings: TypeAlias = Any
"""Strings of Arrow, whose types have no names that fit all versions."""

OVERSAMPLED = 64
"""Draws per quantile."""
EVEN_STICKS = 2
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ThesisWorld:
    """How people and their interests are drawn."""

    people: Annotated[int, Ge(1)] = 975
    """How many people there are."""
    topics: Annotated[int, Ge(1)] = 142
    """How many topics there are."""
    least_queries: Annotated[int, Ge(1)] = 150
    """Queries of the smallest profile."""
    size_exponent: Annotated[float, Gt(1)] = 2.35
    """How fast large profiles become rare (Pareto's exponent)."""
    discount: Annotated[float, Ge(0), Lt(1)] = 0.5
    """How heavy the tail of small interests is (d)."""
    strength: Annotated[float, Gt(-1)] = -0.04
    """How even the large interests are (theta); more than minus the discount."""
    popularity: Annotated[float, Ge(0), Le(5)] = 1.3
    """How much more popular the first topics are (Zipf's exponent)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.strength <= -self.discount:
            raise ParameterError(
                f"ThesisWorld: strength must be more than -discount, got {self.strength} with {self.discount}"
            )

    def draw(self, seed: int) -> Objects:
        """People's queries in random order, each with its topic."""
        stream = np.random.default_rng(seed)
        quantiles = (np.arange(self.people) + 0.5) / self.people
        sizes = np.floor(self.least_queries * (1 - quantiles) ** (-1 / self.size_exponent)).astype(np.int64)
        sizes = stream.permutation(sizes)
        counts = stream.multinomial(sizes, self._shares(stream))
        labels = self._labels(stream)
        held, places = np.nonzero(counts)
        numbers = counts[held, places]
        people, topics = np.repeat(held, numbers), np.repeat(labels[held, places], numbers)
        order = stream.permutation(len(people))
        return Objects(people=people[order], topics=topics[order])

    def _shares(self, stream: np.random.Generator) -> Floats:
        """People by interests, the largest not always first."""
        left, shares = np.ones(self.people), np.empty((self.people, self.topics))
        for stick in range(self.topics):
            ours, others = 1 - self.discount, self.strength + (stick + 1) * self.discount
            if stick < EVEN_STICKS:
                many = np.sort(stream.beta(ours, others, self.people * OVERSAMPLED))
                part = stream.permutation(many[OVERSAMPLED // 2 :: OVERSAMPLED])
            else:
                part = stream.beta(ours, others, self.people)
            shares[:, stick] = left * part
            left *= 1 - part
        whole: Floats = shares / shares.sum(axis=1, keepdims=True)
        return whole

    def _labels(self, stream: np.random.Generator) -> Longs:
        """People by interests: which topic it is, popular ones being drawn first."""
        weights = np.arange(1, self.topics + 1) ** -self.popularity
        return np.argsort(stream.exponential(size=(self.people, self.topics)) / weights, axis=1).astype(np.int64)


def thesis_world(seed: int) -> Objects:
    """The queries of 975 people on 142 topics, as in the thesis."""
    return ThesisWorld().draw(seed)


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
