"""Several kinds of items in one release, with one promise for all of them.

The budget of a mechanism is split between the kinds, by equal shares unless told otherwise, and the guarantee is the
composition of the parts. Where the noise is Gaussian the parts compose through the lengths of their signals, which
gives each part more than its share of epsilon; otherwise epsilons and deltas add up.

What it does not promise: that the parts agree with each other. Noise is drawn for each, so a pair may be released whose
queries are not.

Why that is tighter than adding up epsilons: parts with sensitivity over sigma mu_1, mu_2, ... are together as one with
mu = sqrt(mu_1^2 + mu_2^2 + ...). So a part that gets a share s of the budget gets mu sqrt(s), and s of delta. A share
of a twentieth thus has noise of 4.5 times sigma; by adding up epsilons it would have some 20 times.

How much of epsilon is left for this after discreteness, rounding and what each mechanism makes of its delta is found by
halving an interval: the parts that come out are composed and compared with the promise, so what is given keeps it.

Mechanisms that take a search log as it is, brought to the shape in which every release is written. The pool release
makes three tables at once, click counts go over a public list of results, and the k-anonymous comparators give a log
without names. Here each becomes named tables; the guarantee is the mechanism's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, cast, runtime_checkable

import pyarrow as pa
from annotated_types import Ge

from aidos.account.composition import GaussianPart, compose, joined, joint_delta
from aidos.account.gaussian import gaussian_epsilon, gaussian_sigma
from aidos.core.checks import check_parameters
from aidos.core.guarantee import ApproxDP, Guarantee
from aidos.core.limits import ITEMS
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.anonymity import (
    AnonymousLog,
    AnonymousVisits,
    KKeywordAnonymity,
    KQueryAnonymity,
    KSessionAnonymity,
)
from aidos.rooms.publish.click_counts import ClickCounts, ClickData
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.pool import PoolRelease, public_list
from aidos.rooms.publish.poolsteps import PoolTables
from aidos.rooms.publish.steered import SteeredCounts

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "WHOLE_LOG_MECHANISMS",
    "Budget",
    "GaussianMechanism",
    "HistogramMechanism",
    "LogRelease",
    "WholeLog",
    "WholeLogMechanism",
    "split_gaussian",
]

SUM = 1e-9
"""How far from 1 the shares may sum up to, for decimal fractions."""


class HistogramMechanism(Protocol):
    """A mechanism over contributions, with a budget that can be split: a frozen dataclass with these fields."""

    @property
    def epsilon(self) -> float:
        """Its epsilon."""
        ...

    @property
    def delta(self) -> float:
        """Its delta."""
        ...

    @property
    def items_per_person(self) -> int:
        """How many items of each person it keeps."""
        ...

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """Its promise."""
        ...

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Its noise and thresholds."""
        ...

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        ...


