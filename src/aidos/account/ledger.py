"""What has been spent, in order, and what is left.

`Ledger` is the shape that the one door needs. `MemoryLedger` forgets when the process ends, so it fits notebooks,
tests and synthetic data; real data sets need one that outlives the process.

Composition is basic: epsilons and deltas add up. That is always sound for releases about the same unit and the same
neighbour relation; the ledger refuses to mix either.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, sqrt
from typing import Protocol, assert_never

from aidos.core.guarantee import (
    PERSON,
    ApproxDP,
    Guarantee,
    KAnonymity,
    Neighbours,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    Unit,
    ZeroConcentratedDP,
)
from aidos.errors import BudgetError, ParameterError

__all__ = ["Ledger", "MemoryLedger", "cost"]

ROUNDING = 1 + 1e-9
"""Relative slack for sums of decimal fractions: ten charges of 0.1 fit into 1."""


class Ledger(Protocol):
    """Keeps the sum of what was promised below what the owner allows."""

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        ...

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        ...


@dataclass(slots=True)
class MemoryLedger:
    """A ledger for one process."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    entries: list[Guarantee] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < float("inf") and 0 <= self.delta < 1):
            raise ParameterError(
                f"a budget needs 0 < epsilon < infinity and 0 <= delta < 1, got {self.epsilon}, {self.delta}"
            )

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        costs = [cost(entry, self.delta) for entry in self.entries]
        return sum(epsilon for epsilon, _ in costs), sum(delta for _, delta in costs)

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        spent, asked = self.spent(), cost(guarantee, self.delta)
        left = (self.epsilon - spent[0], self.delta - spent[1])
        if asked != (0.0, 0.0):
            self._refuse_other_relation(guarantee)
        if spent[0] + asked[0] > self.epsilon * ROUNDING or spent[1] + asked[1] > self.delta * ROUNDING:
            raise BudgetError(
                f"this release costs epsilon = {asked[0]:g}, delta = {asked[1]:g}; "
                f"left are epsilon = {left[0]:g}, delta = {left[1]:g}",
                spent=spent,
                asked=asked,
                left=left,
                hint="ask for less, or release from data that were not charged to this ledger",
            )
        self.entries.append(guarantee)

    def _refuse_other_relation(self, guarantee: Guarantee) -> None:
        theirs = (getattr(guarantee, "unit", self.unit), getattr(guarantee, "neighbours", self.neighbours))
        if theirs != (self.unit, self.neighbours):
            raise ParameterError(
                f"the ledger counts {self.neighbours} of one {self.unit.noun} ({self.unit.column}), "
                f"the guarantee {theirs[1]} of one {theirs[0].noun} ({theirs[0].column}); such costs do not add up"
            )


def cost(guarantee: Guarantee, delta: float) -> tuple[float, float]:
    """Epsilon and delta of a guarantee; ``delta`` is where a zero-concentrated one is converted.

    k-anonymity and no guarantee cost infinitely much: no ledger with a finite budget lets them pass.
    """
    match guarantee:
        case PureDP(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=own) | ProbabilisticDP(epsilon=epsilon, delta=own):
            return epsilon, own
        case ZeroConcentratedDP(rho=rho):
            half = delta / 2
            return (rho + 2 * sqrt(rho * log(1 / half)), half) if half > 0 else (float("inf"), 0.0)
        case QualityFloor():
            return 0.0, 0.0
        case KAnonymity() | NoGuarantee():
            return float("inf"), 1.0
        case _:
            assert_never(guarantee)
