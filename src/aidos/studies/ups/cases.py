"""Made-up cases: random trees, somebody who holds part of one, and a query whose seed has the size that is wanted.

Random trees are split at random: a topic has 2 to 8 children, branches of any size among them. Leaves have supports
from 0.2 to 5. A query is about topics in random order, none above another, until the seed has its size; most topics are
held, so that there is more in the profile than the query is about, and up to three in ten are sensitive. Trees like
these are neither a taxonomy that somebody wrote nor a person's interests: they show what algorithms do, and how it
depends on size.

How good the paper's greedy is hangs on the drawing: with queries and documents at leaves only (``of_leaves``) it keeps
less than with any topics. So its numbers stand for the one or the other, and not for trees as such.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.profile import Requirement
from aidos.core.taxonomy import Profile
from aidos.core.topictree import TopicTree, sum_below
from aidos.errors import ParameterError
from aidos.rooms.shield.profile.holder import HeldProfile
from aidos.rooms.shield.profile.requirement import CostLayer
from aidos.rooms.shield.profile.seed import SeedProfile

__all__ = ["Case", "Query", "apart", "draw_case", "draw_query", "random_tree"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]
FEWEST, MOST = 2, 8
"""Children of an inner topic."""
LIGHTEST, HEAVIEST = 0.2, 5.0
HELD = 0.7
"""Share of topics that somebody has documents at."""
SENSITIVE = 0.3
"""Sensitive topics for each topic, at most: fewer are found that have no other above them."""
MOST_DOCUMENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """Topics of a query with relevances."""

    places: Places
    scores: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """Somebody's profile, what she finds sensitive, and a query."""

    tree: TopicTree = field(repr=False)
    held: HeldProfile = field(repr=False)
    layer: CostLayer = field(repr=False)
    sensitive: Places = field(repr=False)
    """Topics that count as sensitive for whoever holds them; she does not hold them all."""
    query: Query

    def seed(self) -> SeedProfile:
        """The seed of the query."""
        return SeedProfile.of(self.tree, self.held, self.layer, self.query)


def random_tree(topics: int, stream: np.random.Generator) -> TopicTree:
    """A tree of so many topics."""
    parents = np.full(topics, -1, dtype=np.int32)
    # Topics yet to be placed: how many make up a branch, and below which topic it hangs.
    branches, place = [(topics, -1)], 0
    while branches:
        size, parents[place] = branches.pop()
        if size > 1:
            families = min(size - 1, int(stream.integers(FEWEST, MOST + 1)))
            extra = stream.multinomial(size - 1 - families, stream.dirichlet(np.ones(families)))
            branches.extend((1 + int(more), place) for more in extra)
        place += 1
    leaf = np.ones(topics, dtype=np.bool_)
    leaf[parents[1:]] = False
    ids = tuple(f"t{topic}" for topic in range(topics))
    return TopicTree(
        ids=ids,
        parents=parents,
        sizes=sum_below(parents, np.ones(topics)).astype(np.int32),
        supports=sum_below(parents, np.where(leaf, stream.uniform(LIGHTEST, HEAVIEST, topics), 0.0)),
        places={name: place for place, name in enumerate(ids)},
    )


def draw_case(  # noqa: PLR0913 - all but the first two have defaults
    tree: TopicTree,
    stream: np.random.Generator,
    *,
    size: int | None = None,
    asked: int | None = None,
    held: float = HELD,
    of_leaves: bool = False,
) -> Case:
    """A case whose seed has at least ``size`` topics (a few more, since whole paths are added), or ``asked`` leaves.

    Of the other topics she has documents at a share of ``held``; with ``of_leaves`` both are leaves of the tree.
    """
    query = draw_query(tree, stream, size=size, asked=asked, of_leaves=of_leaves)
    mine = np.flatnonzero((stream.random(len(tree)) < held) & ((tree.sizes == 1) | (not of_leaves)))
    mine = np.union1d(mine[mine > 0], query.places)
    documents = stream.integers(1, MOST_DOCUMENTS, len(mine)).astype(np.float64)
    profile = Profile({tree.ids[place]: count for place, count in zip(mine.tolist(), documents.tolist(), strict=True)})
    holder = HeldProfile.of(tree, profile)
    sensitive = apart(tree, 1 + stream.permutation(len(tree) - 1), max(1, int(SENSITIVE * len(tree))))
    weights = stream.uniform(0.5, 3.0, len(sensitive))
    requirement = Requirement({tree.ids[at]: float(sen) for at, sen in zip(sensitive.tolist(), weights, strict=True)})
    layer = CostLayer.of(tree, holder, requirement)
    return Case(tree=tree, held=holder, layer=layer, sensitive=sensitive, query=query)


def draw_query(
    tree: TopicTree,
    stream: np.random.Generator,
    *,
    size: int | None = None,
    asked: int | None = None,
    of_leaves: bool = False,
) -> Query:
    """Topics of a query: so many, or as many as make up a seed of that size with those above them."""
    topics = np.flatnonzero(tree.sizes == 1) if of_leaves else np.arange(1, len(tree))
    chosen = apart(tree, stream.permutation(topics), asked or len(tree), size)
    if size is not None and len(tree.with_paths(chosen.tolist())) < size:
        raise ParameterError(f"no seed of {size} topics was found in a tree of {len(tree)}")
    return Query(places=chosen, scores=stream.uniform(0.3, 1.0, len(chosen)))


def apart(tree: TopicTree, order: NDArray[np.int64], most: int, size: int | None = None) -> Places:
    """The first topics of an order of which none is above another: so many, or ``size`` with all above them."""
    taken: list[int] = []
    seen, covered = np.zeros((2, len(tree)), dtype=np.bool_)
    seen[0], number = True, 1
    for place in order.tolist():
        if len(taken) == most or (size is not None and number >= size):
            break
        if covered[place] or seen[place]:
            continue
        taken.append(place)
        covered[place : place + tree.sizes[place]] = True
        above = place
        while not seen[above]:
            seen[above] = True
            number += 1
            above = int(tree.parents[above])
    return np.array(sorted(taken), dtype=np.int32)
