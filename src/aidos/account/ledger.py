"""What has been spent, in order, and what is left.

`Ledger` is the shape that the one door needs. `MemoryLedger` forgets when the process ends, so it fits notebooks,
tests and synthetic data; real data sets need `aidos.account.ledgerfile.FileLedger`, which outlives the process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from aidos.account.budget import Accountant, Budget, Spend
from aidos.core.guarantee import PERSON, Guarantee, Neighbours, Unit

__all__ = ["Ledger", "MemoryLedger"]


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
    """A ledger for one process; epsilons and deltas add up."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    entries: list[Guarantee] = field(default_factory=list, init=False)
    budget: Budget = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.budget = Budget(
            epsilon=self.epsilon,
            delta=self.delta,
            unit=self.unit,
            neighbours=self.neighbours,
            accountant=Accountant.BASIC,
        )

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.budget.spent(self._spends())

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        self.budget.admit(self._spends(), Spend(guarantee))
        self.entries.append(guarantee)

    def _spends(self) -> list[Spend]:
        return [Spend(entry) for entry in self.entries]
