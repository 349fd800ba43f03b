"""Quantiles of a community's risks, for people who compute their own number at home and want to know what it means.

The table tells from which risk on somebody is above 5, 10, 15 ... per cent of the community. Every step holds at least
``least`` people, so that small communities have few steps; the lowest and the highest risk are not told, and numbers
are rounded to two digits. Only topical measures are in it: the baselines cannot be computed without the community.

This is a threshold, no proof: who can add people, or compares the tables of two days, learns more than one table tells.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts, Release
from aidos.core.noise import Noise
from aidos.engine.files import write_text
from aidos.errors import AidosError, InputError
from aidos.exposure.risk.kept.plan import RiskPlan
from aidos.exposure.risk.measure import RiskMeasure
from aidos.exposure.risk.state import RiskState

__all__ = ["QuantileTable", "RiskQuantiles", "Steps", "two_digits"]

KIND = "aidos risk quantiles"
FORMAT = 1
APART = ("measures", "topics")
"""What a state is bound to as a whole, and a single number is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The risks that part a community into steps of as many people each."""

    measure: str
    """As measures print."""
    topic: str
    risks: tuple[float, ...]
    """Rising; one fewer than there are steps."""

    def percentile(self, risk: float) -> tuple[float, float]:
        """Between which shares of the community are at most as exposed."""
        own, steps = two_digits(risk), len(self.risks) + 1
        below = sum(step < own for step in self.risks)
        reached = sum(step <= own for step in self.risks)
        return below / steps, (reached + 1) / steps


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileTable:
    """The steps of a community for each topic and measure."""

    people: int
    """How many are in the community, rounded down."""
    least: int
    """Fewest people of a step."""
    bound_to: Mapping[str, str]
    """The knowledge that the risks were computed with, by check sums."""
    rows: tuple[Steps, ...]

    def find(self, topic: str, measure: RiskMeasure) -> Steps | None:
        """The steps of a topic and measure, if they are there."""
        return next((row for row in self.rows if (row.topic, row.measure) == (topic, str(measure))), None)

    def check_same(self, plan: RiskPlan) -> None:
        """Refuse to compare numbers of other knowledge."""
        given = {name: value for name, value in plan.fingerprints().items() if name not in APART}
        if other := [name for name, value in given.items() if self.bound_to.get(name) != value]:
            raise InputError(
                f"the table of quantiles was made with other {' and other '.join(other)}",
                hint="load the models that it was made with, or leave the table out",
            )

    def write(self, path: Path) -> None:
        """One readable file."""
        said = {"kind": KIND, "format": FORMAT, **asdict(self)}
        write_text(path, json.dumps(said, indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """The table of a file that `write` wrote."""
        if not path.is_file():
            raise InputError(f"there is no file {path}", hint="name a table of quantiles")
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            kind, version = said.pop("kind"), said.pop("format")
            if kind != KIND:
                raise InputError(f"{path} is no table of quantiles", hint="ask the operator of the community for one")
            if version != FORMAT:
                raise InputError(f"{path} has format {version}, this aidos reads {FORMAT}", hint="update aidos")
            rows = tuple(
                Steps(measure=row["measure"], topic=row["topic"], risks=tuple(map(float, row["risks"])))
                for row in said.pop("rows")
            )
            return cls(people=int(said["people"]), least=int(said["least"]), bound_to=said["bound_to"], rows=rows)
        except AidosError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path} is damaged: it is no table of quantiles", hint="get it again") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskQuantiles:
    """Makes the table, for operators who want their people to be able to compute at home."""

    least: Annotated[int, Ge(20)] = 20
    """Fewest people of a step."""
    steps: Annotated[int, Ge(2), Le(100)] = 20
    """Most steps."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002
        """None: a threshold hides single people from one table, and proves nothing."""
        return NoGuarantee(
            f"every step is about at least {self.least} people and rounded, but whoever adds people or compares two "
            "tables may learn more"
        )

    def run(self, data: RiskState, noise: Noise) -> Release[QuantileTable]:  # noqa: ARG002
        """The table of a community; nothing is random."""
        people = len(data)
        steps = min(self.steps, people // self.least)
        if steps < 2:
            raise InputError(
                f"a table of quantiles needs at least {2 * self.least} people, there are {people}",
                hint="a step about fewer would point at somebody; make the overview without it",
            )
        rows = tuple(
            Steps(measure=str(measure), topic=topic, risks=_parted(data.ordered(topic, measure), steps))
            for measure in data.plan.topical
            for topic in data.plan.topics
        )
        bound = {name: value for name, value in data.plan.fingerprints().items() if name not in APART}
        table = QuantileTable(people=people // self.least * self.least, least=self.least, bound_to=bound, rows=rows)
        return Release(value=table, guarantee=self.guarantee(PublicFacts()), mechanism=self, noise_source="none")


def two_digits(number: float) -> float:
    """Rounded to two significant digits."""
    return float(f"{number:.1e}")


def _parted(ordered: np.ndarray[tuple[int], np.dtype[np.float64]], steps: int) -> tuple[float, ...]:
    places = [ceil(step * len(ordered) / steps) - 1 for step in range(1, steps)]
    return tuple(two_digits(float(ordered[place])) for place in places)
