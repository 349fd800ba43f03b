"""What a searcher holds: her interests laid over the public taxonomy. Private, never sent as it is.

H is every topic that she has a document at, and all above it. Its supports count her documents at and below a topic,
sup_H(t) = documents at t + sup_H of its children; they have nothing to do with the public supports of the taxonomy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree
from aidos.errors import InputError
from aidos.rooms.shield.profile.kernels.trees import sum_upwards

__all__ = ["HeldProfile"]

Floats = NDArray[np.float64]
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
