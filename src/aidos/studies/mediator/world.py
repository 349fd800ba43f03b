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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.shield.mediator.objects import Objects

__all__ = ["ThesisWorld", "thesis_world"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

OVERSAMPLED = 64
"""Draws per quantile."""
EVEN_STICKS = 2


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
