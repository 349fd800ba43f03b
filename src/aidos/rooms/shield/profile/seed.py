"""The seed profile of a query: the part of a searcher's interests that the query is about (Shou et al. 2014).

Retrieval maps a query to topics T(q) with relevances. Those that the searcher holds, T_H(q), and all topics above them
are the seed G0; nothing else of her profile can be shown. Preferences are her documents' shares,

    Pr(t|q,H) = sup_H(t) / sum over T_H(q)

Every topic of the seed carries a mass (preference located at it) and a rest (its prior less that of its children in
the seed). A leaf of the seed carries its preference and its whole prior. Pruning moves masses and rests up: the atoms
of a pruned profile, leaves and shadows alike, are its topics with what has arrived at them. What a session has hidden
before (`without`) is pruned from the beginning and cannot come back; what it has shown before is known, and showing it
again gives nothing away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.topictree import TopicTree
from aidos.errors import InputError
from aidos.rooms.shield.profile.kernels.trees import SeedArrays, content, gather_paths, sum_upwards
from aidos.rooms.shield.profile.requirement import CostLayer, HeldProfile

__all__ = ["Hits", "SeedProfile", "check_hits", "power_of_query"]

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int32]
Flags: TypeAlias = NDArray[np.bool_]


class Hits(Protocol):
    """Topics of a text, none above another, such as `aidos.model.topicsearch` finds."""

    @property
    def places(self) -> Places:
        """Where they stand in the topic tree."""
        ...

    @property
    def scores(self) -> Floats:
        """How relevant each is (rel_R), above 0."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeedProfile:
    """G0 as arrays, a row a topic, depth first; row 0 is the root."""

    places: Places
    """Where each row stands in the topic tree."""
    arrays: SeedArrays = field(repr=False)
    costs: Floats = field(repr=False)
    """cost(t) over the whole held profile."""
    bases: Floats = field(repr=False)
    """What it gives away as the lowest topic shown, with what was shown earlier below it: cost(t) at first."""
    tells: Floats = field(repr=False)
    """What it gives away when it is hidden: cost(t) Pr(t|parent) at first, and its base once it was shown."""
    sensitive: Flags = field(repr=False)
    """Whether the topic itself is one of the sensitive ones."""
    sensitivity: float
    """The sum of sen over all sensitive topics that are held, in the seed or not."""
    scale: float
    """2 sum over T_H(q) of Pr(t|q,H) IC(t): what discriminating power is measured against."""

    @classmethod
    def of(cls, tree: TopicTree, held: HeldProfile, layer: CostLayer, hits: Hits, shown: Collection[int] = ()) -> Self:
        """The seed of a query; only the root where searcher and query have nothing in common.

        ``shown`` are places that an observer has seen already, with all above them.
        """
        check_hits(tree, hits)
        common = hits.places[held.supports[hits.places] > 0].astype(np.int32)
        places = gather_paths(tree.parents, common) if len(common) else np.zeros(1, np.int32)
        supports = held.supports[common]
        masses = np.zeros(len(places))
        if len(common):
            masses[np.searchsorted(places, common)] = supports / supports.sum()
        priors = tree.supports[places] / tree.supports[0]
        parents = _local(tree.parents[places], places)
        bases, tells = _given_away(tree, layer, places, shown)
        return cls(
            places=places,
            arrays=_arrays(parents, masses, priors),
            costs=layer.costs[places],
            bases=bases,
            tells=tells,
            sensitive=layer.sensitivities[places] > 0,
            sensitivity=layer.total,
            scale=2.0 * float(-masses @ np.log(priors)),
        )

    def __len__(self) -> int:
        return len(self.places)

    @property
    def leaves(self) -> Places:
        """Rows without children."""
        return np.flatnonzero(self.arrays.sizes == 1).astype(np.int32)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show but the root."""
        return len(self.places) == 1

    def without(self, hidden: Collection[int]) -> SeedProfile:
        """The seed with these places, and all below them, pruned for good; preferences stay what they were."""
        kept = np.array([place not in hidden for place in self.places.tolist()], dtype=np.bool_)
        kept[0] = True
        hosts = np.arange(len(self))
        for row in range(1, len(self)):
            above = self.arrays.parents[row]
            kept[row] &= kept[above]
            if not kept[row]:
                hosts[row] = hosts[above]
        if kept.all():
            return self
        masses = np.bincount(hosts, weights=self.arrays.masses, minlength=len(self)).astype(np.float64)[kept]
        rows = np.flatnonzero(kept).astype(np.int32)
        return replace(
            self,
            places=self.places[kept],
            arrays=_arrays(_local(self.arrays.parents[kept], rows), masses, self.arrays.priors[kept]),
            costs=self.costs[kept],
            bases=self.bases[kept],
            tells=self.tells[kept],
            sensitive=self.sensitive[kept],
        )


def check_hits(tree: TopicTree, hits: Hits) -> None:
    """Refuse topics that cannot be those of a query: out of the tree, twice, above one another, of no relevance."""
    places, scores = hits.places, hits.scores
    problems = []
    if len(places) != len(scores):
        problems.append(f"there are {len(places)} topics but {len(scores)} relevances")
    if not (np.isfinite(scores).all() and (np.asarray(scores) > 0).all()):
        problems.append("relevances must be above 0 and finite")
    ordered = np.sort(places)
    if len(ordered) and not 0 <= ordered[0] <= ordered[-1] < len(tree):
        problems.append(f"places must be from 0 to {len(tree) - 1}")
    elif len(ordered) > 1 and (ordered[:-1] + tree.sizes[ordered[:-1]] > ordered[1:]).any():
        problems.append("a topic stands twice, or above another")
    if problems:
        raise InputError(f"the topics of a query are wrong: {'; '.join(problems)}")


def power_of_query(tree: TopicTree, hits: Hits) -> float:
    """DP(q,R): how well a query tells topics apart on its own, with preferences rel / sum of rel and nothing pruned.

    0 where the query has no topic, or only the root: it tells nothing.
    """
    check_hits(tree, hits)
    places, scores = hits.places, hits.scores
    if not len(places):
        return 0.0
    shares, priors = scores / scores.sum(), tree.supports[places] / tree.supports[0]
    expected = float(-shares @ np.log(priors))
    if expected <= 0:
        return 0.0
    common = tree.supports[tree.lowest_common(places.tolist())] / tree.supports[0]
    gained = sum(content(share, prior) for share, prior in zip(shares, priors, strict=True))
    return float((gained - np.log(common)) / (2.0 * expected))


def _given_away(tree: TopicTree, layer: CostLayer, places: Places, shown: Collection[int]) -> tuple[Floats, Floats]:
    """What the topics at these places give away as the lowest ones shown, and hidden."""
    bases = layer.costs[places].astype(np.float64)
    shares = np.ones(len(places))
    shares[1:] = tree.supports[places[1:]] / tree.supports[tree.parents[places[1:]]]
    tells = bases * shares
    seen = _seen_already(tree, layer, shown)
    for row, place in enumerate(places.tolist()):
        if place in seen:
            bases[row] = tells[row] = seen[place]
    return bases, tells


def _seen_already(tree: TopicTree, layer: CostLayer, shown: Collection[int]) -> dict[int, float]:
    """What each topic that was shown gives away, with those below it that were."""
    found: dict[int, float] = {}
    gains: dict[int, float] = defaultdict(float)
    for place in sorted(shown, reverse=True):
        cost, above = float(layer.costs[place]), int(tree.parents[place])
        found[place] = cost if layer.sensitivities[place] > 0 else cost + gains[place]
        if above >= 0:
            gains[above] += found[place] - cost * float(tree.supports[place] / tree.supports[above])
    return found


def _local(parents: Places, places: Places) -> Places:
    """Parents as rows; -1 for the root."""
    rows: Places = np.searchsorted(places, parents).astype(np.int32)
    rows[0] = -1
    return rows


def _arrays(parents: Places, masses: Floats, priors: Floats) -> SeedArrays:
    sizes = sum_upwards(parents, np.ones(len(parents))).astype(np.int32)
    inside = np.bincount(parents[1:], weights=priors[1:], minlength=len(parents))
    # Where the children make up the whole, rounding may leave a little of either sign: that is no rest.
    rests = np.where(priors - inside > 1e-12 * priors, priors - inside, 0.0)
    loaded = np.flatnonzero(masses > 0)
    anchor = int(loaded[0]) if len(loaded) else 0
    while len(loaded) and loaded[-1] >= anchor + sizes[anchor]:
        anchor = int(parents[anchor])
    return SeedArrays(parents, sizes, masses, rests, priors, sum_upwards(parents, masses), anchor)
