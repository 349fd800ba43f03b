"""How exposed a community is, topic by topic: the operator's view, without any person in it.

For every topic and measure it is counted how many people come near to the topic at all, and how many of them have risks
within fixed bounds, which depend on nobody; the others are counted as *no evidence*, whatever their numbers. A bin
with fewer than ``least`` people is told without a number, whether it is empty or not; numbers are rounded down to
multiples of ``least``, and so is the number of all people, so that no difference of two numbers points at somebody.

This is a threshold, no proof: who can add people, or compares the counts of two days, learns more than one count tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.limits import CROWD, FEWEST
from aidos.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aidos.rooms.risk.measure import RiskMeasure
    from aidos.rooms.risk.state import RiskState

__all__ = ["FEWEST_OF_A_STEP", "Bin", "Overview", "RiskOverview", "Spread"]

FEWEST_OF_A_STEP = 20
"""People of a step of a table of quantiles, which leaves the house (see `aidos.rooms.risk.local`)."""
TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Bounds of topical risks, which are from 0 to 1."""
POWERS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
"""Bounds of the baselines, which are small in large communities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """People with evidence whose risks are above one bound, up to the next; the first bin is that of no risk at all."""

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
    no_evidence: int | None
    """People of whom nothing is near the topic, rounded down; None where there are too few to tell."""
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

    least: Annotated[int, FEWEST, CROWD] = 20
    """Fewest people that a number may be about; at least 20 with a table of quantiles."""

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def promise(self) -> NoGuarantee:
        """None: a threshold hides single people from one overview, and proves nothing."""
        return NoGuarantee(
            f"every number is about at least {self.least} people and rounded, but whoever adds people or compares two "
            "overviews may learn more"
        )

    def count(self, data: RiskState) -> Overview:
        """The numbers that are told."""
        if len(data) < self.least:
            raise InputError(
                f"fewer than {self.least} people are ranked: any number about so few would point at somebody",
                hint="people can be looked at one by one; --least may be as low as 10",
            )
        spreads: list[Spread] = []
        for measure in data.plan.measures:
            risks, near = data.all_risks(measure), data.evidence(measure)[1]
            spreads += [
                self._spread(measure, topic, risks[:, at], near[:, at]) for at, topic in enumerate(data.plan.topics)
            ]
        return Overview(people=self._rounded(len(data)), least=self.least, spreads=tuple(spreads))

    def _spread(self, measure: RiskMeasure, topic: str, risks: NDArray[np.float64], near: NDArray[np.bool_]) -> Spread:
        import numpy as np

        from aidos.rooms.risk.measure import TopicalRisk

        bounds = TENTHS if isinstance(measure, TopicalRisk) else POWERS
        ordered = np.sort(risks[near])
        up_to = np.searchsorted(ordered, bounds, side="right").tolist()
        people = np.diff([0, *up_to, len(ordered)]).tolist()
        bins = tuple(
            Bin(above=above, up_to=below, people=self._told(number))
            for above, below, number in zip((None, *bounds), (*bounds, None), people, strict=True)
        )
        no_evidence = self._told(len(risks) - len(ordered))
        return Spread(topic=topic, measure=str(measure), no_evidence=no_evidence, bins=bins)

    def _told(self, number: int) -> int | None:
        return self._rounded(number) if number >= self.least else None

    def _rounded(self, number: int) -> int:
        return number // self.least * self.least
