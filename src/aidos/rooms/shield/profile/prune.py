"""What every way of pruning gives back: a generalised profile G below the seed, with its power, risk and way there.

Risk: how much of what is sensitive a shown profile gives away, from 0 to 1.

The paper's form adds up the costs of the leaves shown, divided by all sensitivity:

    Risk(t,G) = cost(t) at leaves of G, the sum of its children inside;   risk = Risk(root,G) / sum of sen

It is not monotone: pruning can raise it. It is below 1 for the whole profile where a sensitive topic has children, and
above 0 for the bare root, so that no pruning may reach a small limit. It is kept for comparison (``paper``).

The default is the excess risk. An exposed sensitive topic counts in full whatever is below it, an inner topic also pays
for held children that are not shown, and what an eavesdropper expects who knows the taxonomy alone is subtracted:

    Risk(s) = sum over children in G of Risk(c) + sum over held children not in G of cost(c) Pr(c|s)
    risk = (Risk(root,G) - cost(root)) / (sum of sen - cost(root))

It is 0 at the bare root, 1 on the full profile, and no prune raises it. Where nothing is left to give away (nothing is
sensitive, or the taxonomy alone says it all, as when the root itself is sensitive) it is 0: no profile can tell more
than is expected without it.

The excess risk is a sum over the topics shown: each adds cost(t) (1 - Pr(t|parent)), those below a sensitive one
nothing. So what was shown with earlier queries can be counted in: the risk is that of all together, and a topic that
was shown before adds nothing. The paper's form is no such sum, and looks at one query alone.

Utility: how well a shown profile tells the searcher's meaning apart, as discriminating power from 0 to 1.

    PG(q,G) = sum over atoms of p ln(p / prior)     TS(q,G) = IC(lowest common ancestor of the atoms)
    DP(q,G) = (PG + TS) / (2 sum over T_H(q) of Pr(t|q,H) IC(t))     util(q,G) = DP(q,G) - DP(q,R)

Atoms are the leaves of G and, for every inner topic with pruned children, a shadow at it: the preference that was
pruned and the prior that retained children leave. With that reading no prune raises DP, and DP is 0 at the bare root.
Where the denominator is 0 (the query is about the root alone) DP is 0: there is nothing to tell apart.

Greedy pruning: the two algorithms of the paper, leaf by leaf, and the ratio greedy, the default, by whole subtrees. The
paper's prune the leaf that costs least utility until the risk is small enough. GreedyDP computes the discriminating
power anew for every leaf at every step, as the paper describes it: the straight way, quadratic in the seed and worse,
kept as what GreedyIL is compared with. GreedyIL keeps the information loss of every leaf in a heap,

    IL(t) = dp(t) + dp(shadow of its parent) - dp(both together),

and walks the same path. Ties go to the larger drop of risk, then to the topic that comes first. The paper's loop ends
at a small risk alone, which may never come in its own form of risk; here both end at the root as well.

Neither looks at risk when it chooses what to prune: on small trees and limits of 0.05 to 0.3 they reach 60 to 90 % of
the best power on average. The ratio greedy does better.

It prunes whole subtrees by the risk they take away for the power they cost. Every topic of the seed may be
pruned with all below it, and the one goes first that has the largest

    min(drop of risk, risk still to lose) / loss of PG + TS

until the risk is within the limit. Then hidden topics return where there is room. The same putting back, begun from the
bare root, gives a second profile, which is sometimes better where a single large subtree was pruned for a small need;
the one of more power is taken. On random trees this keeps 97 to 99 % of the best power on average; in single cases it
keeps a tenth or nothing. `aidos.rooms.shield.profile.exact` finds the best where the seed is small, and does so for
whoever asks for ``ratio``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.shield.profile.kernels.greedy import (
    GRID,
    State,
    cut_all,
    prune_by_loss,
    prune_by_ratio,
    put_back,
    risky_rows,
    start,
)
from aidos.rooms.shield.profile.kernels.trees import SeedRisks, measure_power, measure_risk
from aidos.rooms.shield.profile.seed import SeedProfile

__all__ = [
    "TINY",
    "Generalised",
    "RiskForm",
    "Standing",
    "discriminating_power",
    "greedy_dp",
    "greedy_il",
    "profile_risk",
    "ratio_greedy",
    "risk_numbers",
    "stand",
    "trace",
]

Ints: TypeAlias = NDArray[np.int32]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Generalised:
    """A pruned seed. It keeps the risk limit, or it is the bare root."""

    alive: Flags = field(repr=False)
    """By row of the seed: whether the topic is shown."""
    steps: Ints
    """Rows that were pruned, each with all below it, in order."""
    iterations: int
    """How many single decisions were taken: prunes, and parts put back."""
    power: float
    """DP(q,G)."""
    risk: float
    """risk(q,G)."""

    @classmethod
    def after(
        cls, seed: SeedProfile, steps: Sequence[int] | Ints, form: RiskForm, iterations: int | None = None
    ) -> Self:
        """The seed after these prunes."""
        alive = np.ones(len(seed), dtype=np.bool_)
        for row in steps:
            alive[row : row + seed.arrays.sizes[row]] = False
        power, risk = stand(seed, alive, form)
        done = len(steps) if iterations is None else iterations
        return cls(alive=alive, steps=np.asarray(steps, np.int32), iterations=done, power=power, risk=risk)

    @property
    def is_root(self) -> bool:
        """Whether only the root is left, which tells nothing."""
        return int(np.count_nonzero(self.alive)) == 1

    def places(self, seed: SeedProfile) -> Ints:
        """The topics shown, by place of the topic tree."""
        return seed.places[self.alive]


RiskForm: TypeAlias = Literal["excess", "paper"]
"""Which of the two forms of risk."""
TINY = 1e-12
"""Differences of risk below this are rounding."""


def risk_numbers(seed: SeedProfile, form: RiskForm, limit: float = 1.0) -> SeedRisks:
    """What pruning needs to know about risk, with the limit turned into a risk of the root."""
    size = len(seed)
    expected, total = float(seed.costs[0]), seed.sensitivity
    if form == "paper":
        none = np.zeros(size)
        return SeedRisks(seed.costs, none, none, np.zeros(size, np.bool_), True, limit * total + TINY * total)
    inside = np.bincount(seed.arrays.parents[1:], weights=seed.tells[1:], minlength=size)
    outside = np.where(seed.bases - inside > TINY * seed.bases, seed.bases - inside, 0.0)
    allowed = expected + limit * max(total - expected, 0.0) + TINY * total
    if _has_nothing_to_hide(seed):
        allowed = np.inf
    return SeedRisks(seed.bases, seed.tells, outside, seed.sensitive, False, allowed)


def profile_risk(seed: SeedProfile, alive: Flags, form: RiskForm = "excess") -> float:
    """risk(q,G) of a pruned seed."""
    expected, total = float(seed.costs[0]), seed.sensitivity
    raw = float(measure_risk(seed.arrays.parents, risk_numbers(seed, form), alive)[0])
    if form == "paper":
        return raw / total if total > 0 else 0.0
    if _has_nothing_to_hide(seed) or raw - expected <= TINY * total:
        return 0.0
    return min((raw - expected) / (total - expected), 1.0)


def _has_nothing_to_hide(seed: SeedProfile) -> bool:
    return seed.sensitivity - float(seed.costs[0]) <= TINY * seed.sensitivity


class Standing(NamedTuple):
    """What a profile is worth and what it gives away."""

    power: float
    """DP(q,G)."""
    risk: float
    """risk(q,G), in the form that was asked for."""


def discriminating_power(seed: SeedProfile, alive: Flags) -> float:
    """DP(q,G) of a pruned seed."""
    if seed.scale <= 0:
        return 0.0
    return max(float(measure_power(seed.arrays, alive)) / seed.scale, 0.0)


def stand(seed: SeedProfile, alive: Flags, form: RiskForm = "excess") -> Standing:
    """Power and risk of a pruned seed."""
    return Standing(discriminating_power(seed, alive), profile_risk(seed, alive, form))


def trace(seed: SeedProfile, steps: Sequence[int], form: RiskForm = "excess") -> list[Standing]:
    """Power and risk after each of these prunes; a step is a row, pruned with all below it."""
    alive = np.ones(len(seed), dtype=np.bool_)
    found = []
    for row in steps:
        alive[row : row + seed.arrays.sizes[row]] = False
        found.append(stand(seed, alive, form))
    return found


def greedy_il(seed: SeedProfile, limit: float, form: RiskForm = "excess") -> Generalised:
    """Prune the leaf of least information loss until the risk is within the limit."""
    return Generalised.after(seed, prune_by_loss(seed.arrays, risk_numbers(seed, form, limit)), form)


def greedy_dp(seed: SeedProfile, limit: float, form: RiskForm = "excess") -> Generalised:
    """Prune the leaf that keeps the power largest until the risk is within the limit."""
    risks = risk_numbers(seed, form, limit)
    alive = np.ones(len(seed), dtype=np.bool_)
    steps: list[int] = []
    risk = float(measure_risk(seed.arrays.parents, risks, alive)[0])
    while risk > risks.allowed and len(steps) < len(seed) - 1:
        best = (-np.inf, -np.inf, 0)
        for leaf in _leaves(seed, alive):
            alive[leaf] = False
            power = round(_gained(seed, alive) * GRID)
            drop = risk - float(measure_risk(seed.arrays.parents, risks, alive)[0])
            alive[leaf] = True
            best = max(best, (power, drop, -leaf))
        steps.append(-best[2])
        alive[steps[-1]] = False
        risk -= best[1]
    return Generalised.after(seed, steps, form)


def _leaves(seed: SeedProfile, alive: Flags) -> list[int]:
    inner = {int(seed.arrays.parents[row]) for row in np.flatnonzero(alive)}
    return [int(row) for row in np.flatnonzero(alive) if row not in inner and row > 0]


def _gained(seed: SeedProfile, alive: Flags) -> float:
    """PG + TS from its definition: collect the atoms, add up what they tell, find what is above them all."""
    parents, masses, rests = seed.arrays.parents, seed.arrays.masses.copy(), seed.arrays.rests.copy()
    for row in range(len(seed) - 1, 0, -1):
        if not alive[row]:
            masses[parents[row]] += masses[row]
            rests[parents[row]] += rests[row]
    atoms = np.flatnonzero(alive & (masses > 0))
    common = int(atoms[0])
    while atoms[-1] >= common + seed.arrays.sizes[common]:
        common = int(parents[common])
    told = masses[atoms] @ np.log(masses[atoms] / rests[atoms])
    return float(told - np.log(seed.arrays.priors[common]))


def ratio_greedy(seed: SeedProfile, limit: float, form: RiskForm = "excess") -> Generalised:
    """Prune by risk taken away per power lost until the risk is within the limit, then put back what fits."""
    arrays, risks = seed.arrays, risk_numbers(seed, form, limit)
    pruned = start(arrays, risks)
    if pruned.risk[0] <= risks.allowed:
        return Generalised.after(seed, (), form)
    risky = risky_rows(arrays, risks, pruned)
    grown = start(arrays, risks)
    cut_all(arrays, risks, grown)
    taken = prune_by_ratio(arrays, risks, pruned, risky) + put_back(arrays, risks, pruned, risky)
    taken_up = put_back(arrays, risks, grown, risky)
    one = Generalised.after(seed, _tops(seed, pruned), form, taken)
    other = Generalised.after(seed, _tops(seed, grown), form, taken_up)
    return other if other.power > one.power + TINY else one


def _tops(seed: SeedProfile, state: State) -> list[int]:
    """The hidden topics whose parents are shown."""
    hidden = np.flatnonzero(~state.alive)
    return [int(row) for row in hidden if state.alive[seed.arrays.parents[row]]]