@runtime_checkable
class GaussianMechanism(Protocol):
    """A mechanism whose noise composes as Gaussian noise does."""

    def gaussian_part(self) -> GaussianPart:
        """Its noise and its threshold's delta."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRelease:
    """Publish several kinds of items of a search log under one promise."""

    mechanism: HistogramMechanism = field(default_factory=SteeredCounts)
    """How each kind is published; its epsilon and delta are for all kinds together."""
    kinds: tuple[str, ...] = ("queries",)
    """Which kinds: keywords, queries, clicks, pairs."""
    shares: tuple[float, ...] = ()
    """Of the budget, for each kind; equal when not given."""
    items_per_person: tuple[Annotated[int, Ge(1), ITEMS], ...] = ()
    """Items kept of each person, for each kind; the mechanism's when not given."""

    def __post_init__(self) -> None:
        check_parameters(self)
        problems = [*_kind_problems(self.kinds), *self._share_problems()]
        if self.items_per_person and len(self.items_per_person) != len(self.kinds):
            problems.append(f"items_per_person must have one number for each of {len(self.kinds)} kinds")
        if problems:
            raise ParameterError("LogRelease: " + "; ".join(problems))

    def _share_problems(self) -> list[str]:
        if not self.shares:
            return []
        if len(self.shares) != len(self.kinds):
            return [f"shares must have one number for each of {len(self.kinds)} kinds, got {len(self.shares)}"]
        if not all(isfinite(share) and share > 0 for share in self.shares) or abs(fsum(self.shares) - 1) > SUM:
            return ["shares must be greater than 0 and sum up to 1"]
        return []

    def parts(self) -> tuple[tuple[str, HistogramMechanism], ...]:
        """Each kind with the mechanism that publishes it, at its own budget."""
        return tuple(zip(self.kinds, self._split()[0], strict=True))

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """The composition of the parts."""
        parts, is_gaussian = self._split()
        if is_gaussian:
            return ApproxDP(epsilon=self.mechanism.epsilon, delta=self.mechanism.delta)
        return compose([part.guarantee(facts) for part in parts])

    def gaussian_part(self) -> GaussianPart | None:
        """All kinds as one part of a composition, where their noise is Gaussian."""
        parts = [part for _, part in self.parts()]
        if not all(isinstance(part, GaussianMechanism) for part in parts):
            return None
        return joined([cast("GaussianMechanism", part).gaussian_part() for part in parts])

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds of every part, named by kind."""
        return {
            f"{kind}_{name}": value for kind, part in self.parts() for name, value in part.calibration(facts).items()
        }

    def run(self, data: Table, noise: Noise) -> dict[str, Histogram]:
        """Publish each kind of items of a search log."""
        return {kind: part.run(contributions(data, KINDS[kind]), noise) for kind, part in self.parts()}

    def _split(self) -> tuple[list[HistogramMechanism], bool]:
        """The parts, and whether they compose as Gaussians."""
        shares = self.shares or tuple(1 / len(self.kinds) for _ in self.kinds)
        limits = self.items_per_person or tuple(self.mechanism.items_per_person for _ in self.kinds)
        epsilon, delta = self.mechanism.epsilon, self.mechanism.delta
        if len(self.kinds) > 1 and isinstance(self.mechanism, GaussianMechanism):
            budgets = split_gaussian(epsilon, delta, shares, limits, self._gaussian_part)
            if budgets is not None:
                return [self._part(budget, limit) for budget, limit in zip(budgets, limits, strict=True)], True
        whole = fsum(shares)
        return [
            self._part((epsilon * share / whole, delta * share / whole), limit)
            for share, limit in zip(shares, limits, strict=True)
        ], False

    def _part(self, budget: Budget, limit: int) -> HistogramMechanism:
        made = replace(
            cast("DataclassInstance", self.mechanism), epsilon=budget[0], delta=budget[1], items_per_person=limit
        )
        return cast("HistogramMechanism", made)

    def _gaussian_part(self, budget: Budget, limit: int) -> GaussianPart:
        return cast("GaussianMechanism", self._part(budget, limit)).gaussian_part()


def _kind_problems(kinds: tuple[str, ...]) -> list[str]:
    problems = [] if kinds else ["kinds must name at least one kind"]
    if strange := [kind for kind in kinds if kind not in KINDS]:
        problems.append(f"kinds must be of {', '.join(KINDS)}, got {', '.join(map(repr, strange))}")
    if len(set(kinds)) < len(kinds):
        problems.append("kinds must differ from each other")
    return problems


Budget = tuple[float, float]
"""Epsilon and delta of one part, as if it were alone."""

LEAST, MOST, STEPS = 0.5, 1.25, 9
"""Epsilons that are tried, relative to the one promised, and how often the interval is halved."""


def split_gaussian(
    epsilon: float,
    delta: float,
    shares: Sequence[float],
    limits: Sequence[int],
    part_of: Callable[[Budget, int], GaussianPart],
) -> list[Budget] | None:
    """Budgets of parts that keep (epsilon, delta) together, or None where discreteness takes too much.

    ``part_of`` says what noise and threshold a mechanism makes of a budget and a limit of items per person.
    """

    def budgets(factor: float) -> list[Budget]:
        sigma = gaussian_sigma(epsilon * factor, delta, 1.0)
        own = delta * (1 - 1e-12)
        return [(gaussian_epsilon(share * own, sigma / share**0.5, 1.0), share * own) for share in shares]

    def keeps(found: list[Budget]) -> bool:
        try:
            parts = [part_of(*asked) for asked in zip(found, limits, strict=True)]
        except ParameterError:
            return False
        return joint_delta(epsilon, parts) <= delta

    low, high = LEAST, MOST
    best = budgets(low)
    if not keeps(best):
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        found = budgets(middle)
        low, high, best = (middle, high, found) if keeps(found) else (low, middle, best)
    return best


WholeLogMechanism = PoolRelease | ClickCounts | KQueryAnonymity | KSessionAnonymity | KKeywordAnonymity
WHOLE_LOG_MECHANISMS = (PoolRelease, ClickCounts, KQueryAnonymity, KSessionAnonymity, KKeywordAnonymity)
"""Mechanisms that are not told which kinds of items to publish."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeLog:
    """Publish what a mechanism makes of a whole search log."""

    mechanism: WholeLogMechanism
    results: Path | None = None
    """For click counts: the public list, with query, tab, result on each line."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, ClickCounts) and self.results is None:
            raise ParameterError(
                "click counts need a public list of results", hint="name its file: query, tab, result on each line"
            )

    def guarantee(self, facts: PublicFacts) -> Guarantee:
        """The mechanism's."""
        return self.mechanism.guarantee(facts)

    def gaussian_part(self) -> GaussianPart | None:
        """None: no noise of these is Gaussian."""
        return None

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:
        """Noise and thresholds, where there are any."""
        return self.mechanism.calibration(facts) if isinstance(self.mechanism, PoolRelease | ClickCounts) else {}

    def run(self, data: Table, noise: Noise) -> dict[str, Histogram]:
        """The tables, by name."""
        if isinstance(self.mechanism, ClickCounts):
            listed = public_list(data, self.results or (), KINDS["clicks"].columns)
            clicks = ClickData(contributions(data, KINDS["clicks"]), listed)
            return {"clicks": self.mechanism.run(clicks, noise)}
        match self.mechanism.run(data, noise):
            case PoolTables() as pooled:
                return {name: _occurrences(table) for name, table in pooled.tables().items()}
            case AnonymousLog(table=table) | AnonymousVisits(table=table):
                return {"visits": Histogram(tuple(table.columns), table.fetch(), has_counts=False)}
            case Histogram() as histogram:
                return {"keywords": histogram}


def _occurrences(table: pa.Table) -> Histogram:
    """Noisy counts of occurrences, not of people; they keep their name."""
    return Histogram(tuple(name for name in table.column_names if name != PEOPLE), table, has_counts=False)
