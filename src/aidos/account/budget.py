"""How much a data set may give away, and whether one more release fits.

The accountant is chosen when the budget is set. The basic one adds epsilons and deltas. The best one takes the cheapest
of three totals, of which each is valid by itself:

- basic: epsilons and deltas add up;
- Gaussian: noise adds up by squares, thresholds by their chances (`composition`), all at the budget's delta;
- advanced: everything is zero-concentrated, Gaussian noise by mu^2/2 and epsilon by epsilon^2/2, except with the deltas
  that add up; the rest of delta is for the tail (Bun and Steinke 2016; Whitehouse, Ramdas, Rogers and Wu 2023).

What holds. Where no release's parameters depend on what earlier ones showed, all releases together keep the budget's
(epsilon, delta): which total is cheapest follows from parameters alone. Where parameters are chosen after looking, each
total is a filter by itself: its bound stops every path. A path that ends within some bound is one of the process that
this bound alone would stop, so the failures of the three add up, and epsilon holds with at most 4 delta: basic delta;
what thresholds and deltas let through in the two others delta; the tail of the Gaussian delta; that of the advanced
delta. The basic accountant keeps (epsilon, delta) exactly, even then. A single release costs what it promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor, fsum, inf, log10

from aidos.account.composition import GaussianPart, joint_epsilon, part_of
from aidos.account.cost import ROUNDING, concentrated, concentrated_epsilon, cost
from aidos.core.checks import check_parameters
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

__all__ = ["Accountant", "Budget", "Spend"]

Amount = tuple[float, float]


class Accountant(StrEnum):
    """How releases add up."""

    BEST = "best"
    """The cheapest of three totals: basic, Gaussian, advanced."""
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

    def concentrated(self) -> Amount:
        """Rho, and the probability outside of it."""
        return (self.gaussian.mu**2 / 2, self.gaussian.delta) if self.gaussian else concentrated(self.guarantee)

    def scaled(self, factor: float) -> Spend:
        """What a release of the same kind would cost, nearly, that promises this much of epsilon or has more noise."""
        if not isinstance(self.guarantee, PureDP | ApproxDP | ProbabilisticDP):
            return self
        epsilon, delta = cost(self.guarantee, 0.0)
        part = self.gaussian.scaled(factor) if self.gaussian else None
        smaller = min(joint_epsilon(delta, [part]), epsilon) if part else epsilon * factor
        return Spend(replace(self.guarantee, epsilon=smaller), part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What the owner of a data set allows in all, for one unit and one neighbour relation."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    accountant: Accountant = Accountant.BEST

    def __post_init__(self) -> None:
        check_parameters(self)
        if not (0 < self.epsilon < float("inf") and 0 <= self.delta < 1):
            raise ParameterError(
                f"a budget needs 0 < epsilon < infinity and 0 <= delta < 1, got {self.epsilon}, {self.delta}",
                hint="for example epsilon 1 and delta 1e-6",
            )
        if self.accountant is Accountant.GAUSSIAN and self.delta == 0:
            raise ParameterError("the Gaussian accountant needs a delta greater than 0")

    def spent(self, spends: Sequence[Spend]) -> Amount:
        """Epsilon and delta of all spends together: the cheapest total that keeps within delta, if any does."""
        paid = [spend for spend in spends if not isinstance(spend.guarantee, QualityFloor)]
        return min(
            self._totals(paid), key=lambda total: (total[1] > self.delta * ROUNDING or total[0] == inf, total[0])
        )

    def admit(self, spends: Sequence[Spend], asked: Spend) -> None:
        """Raise BudgetError if the spend does not fit, ParameterError if it cannot be added to this budget."""
        if isinstance(asked.guarantee, QualityFloor):
            return
        self._refuse_other_relation(asked.guarantee)
        after = self._after(spends, asked)
        if self._covers(after):
            return
        before, fits = self.spent(spends), self.room(spends, asked)
        raise BudgetError(
            f"the budget is epsilon = {self.epsilon:g}, delta = {self.delta:g}; "
            f"spent are epsilon = {before[0]:g}, delta = {before[1]:g}, "
            f"with this release it would be epsilon = {after[0]:g}, delta = {after[1]:g}",
            spent=before,
            asked=cost(asked.guarantee, self.delta),
            left=(fits, max(self.delta - before[1], 0.0)),
            hint=f"about epsilon = {fits:g} still fits at this delta"
            if fits
            else "no epsilon fits at this delta; try a smaller one, or data that were not charged to this ledger",
        )

    def room(self, spends: Sequence[Spend], asked: Spend) -> float:
        """How large an epsilon still fits for a release like this one, to three digits; 0 if none does."""
        low, high = 0.0, 1.0
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if self._covers(self._after(spends, asked.scaled(middle))) else (low, middle)
        fits = cost(asked.scaled(low).guarantee, self.delta)[0] if low else 0.0
        return _rounded_down(fits) if fits < inf else 0.0

    def _totals(self, paid: Sequence[Spend]) -> Iterator[Amount]:
        alone = len(paid) <= 1 or self.delta == 0
        if alone or self.accountant is not Accountant.GAUSSIAN:
            costs = [cost(spend.guarantee, self.delta) for spend in paid]
            yield fsum(epsilon for epsilon, _ in costs), fsum(delta for _, delta in costs)
        if not alone and self.accountant is not Accountant.BASIC:
            known = all(spend.gaussian or not isinstance(spend.guarantee, ZeroConcentratedDP) for spend in paid)
            yield joint_epsilon(self.delta, [spend.part() for spend in paid]) if known else inf, self.delta
        if not alone and self.accountant is Accountant.BEST:
            parts = [spend.concentrated() for spend in paid]
            left = self.delta - fsum(delta for _, delta in parts)
            yield concentrated_epsilon(fsum(rho for rho, _ in parts), left), self.delta

    def _covers(self, amount: Amount) -> bool:
        return amount[0] <= self.epsilon * ROUNDING and amount[1] <= self.delta * ROUNDING

    def _after(self, spends: Sequence[Spend], asked: Spend) -> Amount:
        if isinstance(asked.guarantee, NoGuarantee | KAnonymity):
            return float("inf"), 1.0
        return self.spent([*spends, asked])

    def _refuse_other_relation(self, guarantee: Guarantee) -> None:
        theirs = (getattr(guarantee, "unit", self.unit), getattr(guarantee, "neighbours", self.neighbours))
        if theirs != (self.unit, self.neighbours):
            raise ParameterError(
                f"the ledger counts {self.neighbours} of one {self.unit.noun} ({self.unit.column}), "
                f"the guarantee {theirs[1]} of one {theirs[0].noun} ({theirs[0].column}); such costs do not add up",
                hint="open a ledger for it with: aidos ledger open --person COLUMN --neighbours KIND",
            )


def _rounded_down(value: float) -> float:
    """Three digits, never more than the value but for rounding."""
    unit = 10.0 ** (floor(log10(value)) - 2) if value > 0 else 1.0
    return float(f"{floor(value / unit * ROUNDING) * unit:.3g}")
