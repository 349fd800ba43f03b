"""What a searcher holds, and what she does not want to be known.

Sensitive topics S have disjoint subtrees and weights sen(s) > 0. The cost of a topic is what somebody expects who
learns that she is interested in it and knows the public taxonomy alone, bottom-up over the held profile H:

    cost(t) = sen(t) for t in S;  0 for other leaves of H;  inner topics: sum over children c in H of cost(c) Pr(c|t)

Two equally common children, one sensitive: the parent costs half. Sensitive topics that she does not hold cost nothing.

What a searcher holds: her interests laid over the public taxonomy. Private, never sent as it is. H is every topic that
she has a document at, and all above it. Its supports count her documents at and below a topic, sup_H(t) = documents at
t + sup_H of its children; they have nothing to do with the public supports of the taxonomy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import Requirement
from aidos.core.taxonomy import Profile, Taxonomy
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.kernels.trees import spread_costs, sum_upwards

__all__ = ["CostLayer", "HeldProfile", "default_requirement"]

Floats = NDArray[np.float64]


def default_requirement(
    taxonomy: Taxonomy, profile: Profile, weights: Mapping[str, float] | None = None
) -> Requirement:
    """The topmost sensitive topics that the profile touches, weighing 1 unless their category is given a weight."""
    given = dict(weights or {})
    categories = {topic.sensitive for topic in taxonomy.topics.values() if topic.sensitive}
    if unknown := sorted(set(given) - categories):
        raise ParameterError(
            f"no sensitive topic is of the category {unknown[0]!r}",
            hint=f"categories are {', '.join(sorted(categories))}" if categories else "the taxonomy marks no topic",
        )
    found: dict[str, float] = {}
    for topic, support in profile.supports.items():
        if support > 0 and topic in taxonomy.topics:
            marked = next((step for step in taxonomy.path(topic) if step.sensitive), None)
            if marked is not None:
                found[marked.id] = given.get(marked.sensitive, 1.0)
    return Requirement(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CostLayer:
    """What each held topic gives away, by place; made once for a profile and a requirement, used for every query."""

    costs: Floats = field(repr=False)
    """cost(t); 0 for topics that are not held."""
    sensitivities: Floats = field(repr=False)
    """sen(t) of sensitive topics that are held, 0 elsewhere."""
    total: float
    """The sum of sen over sensitive topics that are held."""
    unmarked: HeldProfile = field(repr=False)
    """The held profile without any document at or below a sensitive topic, whatever that weighs."""

    @classmethod
    def of(cls, tree: TopicTree, held: HeldProfile, requirement: Requirement) -> Self:
        """Refuses sensitive topics below sensitive topics: their weights would count twice."""
        if overlaps := requirement.overlaps(tree):
            upper, lower = overlaps[0]
            raise InputError(
                f"sensitive topics overlap: {lower} is below {upper}"
                + (f", and {len(overlaps) - 1} more such pairs" if len(overlaps) > 1 else ""),
                hint=f"keep one of the two, or merge them: {upper} with the larger weight covers both",
            )
        weights = np.zeros(len(tree))
        for topic, weight in requirement.sensitivities.items():
            weights[tree.place(topic)] = weight
        unmarked = held.without(tree, map(tree.place, requirement.sensitivities))
        weights[held.supports <= 0] = 0.0
        costs = spread_costs(tree.parents, tree.supports, weights)
        return cls(costs=costs, sensitivities=weights, total=float(weights.sum()), unmarked=unmarked)

    def of_unmarked(self) -> Self:
        """The cost layer of somebody who holds the unmarked topics alone, and so has nothing to hide."""
        nothing = np.zeros(len(self.costs))
        return replace(self, costs=nothing, sensitivities=nothing, total=0.0)


Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldProfile:
    """H: a person's interests by place of a topic tree."""

    supports: Floats = field(repr=False)
    """sup_H of every place of the tree; 0 for topics that she does not hold."""
    documents: Floats = field(repr=False)
    """Her documents at each place itself."""

    @classmethod
    def of(cls, tree: TopicTree, profile: Profile) -> Self:
        """Lay a profile over the tree; topics of no support are not held."""
        if unknown := [topic for topic in profile.supports if topic not in tree.places]:
            named = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
            raise InputError(
                f"the taxonomy does not have {len(unknown)} of the profile's topics: {named}",
                hint="build the profile again with this taxonomy, or take these topics out of it",
            )
        documents = np.zeros(len(tree))
        for topic, support in profile.supports.items():
            documents[tree.places[topic]] = support
        return cls(supports=sum_upwards(tree.parents, documents), documents=documents)

    def without(self, tree: TopicTree, places: Iterable[int]) -> Self:
        """The profile of somebody who has no document at or below these places, and is the same otherwise.

        Supports are added up again and not subtracted: rounding must not tell that there was something to take away.
        """
        documents = self.documents.copy()
        for place in places:
            documents[place : place + int(tree.sizes[place])] = 0.0
        return replace(self, supports=sum_upwards(tree.parents, documents), documents=documents)

    @property
    def places(self) -> Places:
        """The topics of H, in the order of the tree."""
        return np.flatnonzero(self.supports > 0).astype(np.int32)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.supports > 0))
