"""What a searcher does not want to be known: sensitive topics with weights, and what each topic gives away of them.

Sensitive topics S have disjoint subtrees and weights sen(s) > 0. The cost of a topic is what somebody expects who
learns that she is interested in it and knows the public taxonomy alone, bottom-up over the held profile H:

    cost(t) = sen(t) for t in S;  0 for other leaves of H;  inner topics: sum over children c in H of cost(c) Pr(c|t)

Two equally common children, one sensitive: the parent costs half. Sensitive topics that she does not hold cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import Requirement
from aidos.core.taxonomy import Profile, Taxonomy
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.holder import HeldProfile
from aidos.rooms.shield.profile.kernels.trees import spread_costs

__all__ = ["CostLayer", "default_requirement"]

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
