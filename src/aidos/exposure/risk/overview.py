"""How exposed a community is, topic by topic: the operator's view, without any person in it.

For every topic and measure it is counted how many people have risks within fixed bounds, which depend on nobody. A bin
with fewer than ``least`` people is told without a number, whether it is empty or not; numbers are rounded down to
multiples of ``least``, and so is the number of all people, so that no difference of two numbers points at somebody.

This is a threshold, no proof: who can add people, or compares the counts of two days, learns more than one count tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts, Release
from aidos.errors import InputError
from aidos.exposure.risk.measure import RiskMeasure
from aidos.exposure.risk.state import RiskState
from aidos.exposure.risk.topical import TopicalRisk

__all__ = ["Bin", "Overview", "RiskOverview", "Spread"]

TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Bounds of topical risks, which are from 0 to 1."""
POWERS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
"""Bounds of the baselines, which are small in large communities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Risks above one bound, up to the next; the first bin is that of no risk at all."""

    above: float | None
    """None for the first bin."""
    up_to: float | None
    """None for the last bin."""
    people: int | None
    """Rounded down; None where there are too few to tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The risks of one topic by one measure."""

    topic: str
    measure: str
    """As measures print."""
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """The risks of a community, for each topic and measure."""

    people: int
    """Rounded down."""
    least: int
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskOverview:
    """Counts people by risk, for operators."""

    least: Annotated[int, Ge(2)] = 20
    """Fewest people that a number may be about."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002
        """None: a threshold hides single people from one overview, and proves nothing."""
        return NoGuarantee(
            f"every number is about at least {self.least} people and rounded, but whoever adds people or compares two "
            "overviews may learn more"
        )

    def run(self, state: RiskState) -> Release[Overview]:
        """Count."""
        if len(state) < self.least:
            raise InputError(
                f"fewer than {self.least} people are ranked: any number about so few would point at somebody",
                hint="lower it with --least if that is acceptable, or look at single people instead",
            )
        spreads = tuple(
            Spread(topic=topic, measure=str(measure), bins=self._bins(state, topic, measure))
            for measure in state.plan.measures
            for topic in state.plan.topics
        )
        overview = Overview(people=self._rounded(len(state)), least=self.least, spreads=spreads)
        return Release(value=overview, guarantee=self.guarantee(PublicFacts()), mechanism=self, noise_source="none")

    def _bins(self, state: RiskState, topic: str, measure: RiskMeasure) -> tuple[Bin, ...]:
        bounds = TENTHS if isinstance(measure, TopicalRisk) else POWERS
        up_to = np.searchsorted(state.ordered(topic, measure), bounds, side="right").tolist()
        people = np.diff([0, *up_to, len(state)]).tolist()
        return tuple(
            Bin(above=above, up_to=below, people=self._rounded(number) if number >= self.least else None)
            for above, below, number in zip((None, *bounds), (*bounds, None), people, strict=True)
        )

    def _rounded(self, number: int) -> int:
        return number // self.least * self.least
