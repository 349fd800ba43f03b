"""A taxonomy as arrays: places of topics, their parents, supports, probabilities and information contents.

Topics are numbered depth first, a parent before its children, so that the topics below one are the numbers that follow
it: ``place + 1 .. place + sizes[place] - 1``. Whatever walks up or down large trees works on these arrays.

    Pr(t) = sup(t) / sup(root)      IC(t) = -ln Pr(t)      (spec of UPS; supports are public)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.taxonomy import Taxonomy
from aidos.errors import InputError, ParameterError

__all__ = ["TopicTree", "sum_below"]

Floats = NDArray[np.float64]
Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicTree:
    """The numbers of a taxonomy, a row a topic."""

    ids: tuple[str, ...]
    parents: Places = field(repr=False)
    """The place of the parent; -1 for the root, whose place is 0."""
    sizes: Places = field(repr=False)
    """How many topics there are at and below each."""
    supports: Floats = field(repr=False)
    places: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, taxonomy: Taxonomy, leaf_supports: Mapping[str, float] | None = None) -> Self:
        """The arrays of a taxonomy; leaves weigh 1 unless given, and more than 0 in any case."""
        given = leaf_supports or {}
        ids = tuple(topic.id for topic in taxonomy.walk())
        places = {topic_id: place for place, topic_id in enumerate(ids)}
        _refuse_supports(given, taxonomy)
        parents = np.array([places.get(taxonomy[topic_id].parent, -1) for topic_id in ids], dtype=np.int32)
        inner = np.zeros(len(ids), dtype=np.bool_)
        inner[parents[1:]] = True
        supports = np.array([given.get(topic_id, 1.0) for topic_id in ids], dtype=np.float64)
        supports[inner] = 0.0
        return cls(
            ids=ids,
            parents=parents,
            sizes=sum_below(parents, np.ones(len(ids))).astype(np.int32),
            supports=sum_below(parents, supports),
            places=places,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def priors(self) -> Floats:
        """Pr(t): the share of the whole that lies at or below each topic."""
        shares: Floats = self.supports / self.supports[0]
        return shares

    @property
    def contents(self) -> Floats:
        """IC(t): how much it tells that somebody is interested in just this topic."""
        return -np.log(self.priors)

    def place(self, topic_id: str) -> int:
        """The place of a topic; ParameterError where the taxonomy does not have it."""
        if topic_id not in self.places:
            raise ParameterError(f"the taxonomy has no topic {topic_id!r}", hint="look it up with aidos taxonomy find")
        return self.places[topic_id]

    def with_paths(self, places: Sequence[int]) -> Places:
        """These places and all above them, sorted."""
        kept: set[int] = set()
        for place in places:
            above = place
            while above >= 0 and above not in kept:
                kept.add(above)
                above = int(self.parents[above])
        return np.array(sorted(kept), dtype=np.int32)

    def below(self, place: int) -> range:
        """The places at and below a topic."""
        return range(place, place + int(self.sizes[place]))

    def lowest_common(self, places: Sequence[int]) -> int:
        """The lowest topic that all these lie at or below."""
        if not len(places):
            raise ParameterError("no topics are given, so that none can be above them all")
        lowest, highest = int(min(places)), int(max(places))
        while highest not in self.below(lowest):
            lowest = int(self.parents[lowest])
        return lowest


def sum_below(parents: Places, values: Floats) -> Floats:
    """For every topic the sum of values at it and below it; children come after their parents."""
    total: Floats = np.asarray(values, dtype=np.float64).copy()
    for place in range(len(parents) - 1, 0, -1):
        total[parents[place]] += total[place]
    return total


def _refuse_supports(given: Mapping[str, float], taxonomy: Taxonomy) -> None:
    unknown = [topic_id for topic_id in given if topic_id not in taxonomy.topics]
    wrong = [topic_id for topic_id, support in given.items() if not 0 < support < float("inf")]
    inner = [topic_id for topic_id in given if topic_id in taxonomy.children]
    for what, culprits in (
        ("not in the taxonomy", unknown),
        ("not above 0", wrong),
        ("of a topic with children, whose support is the sum of theirs", inner),
    ):
        if culprits:
            raise InputError(f"{len(culprits)} supports are {what}: {', '.join(culprits[:5])}")
