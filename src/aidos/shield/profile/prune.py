"""What every way of pruning gives back: a generalised profile G below the seed, with its power, risk and way there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.shield.profile.risk import RiskForm
from aidos.shield.profile.seed import SeedProfile
from aidos.shield.profile.utility import discriminating_power, stand

__all__ = ["Generalised"]

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

    def share_of(self, seed: SeedProfile) -> float:
        """How much of the seed's power is left; 1 where the seed had none."""
        whole = discriminating_power(seed, np.ones(len(seed), dtype=np.bool_))
        return self.power / whole if whole > 0 else 1.0
