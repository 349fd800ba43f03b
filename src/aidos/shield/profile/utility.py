"""Utility: how well a shown profile tells the searcher's meaning apart, as discriminating power from 0 to 1.

    PG(q,G) = sum over atoms of p ln(p / prior)     TS(q,G) = IC(lowest common ancestor of the atoms)
    DP(q,G) = (PG + TS) / (2 sum over T_H(q) of Pr(t|q,H) IC(t))     util(q,G) = DP(q,G) - DP(q,R)

Atoms are the leaves of G and, for every inner topic with pruned children, a shadow at it: the preference that was
pruned and the prior that retained children leave. With that reading no prune raises DP, and DP is 0 at the bare root.
Where the denominator is 0 (the query is about the root alone) DP is 0: there is nothing to tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.shield.profile.kernels.trees import measure_power
from aidos.shield.profile.risk import RiskForm, profile_risk
from aidos.shield.profile.seed import SeedProfile

__all__ = ["Standing", "discriminating_power", "stand", "trace"]

Flags: TypeAlias = NDArray[np.bool_]


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
