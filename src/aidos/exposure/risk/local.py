"""At home: a person computes her own topical risks from a model that anybody may have, and no data of a community.

Only the topical measures can do that; the baselines compare with everybody. Measures over time need times. Nothing
leaves but numbers: no word, no entry, no name. With a table of quantiles that an operator has published (see
`aidos.exposure.risk.quantiles`) she learns between which percentiles a number lies, and tells nobody that she asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.errors import ParameterError
from aidos.exposure.risk.arrivals import in_order
from aidos.exposure.risk.baselines import BaselineRisk
from aidos.exposure.risk.formulas import strength_of_interest
from aidos.exposure.risk.kept.plan import RiskPlan
from aidos.exposure.risk.knowledge import RiskModels
from aidos.exposure.risk.measure import RiskMeasure
from aidos.exposure.risk.nearness import least_nearness
from aidos.exposure.risk.people import People
from aidos.exposure.risk.quantiles import QuantileTable
from aidos.exposure.risk.topical import TopicalRisk

__all__ = ["LocalRisk", "find_local"]


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
    """Whether that is near enough to say anything, see `aidos.exposure.risk.nearness`."""


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
