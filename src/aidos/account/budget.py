"""How much a data set may give away, and whether one more release fits.

The accountant is chosen when the budget is set, not after looking at releases: picking the better of two afterwards
would need a proof of its own. The basic one adds epsilons and deltas. The Gaussian one keeps the sum of mu^2 below what
(epsilon, delta/2) allows and the deltas of thresholds below delta/2; it lets through more where noise is Gaussian, less
where it is not. A first release that takes the whole budget fits under either, since it stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

from aidos.account.composition import GaussianPart, compose_gaussian, part_of
from aidos.account.cost import ROUNDING, cost
from aidos.core.guarantee import PERSON, Guarantee, KAnonymity, Neighbours, NoGuarantee, QualityFloor, Unit
from aidos.errors import BudgetError, ParameterError

__all__ = ["Accountant", "Budget", "Spend"]

Amount = tuple[float, float]


class Accountant(StrEnum):
    """How releases add up."""

    BASIC = "basic"
    """Epsilons and deltas add up."""
    GAUSSIAN = "gaussian"
    """Gaussian noise adds up by squares; everything else joins through a bound."""


@dataclass(frozen=True, slots=True)
class Spend:
    """One release as an accountant sees it."""

    guarantee: Guarantee
    gaussian: GaussianPart | None = None
    """The Gaussian part, where the noise is Gaussian; otherwise one is derived from the guarantee."""

    def part(self) -> GaussianPart:
        """The Gaussian part, given or derived."""
        return self.gaussian or part_of(self.guarantee)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What the owner of a data set allows in all, for one unit and one neighbour relation."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    accountant: Accountant = Accountant.BASIC

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < float("inf") and 0 <= self.delta < 1):
            raise ParameterError(
                f"a budget needs 0 < epsilon < infinity and 0 <= delta < 1, got {self.epsilon}, {self.delta}"
            )
        if self.accountant is Accountant.GAUSSIAN and self.delta == 0:
            raise ParameterError("the Gaussian accountant needs a delta greater than 0")

    def spent(self, spends: Sequence[Spend]) -> Amount:
        """Epsilon and delta of all spends together."""
        paid = [spend for spend in spends if not isinstance(spend.guarantee, QualityFloor)]
        if self.accountant is Accountant.BASIC or len(paid) <= 1:
            costs = [cost(spend.guarantee, self.delta) for spend in paid]
            return fsum(epsilon for epsilon, _ in costs), fsum(delta for _, delta in costs)
        parts = [spend.part() for spend in paid]
        thresholds = fsum(part.delta for part in parts)
        together = compose_gaussian([GaussianPart(mu=part.mu) for part in parts], self.delta / 2)
        # The Gaussian half of delta is fixed; a threshold that overruns its own half shows up as overspent.
        return together.epsilon, self.delta / 2 + thresholds

    def admit(self, spends: Sequence[Spend], asked: Spend) -> None:
        """Raise BudgetError if the spend does not fit, ParameterError if it cannot be added to this budget."""
        if isinstance(asked.guarantee, QualityFloor):
            return
        self._refuse_other_relation(asked.guarantee)
        before, after = self.spent(spends), self._after(spends, asked)
        if after[0] > self.epsilon * ROUNDING or after[1] > self.delta * ROUNDING:
            price = cost(asked.guarantee, self.delta)
            left = (max(self.epsilon - before[0], 0.0), max(self.delta - before[1], 0.0))
            raise BudgetError(
                f"this release costs epsilon = {price[0]:g}, delta = {price[1]:g}; "
                f"left are epsilon = {left[0]:g}, delta = {left[1]:g}",
                spent=before,
                asked=price,
                left=left,
                hint="ask for less, or release from data that were not charged to this ledger",
            )

    def _after(self, spends: Sequence[Spend], asked: Spend) -> Amount:
        if isinstance(asked.guarantee, NoGuarantee | KAnonymity):
            return float("inf"), 1.0
        return self.spent([*spends, asked])

    def _refuse_other_relation(self, guarantee: Guarantee) -> None:
        theirs = (getattr(guarantee, "unit", self.unit), getattr(guarantee, "neighbours", self.neighbours))
        if theirs != (self.unit, self.neighbours):
            raise ParameterError(
                f"the ledger counts {self.neighbours} of one {self.unit.noun} ({self.unit.column}), "
                f"the guarantee {theirs[1]} of one {theirs[0].noun} ({theirs[0].column}); such costs do not add up"
            )
