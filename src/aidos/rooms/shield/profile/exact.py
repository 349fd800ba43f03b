"""The best generalised profile of a small seed, by branch and bound: what the greedy algorithms are measured against.

Topics are settled bottom-up. A topic that stays has a list of ways to prune below it, each with a risk and a loss of
PG; its parent branches on every child, kept in one of its ways or pruned. A branch is left when it loses more than the
ratio greedy does altogether, when even the largest drops elsewhere would not bring the risk down enough, or when
another with the same children pruned has neither more risk nor more loss. Subtrees that give nothing away are never
pruned, because no prune raises the power. Cuts on the way to the lowest common ancestor change TS and are tried one by
one.

The work may grow exponentially with the number of sensitive parts, so there is a limit on it.

The ratio greedy alone is nearly always near the best and now and then far from it (a tenth of it, or nothing at all).
So what is called ``ratio`` looks for the best wherever few branches have to be followed (`ratio`), which is so for
queries of up to 20 topics, as the mapping of queries finds them; larger seeds keep what the greedy found.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import NamedTuple, TypeAlias

import numpy as np

from aidos.errors import ParameterError
from aidos.rooms.shield.profile.kernels.greedy import start
from aidos.rooms.shield.profile.kernels.trees import content
from aidos.rooms.shield.profile.prune import TINY, Generalised, RiskForm, ratio_greedy, risk_numbers
from aidos.rooms.shield.profile.seed import SeedProfile

__all__ = ["FEW_LEAVES", "MOST_LEAVES", "Branch", "Way", "exact", "ratio"]

MOST_LEAVES = 40
"""Larger seeds are refused."""
MOST_BRANCHES = 2_000_000
"""More branches than this are not followed."""
FEW_LEAVES, FEW_BRANCHES = 20, 2_000
"""Up to these the best is looked for whatever the algorithm: it takes milliseconds."""
Cuts: TypeAlias = tuple[int, ...]


class Way(NamedTuple):
    """One way to prune below a topic that stays."""

    risk: float
    loss: float
    cuts: Cuts


class Branch(NamedTuple):
    """Some children of a topic settled."""

    risk: float
    inside: float
    """Loss within children that stay."""
    told: float
    """PG of the children that were pruned."""
    mass: float
    rest: float
    pruned: int
    """Which children were pruned, as bits."""
    cuts: Cuts


def exact(seed: SeedProfile, limit: float, form: RiskForm = "excess") -> Generalised:
    """The profile of most power within the limit; ParameterError where the seed is too large to search."""
    if len(seed.leaves) > MOST_LEAVES:
        raise ParameterError(
            f"the exact algorithm takes at most {MOST_LEAVES} topics of a query, this one has {len(seed.leaves)}",
            hint="take the algorithm ratio, which is fast on any size",
        )
    found = _improved(seed, limit, form, ratio_greedy(seed, limit, form), MOST_BRANCHES)
    if found is None:
        raise ParameterError(
            f"the exact algorithm gave up after {MOST_BRANCHES:,} branches",
            hint="take the algorithm ratio, which is fast on any size",
        )
    return found


def ratio(seed: SeedProfile, limit: float, form: RiskForm = "excess") -> Generalised:
    """The profile of most power where few branches have to be followed; else that of the ratio greedy."""
    found = ratio_greedy(seed, limit, form)
    if len(seed.leaves) > FEW_LEAVES or not len(found.steps):
        return found
    return _improved(seed, limit, form, found, FEW_BRANCHES) or found


def _improved(seed: SeedProfile, limit: float, form: RiskForm, found: Generalised, most: int) -> Generalised | None:
    """The best profile, from one that is known; None where too many branches would have to be followed."""
    search = _Search(seed, limit, form, found.power * seed.scale, most)
    try:
        best = search.best()
    except _TooManyError:
        return None
    chosen = found if best is None else Generalised.after(seed, np.array(best, np.int32), form)
    return max((chosen, found), key=lambda one: one.power)


class _TooManyError(Exception):
    """More branches than may be followed."""


class _Search:
    """The numbers that stay the same while branches are followed."""

    def __init__(self, seed: SeedProfile, limit: float, form: RiskForm, known: float, most: int) -> None:
        self.seed, self.arrays = seed, seed.arrays
        self.risks = risk_numbers(seed, form, limit)
        whole = start(self.arrays, self.risks)
        self.gains, self.full = whole.gains, whole.risk
        self.on_way = whole.on_way
        self.power = float(whole.gains[0]) - log(self.arrays.priors[self.arrays.anchor])
        self.slack = self.power - known + TINY
        self.branches, self.most = 0, most
        # The most that pruning at or below a topic takes away, and the most that pruning elsewhere does.
        self.drops = np.maximum(self.full - self.risks.hidden, 0.0)
        self.elsewhere = np.zeros(len(seed))
        for row in range(1, len(seed)):
            above = int(self.arrays.parents[row])
            beside = sum(self.drops[child] for child in self.children(above) if child != row)
            self.elsewhere[row] = self.elsewhere[above] + beside
        self.needed = float(self.full[0]) - self.risks.allowed

    def children(self, row: int) -> list[int]:
        found, child, end = [], row + 1, row + int(self.arrays.sizes[row])
        while child < end:
            found.append(child)
            child += int(self.arrays.sizes[child])
        return found

    def best(self) -> Cuts | None:
        """The prunes of least loss within the limit, or None where no way is better than what is known."""
        ways = [way for way in self.ways(0) if way.risk <= self.risks.allowed] + self.cuts_on_the_way()
        return min(ways, key=lambda way: way.loss).cuts if ways else None

    def cuts_on_the_way(self) -> list[Way]:
        """Everything pruned but the upper part of the way to the lowest common ancestor."""
        found = []
        for row in np.flatnonzero(self.on_way)[1:].tolist():
            above = int(self.arrays.parents[row])
            risk = float(self.full[0] - self.full[above] + self.risks.costs[above])
            if risk <= self.risks.allowed:
                found.append(Way(risk, self.power + 2.0 * log(self.arrays.priors[above]), (row,)))
        return found

    def ways(self, row: int) -> list[Way]:
        """All ways to prune below a topic that stays and that may be part of the best."""
        whole = Way(float(self.full[row]), 0.0, ())
        if self.risks.fixed[row]:
            return [whole]
        children = self.children(row)
        asked = [child for child in children if self.drops[child] > TINY * (1.0 + self.seed.sensitivity)]
        if not asked:
            return [whole]
        calm = float(self.risks.outside[row]) + sum(float(self.full[c]) for c in children if c not in asked)
        kept = [Branch(calm, 0.0, 0.0, float(self.arrays.masses[row]), float(self.arrays.rests[row]), 0, ())]
        open_drop = sum(float(self.drops[child]) for child in asked) + float(self.elsewhere[row])
        reached = calm
        for bit, child in enumerate(asked):
            open_drop -= float(self.drops[child])
            reached += float(self.full[child])
            below = self.ways(child)
            made = (new for one in kept for new in self.settle(one, child, bit, below))
            kept = _undominated(
                new
                for new in made
                if self.loss(row, new) <= self.slack and reached - new.risk + open_drop >= self.needed - TINY
            )
            self.count(len(kept))
        return _frontier(self.way(row, one, len(asked) == len(children), len(asked)) for one in kept)

    def settle(self, one: Branch, child: int, bit: int, below: list[Way]) -> Iterable[Branch]:
        for way in below:
            yield one._replace(risk=one.risk + way.risk, inside=one.inside + way.loss, cuts=one.cuts + way.cuts)
        if not self.on_way[child]:
            yield Branch(
                one.risk + float(self.risks.hidden[child]),
                one.inside,
                one.told + float(self.gains[child]),
                one.mass + float(self.arrays.totals[child]),
                one.rest + float(self.arrays.priors[child]),
                one.pruned | 1 << bit,
                (*one.cuts, child),
            )

    def loss(self, row: int, one: Branch) -> float:
        before = content(self.arrays.masses[row], self.arrays.rests[row])
        return float(one.inside + one.told + before - content(one.mass, one.rest))

    def way(self, row: int, one: Branch, all_asked: bool, asked: int) -> Way:  # noqa: FBT001 - for this class alone
        bare = self.risks.paper and all_asked and one.pruned == (1 << asked) - 1
        return Way(float(self.risks.costs[row]) if bare else one.risk, self.loss(row, one), one.cuts)

    def count(self, more: int) -> None:
        self.branches += more
        if self.branches > self.most:
            raise _TooManyError


def _undominated(branches: Iterable[Branch]) -> list[Branch]:
    groups: dict[int, list[Branch]] = {}
    for one in branches:
        groups.setdefault(one.pruned, []).append(one)
    found: list[Branch] = []
    for group in groups.values():
        least = float("inf")
        for one in sorted(group, key=lambda one: (one.risk, one.inside)):
            if one.inside < least:
                least = one.inside
                found.append(one)
    return found


def _frontier(ways: Iterable[Way]) -> list[Way]:
    found: list[Way] = []
    for way in sorted(ways, key=lambda way: (way.risk, way.loss)):
        if not found or way.loss < found[-1].loss:
            found.append(way)
    return found
