"""What is assigned: objects (queries), each with its person and its topic or topics.

People and topics are numbered from 0. Two people's equal queries are two objects. A topic is one number per object
(a forum, a category), or a vector of weights over latent topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.errors import InputError
from aidos.rooms.shield.mediator.kernels.mixing import Rows

__all__ = ["MOST_NUMBER", "Objects", "TopicVectors", "check_alphas", "whole_numbers"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_NUMBER = 2**31 - 1
"""People and topics are numbered below this: two such numbers make one key."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicVectors:
    """Sparse topic vectors: those of object i stand from starts[i] to starts[i + 1]."""

    starts: Longs
    """One more than there are objects, from 0."""
    topics: Longs
    """Numbers of topics, each at most once an object."""
    weights: Floats
    """Not negative; their scale does not matter to the cosine, but to Jaccard it does."""

    def __post_init__(self) -> None:
        starts, topics = whole_numbers("starts", self.starts), whole_numbers("topics", self.topics)
        weights = np.ascontiguousarray(self.weights, dtype=np.float64)
        if len(starts) == 0 or starts[0] != 0 or starts[-1] != len(topics) or (np.diff(starts) < 0).any():
            raise InputError("the starts of topic vectors must rise from 0 to the number of weights")
        if len(weights) != len(topics):
            raise InputError(f"{len(topics)} topics but {len(weights)} weights", hint="give one weight per topic")
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        bad = ~np.isfinite(weights) | (weights < 0)
        if bad.any():
            raise InputError(
                f"topic vectors: {int(bad.sum())} weights are negative or not a number, first in object {rows[bad][0]}",
                hint="weights are finite and at least 0",
            )
        keep = weights > 0
        order = np.lexsort((topics[keep], rows[keep]))
        rows, topics, weights = rows[keep][order], topics[keep][order], weights[keep][order]
        if ((np.diff(rows) == 0) & (np.diff(topics) == 0)).any():
            raise InputError("topic vectors: an object has the same topic twice", hint="add up the weights first")
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(starts) - 1))]).astype(np.int64)
        for name, value in (("starts", starts), ("topics", topics), ("weights", weights)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def taken(self, order: Longs) -> TopicVectors:
        """The vectors of these objects, in this order."""
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.starts[:-1][order], lengths)
        return TopicVectors(starts=starts, topics=self.topics[places], weights=self.weights[places])

    def rows(self) -> Rows:
        """As the kernels take them."""
        return Rows(self.starts, self.topics, self.weights)

    def unit_rows(self) -> Rows:
        """Each vector divided by its length; empty vectors stay empty."""
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        # By the largest weight first, so that no square is too large or too small for a float.
        largest = np.zeros(len(self))
        np.maximum.at(largest, owners, self.weights)
        scaled = self.weights / largest[owners]
        lengths = np.sqrt(np.bincount(owners, weights=scaled**2, minlength=len(self)))
        return Rows(self.starts, self.topics, scaled / lengths[owners])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objects:
    """Objects in the order of their arrival."""

    people: Longs
    """Number of the person, by object."""
    topics: Longs | TopicVectors
    """Number of the topic, or the topic vectors."""
    alphas: Floats | None = None
    """Alpha by object, where it differs; the mechanism's own if unset."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", whole_numbers("people", self.people))
        if not isinstance(self.topics, TopicVectors):
            object.__setattr__(self, "topics", whole_numbers("topics", self.topics))
        if len(self.people) != len(self.topics):
            raise InputError(f"{len(self.people)} people but {len(self.topics)} topics", hint="give one per object")
        if self.alphas is not None:
            object.__setattr__(self, "alphas", check_alphas(self.alphas, len(self.people)))

    def __len__(self) -> int:
        return len(self.people)

    @property
    def people_count(self) -> int:
        """One more than the largest number of a person."""
        return int(self.people.max(initial=-1)) + 1

    @property
    def labels(self) -> Longs:
        """The topic of each object, where it has exactly one."""
        if isinstance(self.topics, TopicVectors):
            raise InputError(
                "topic vectors were given where one topic per object is needed",
                hint="choose the similarity cosine or jaccard, or give one topic number per object",
            )
        return self.topics

    @property
    def vectors(self) -> TopicVectors:
        """The topic vectors; a single topic is a vector with one weight of 1."""
        if isinstance(self.topics, TopicVectors):
            return self.topics
        return TopicVectors(starts=np.arange(len(self) + 1), topics=self.topics, weights=np.ones(len(self)))

    def with_person_alphas(self, alphas: ArrayLike) -> Objects:
        """The same objects, each with the alpha of its person."""
        given = np.asarray(alphas, dtype=np.float64)
        if self.people_count > len(given):
            raise InputError(
                f"person {self.people_count - 1} is unknown: alphas were given for {len(given)} people",
                hint="give one alpha per person",
            )
        return Objects(people=self.people, topics=self.topics, alphas=given[self.people])


def whole_numbers(what: str, values: Any) -> Longs:
    """The values as whole numbers from 0 to `MOST_NUMBER`, or an error that says what they are."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{what} must be one row of numbers, got {array.ndim} dimensions")
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{what} must be whole numbers", hint="number people and topics from 0")
    if array.size and (array.min() < 0 or array.max() >= MOST_NUMBER):
        raise InputError(f"{what} must be numbered from 0 to below {MOST_NUMBER}")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_alphas(alphas: Any, objects: int) -> Floats:
    """One alpha per object, all in [0, 1]."""
    given = np.ascontiguousarray(alphas, dtype=np.float64)
    if given.shape != (objects,):
        raise InputError(f"{objects} objects but {given.size} alphas", hint="give one alpha per object")
    bad = ~((given >= 0) & (given <= 1))
    if bad.any():
        raise InputError(
            f"alpha must be between 0 and 1; {int(bad.sum())} are not, first that of object {bad.argmax()}"
        )
    return given
