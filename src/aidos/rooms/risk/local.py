"""At home: a person computes her own topical risks from a model that anybody may have, and no data of a community.

Only the topical measures can do that; the baselines compare with everybody. Measures over time need times. Nothing
leaves but numbers: no word, no entry, no name. With a table of quantiles that an operator has published she learns
between which percentiles a number lies, and tells nobody that she asked.

The table tells from which risk on somebody is above 5, 10, 15 ... per cent of the community. Every step holds at least
``least`` people, so that small communities have few steps; the lowest and the highest risk are not told, and numbers
are rounded to two digits. Only topical measures are in it: the baselines cannot be computed without the community.

This is a threshold, no proof: who can add people, or compares the tables of two days, learns more than one table tells.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.jsontext import parse_json
from aidos.core.mechanism import Finding
from aidos.engine.files import write_text
from aidos.engine.inputs import read_text
from aidos.errors import AidosError, InputError, ParameterError
from aidos.rooms.risk.arrivals import in_order
from aidos.rooms.risk.formulas import strength_of_interest
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure, TopicalRisk, least_nearness
from aidos.rooms.risk.overview import FEWEST_OF_A_STEP
from aidos.rooms.risk.people import People
from aidos.rooms.risk.state import RiskState

__all__ = ["LocalRisk", "QuantileTable", "RiskQuantiles", "Steps", "find_local", "two_digits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRisk:
    """One number of one person."""

    topic: str
    measure: str
    """As measures print."""
    risk: float
    percentile: tuple[float, float] | None
    """Between which shares of a community are at most as exposed; None without a table that tells it."""
    nearness: float
    """How near her nearest entry comes to the topic."""
    evidence: bool
    """Whether that is near enough to say anything, see `aidos.rooms.risk.measure`."""


def find_local(
    mine: People,
    topics: Sequence[str],
    measures: Sequence[RiskMeasure],
    models: RiskModels,
    *,
    table: QuantileTable | None = None,
) -> Finding[tuple[LocalRisk, ...]]:
    """The risks of one person, from her own entries alone."""
    if len(mine) != 1:
        raise ParameterError(f"these entries are of {len(mine)} people", hint="give the entries of one person")
    if other := [measure for measure in measures if not isinstance(measure, TopicalRisk)]:
        raise ParameterError(
            f"{other[0].name} compares with a community, which is not there"
            if isinstance(other[0], BaselineRisk)
            else f"{other[0].name} cannot be computed at home: it may need the entries of others",
            hint="choose measures in the spaces bow, lda or w2v",
        )
    plan = RiskPlan(topics, measures, models, mine.analyser)
    plan.check_people(mine)
    if table is not None:
        table.check_same(plan)
    return Finding(value=tuple(_found(in_order(mine), plan, table)), about="one person")


def _found(mine: People, plan: RiskPlan, table: QuantileTable | None) -> Iterator[LocalRisk]:
    traces = {name: kept.of_nothing(1) for name, kept in plan.kept.items()}
    for name, kept in plan.kept.items():
        kept.take_in(traces[name], mine, 0)
    for measure, risks in plan.risks(traces).items():
        near = strength_of_interest(traces[measure.space].evidence.best, plan.kept[measure.space].layout)[0]
        for at, topic in enumerate(plan.topics):
            risk = float(risks[0, at])
            steps = table.find(topic, measure) if table is not None else None
            yield LocalRisk(
                topic=topic,
                measure=str(measure),
                risk=risk,
                percentile=steps.percentile(risk) if steps is not None else None,
                nearness=float(near[at]),
                evidence=bool(near[at] > least_nearness(measure)),
            )


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
            said = parse_json(read_text(path))
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

    least: Annotated[int, Ge(FEWEST_OF_A_STEP)] = FEWEST_OF_A_STEP
    """Fewest people of a step."""
    steps: Annotated[int, Ge(2), Le(100)] = 20
    """Most steps."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def make(self, data: RiskState) -> QuantileTable:
        """The table of a community: a threshold hides single people from one table, and proves nothing."""
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
        return QuantileTable(people=people // self.least * self.least, least=self.least, bound_to=bound, rows=rows)


def two_digits(number: float) -> float:
    """Rounded to two significant digits."""
    return float(f"{number:.1e}")


def _parted(ordered: np.ndarray[tuple[int], np.dtype[np.float64]], steps: int) -> tuple[float, ...]:
    places = [ceil(step * len(ordered) / steps) - 1 for step in range(1, steps)]
    return tuple(two_digits(float(ordered[place])) for place in places)
