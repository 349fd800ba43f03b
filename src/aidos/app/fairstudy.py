"""A comparison of fair re-rankers: every method at every floor on one scenario, and the bound beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aidos.app.fairterms import Attending
from aidos.core.mechanism import Finding
from aidos.core.progress import Progress
from aidos.errors import ParameterError
from aidos.fairness.bounds.stationary import stationary_bound_cycle
from aidos.fairness.course import Course
from aidos.fairness.equity import EquityOfAttention
from aidos.fairness.gains import gains, normalise
from aidos.fairness.methods import find_method
from aidos.fairness.simulate import Scenario, simulate
from aidos.model.attention import find_attention
from aidos.report.fairpage import FairnessStory

__all__ = ["FairStudy", "run_study"]


@dataclass(frozen=True, slots=True)
class FairStudy:
    """What came out."""

    scenario: Scenario
    attention: str
    courses: tuple[Course, ...]
    bounds: dict[float, float]
    """By floor: least unfairness per ranking."""

    def results(self) -> list[dict[str, str | float | None]]:
        """For programs: every course in full numbers, with the least unfairness that was possible at its floor."""
        rates = [
            None if course.quality_floor is None else self.bounds.get(course.quality_floor) for course in self.courses
        ]
        return [
            {
                "method": course.method,
                "floor": course.quality_floor,
                "unfairness": course.final,
                "at_least": None if rate is None else rate * len(course.quality),
                "mean_quality": float(course.quality.mean()),
                "least_quality": float(course.quality.min()),
                "seconds": course.seconds,
            }
            for course, rate in zip(self.courses, rates, strict=True)
        ]

    def story(self, *, synthetic: bool) -> FairnessStory:
        """For the page; numbers of real subjects are a finding."""
        chosen = self.courses[0]
        scenario = self.scenario
        before = next((course for course in self.courses if course.method == "relevance"), None)
        count = len(scenario.queries)
        return FairnessStory(
            title="Attention in proportion to relevance",
            lead=f"{scenario.name}: {len(scenario.subject_ids):,} subjects, {count} "
            f"{'query' if count == 1 else 'queries in turn'}, {len(chosen.quality):,} rankings.",
            courses=self.courses,
            chosen=chosen,
            before=before,
            attention=self.attention,
            bounds=self.bounds,
            groups=dict(zip(scenario.actors or scenario.subject_ids, scenario.groups, strict=False)),
            source=None if synthetic else Finding(value=chosen, about="the ranked subjects"),
        )


def run_study(
    scenario: Scenario,
    attending: Attending,
    *,
    methods: Sequence[str],
    floors: Sequence[float],
    rankings: int,
    bound: bool,
    progress: Progress,
) -> FairStudy:
    """Run every method at every floor; methods that know no floor run once."""
    if not methods:
        raise ParameterError("no method was named", hint="for example --methods adaptive,relevance")
    settings = [attending.equity(quality_floor=floor) for floor in floors]
    courses: list[Course] = []
    for name in dict.fromkeys(methods):
        method = find_method(name)
        if method.needs_groups and not scenario.groups:
            raise ParameterError(f"{name} needs groups", hint="name the column that holds them: --group-column")
        courses += [
            simulate(scenario, equity, method=name, rankings=rankings, progress=progress)
            for equity in (settings if method.follows_floor else settings[:1])
        ]
    bounds: dict[float, float] = {}
    # The bound is one for subjects that never fade; nothing is claimed where it does not apply.
    if bound and settings[0].level == "subject" and settings[0].half_life is None:
        bounds = {equity.quality_floor: _bound(scenario, equity, progress) for equity in settings}
    return FairStudy(scenario, settings[0].attention, tuple(courses), bounds)


def _bound(scenario: Scenario, equity: EquityOfAttention, progress: Progress) -> float:
    """Subjects that a query does not hold count as worthless there, which can only lower the bound."""
    relevance = np.nan_to_num(scenario.relevance, nan=0.0)
    longest = max(relevance, key=lambda row: float(np.count_nonzero(row)))
    weights = find_attention(equity.attention).weights(np.sort(longest)[::-1] / longest.max())
    queries = [(normalise(row), gains(row, equity.gain)) for row in relevance]
    with progress.task(f"bound at {equity.quality_floor:g}", total=None, unit="steps"):
        return stationary_bound_cycle(queries, weights, equity.quality_floor).rate
