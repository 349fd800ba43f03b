"""Risk: how much of what is sensitive a shown profile gives away, from 0 to 1.

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
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.shield.profile.kernels.trees import SeedRisks, measure_risk
from aidos.shield.profile.seed import SeedProfile

__all__ = ["TINY", "RiskForm", "profile_risk", "risk_numbers"]

Flags: TypeAlias = NDArray[np.bool_]
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
