"""Re-ranking at home: results in an order that knows the searcher, from a list that does not.

    UScore(l) = sum over leaves t of G of rel_R(l,t) sup_H(t)

Results are ordered by it, and Borda's count fuses that order with the search service's: a result gets points for those
it stands before in either list, and equal scores share their points. The service sees nothing of this. Rules about
sites act on the same points: a boost of 10 is worth the whole list. What the service did not return cannot be found
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.ranking import Ranking
from aidos.core.topictree import TopicTree
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.requirement import HeldProfile
from aidos.rooms.shield.profile.seed import Hits
from aidos.rooms.shield.profile.siterules import STRONGEST, SiteRules

__all__ = ["Results", "borda_points", "leaves_of", "rerank", "topic_relevances", "user_scores"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A list of results, in the order of the search service."""

    object_ids: tuple[str, ...]
    sites: tuple[str, ...] = ()
    """The site of each result, or none at all."""

    def __post_init__(self) -> None:
        if len(set(self.object_ids)) != len(self.object_ids):
            raise InputError("a list of results holds each result once, this one has duplicates")
        if self.sites and len(self.sites) != len(self.object_ids):
            raise InputError(f"{len(self.object_ids)} results but {len(self.sites)} sites")


def leaves_of(tree: TopicTree, shown: Places) -> Places:
    """The topics of a shown profile that have none of it below them; the root alone says nothing and is none."""
    inner = set(tree.parents[shown].tolist())
    return np.array([place for place in shown.tolist() if place not in inner and place > 0], dtype=np.int32)


def topic_relevances(tree: TopicTree, leaves: Places, found: Sequence[Hits]) -> Floats:
    """rel_R(l,t), results by leaves, from the topics found for each result's text.

    A result is as relevant to a leaf as the share of its relevance that lies at or below it, so that long texts do not
    count for more.
    """
    relevances = np.zeros((len(found), len(leaves)))
    ends = leaves + tree.sizes[leaves]
    for row, hits in enumerate(found):
        if len(hits.places):
            within = (hits.places[:, None] >= leaves) & (hits.places[:, None] < ends)
            relevances[row] = (hits.scores / hits.scores.sum()) @ within
    return relevances


def user_scores(held: HeldProfile, leaves: Places, relevances: Floats) -> Floats:
    """UScore of every result."""
    if relevances.shape[1:] != leaves.shape:
        raise InputError(f"relevances are to {relevances.shape[1:]} topics, but there are {len(leaves)} leaves")
    scores: Floats = relevances @ held.supports[leaves]
    return scores


def borda_points(scores: Floats) -> Floats:
    """Points for the results each stands before; equals share what they would have together."""
    ordered = np.sort(scores)
    below, upto = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    points: Floats = (below + upto - 1) / 2.0
    return points


def rerank(
    results: Results, scores: Floats | None = None, *, weight: float = 0.5, rules: SiteRules | None = None
) -> Ranking:
    """The results in the searcher's order, without those of blocked sites.

    ``scores`` are UScores (None where no profile is used), ``weight`` says how much their order counts against the
    service's: 0 not at all, 1 alone. Equal points stay in the service's order.
    """
    size = len(results.object_ids)
    if not 0 <= weight <= 1:
        raise ParameterError(f"weight must be from 0 to 1, got {weight}")
    if scores is not None and (len(scores) != size or not np.isfinite(scores).all()):
        raise InputError(f"{size} results need as many finite scores, got {len(scores)}")
    points = np.arange(size - 1, -1, -1, dtype=np.float64)
    if scores is not None:
        points = (1 - weight) * points + weight * borda_points(scores)
    kept = list(range(size))
    if rules is not None and results.sites:
        points += np.array([rules.strength(site) for site in results.sites]) * (size / STRONGEST)
        kept = [place for place in kept if not rules.is_blocked(results.sites[place])]
    order = sorted(kept, key=lambda place: (-points[place], place))
    return Ranking(tuple(results.object_ids[place] for place in order), tuple(float(points[place]) for place in order))
