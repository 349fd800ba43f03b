"""The job that compares re-rankers: every method at every floor on one scenario, and the bound beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.jobs.answer import Finding, cell, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Negative, Section
from aidos.jobs.options import Paged
from aidos.rooms.fairness.equity import Attending, EquityOfAttention

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.progress import Progress
    from aidos.report.page import Block, Page
    from aidos.rooms.fairness.course import Course, Scenario

__all__ = ["ComparedMethods", "SimulateRankings", "WhoIsRanked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoIsRanked:
    """Where the relevance of a simulation comes from."""

    shape: Literal["", "uniform", "linear", "exponential"] = ""
    """Synthetic relevance: uniform, linear or exponential; linear where there are no ratings."""

    subjects: Annotated[int, Ge(1), Le(10**6)] = 100
    """How many subjects a shape has."""

    ratings: str = ""
    """A table (CSV, TSV, Parquet) with a row per subject and a column per query."""

    id_column: str = "subject_id"
    """Which column names the subject."""

    rating: str = ""
    """Which columns hold ratings, with commas between, asked in turn; if unset all columns of numbers."""

    group_column: str = ""
    """Which column holds the subject's group."""

    actor_column: str = ""
    """Which column holds the actor behind the subject."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.shape and self.ratings:
            raise ParameterError("--shape and --ratings exclude each other", hint="leave one of them out")

    def scenario(self) -> Scenario:
        """As the simulation takes it."""
        from aidos.ingest.rankings.ratings import read_ratings
        from aidos.rooms.fairness.course import Scenario, shape_scenario

        if not self.ratings:
            return shape_scenario(self.shape or "linear", self.subjects)
        table = read_ratings(
            self.ratings,
            id_column=self.id_column,
            columns=_words(self.rating),
            group_column=self.group_column,
            actor_column=self.actor_column,
        )
        return Scenario(
            name=Path(self.ratings).name,
            subject_ids=table.subject_ids,
            relevance=table.ratings.T.copy(),
            queries=table.columns,
            groups=table.groups,
            actors=table.actors,
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ComparedMethods(Finding):
    """How each method did, with the least unfairness that was possible."""

    about: str = "the ranked subjects"
    scenario: Scenario
    attention: str
    courses: tuple[Course, ...]
    bounds: Mapping[float, float]
    """By floor: least unfairness per ranking."""
    synthetic: bool
    """Whether the subjects do not exist."""

    def facts(self) -> Mapping[str, object]:
        """Every method's results."""
        rankings = len(self.courses[0].quality)
        facts = {"scenario": self.scenario.name, "rankings": rankings, "attention": self.attention}
        return {**facts, "results": self.results()}

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

    def table(self) -> pa.Table:
        """A row for each method at each floor."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.results())

    def blocks(self) -> tuple[Block, ...]:
        """The methods beside each other."""
        from aidos.report.page import DataTable
        from aidos.rooms.fairness.page import outcome_rows

        columns, rows = outcome_rows(self.courses, self.bounds)
        caption = f"{self.scenario.name}: {len(self.courses[0].quality):,} rankings, attention {self.attention}"
        return (DataTable(caption=caption, columns=columns, rows=tuple(tuple(map(cell, row)) for row in rows)),)

    def page(self) -> Page:
        """How unfairness and quality developed under each method; subjects that do not exist need no protection."""
        from aidos.rooms.fairness.page import FairnessStory, fairness_page

        chosen, scenario, count = self.courses[0], self.scenario, len(self.scenario.queries)
        story = FairnessStory(
            title="Attention in proportion to relevance",
            lead=f"{scenario.name}: {len(scenario.subject_ids):,} subjects, {count} "
            f"{'query' if count == 1 else 'queries in turn'}, {len(chosen.quality):,} rankings.",
            courses=self.courses,
            chosen=chosen,
            before=next((course for course in self.courses if course.method == "relevance"), None),
            attention=self.attention,
            bounds=self.bounds,
            groups=dict(zip(scenario.actors or scenario.subject_ids, scenario.groups, strict=False)),
            source=None if self.synthetic else self,
        )
        return fairness_page(story)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRankings(Paged):
    """Serve the same queries again and again, and see how unfairness and quality develop.

    Compares methods at quality floors, with the least unfairness that any
    method could reach. Methods: adaptive (recommended), absolute, squared,
    relevance, objective, thesis, prefilter, fair-topk, exposure, fairco,
    tie-shuffle.

    For example:
        aidos fair simulate --shape linear --attention singular
        aidos fair simulate --floors 0.8,0.95 --rankings 1000 -o page.html
        aidos fair simulate --ratings listings.csv --rating review_scores_rating --attention singular
    """

    methods: str = "adaptive,absolute,squared,relevance"
    """Methods to compare, with commas between."""
    floors: str = "0.8"
    """Quality floors, with commas between."""
    rankings: Annotated[int, Ge(1), Le(10**8)] = 20_000
    """How many rankings to serve."""
    bound: Annotated[bool, Negative("--no-bound")] = True
    """Also compute the least unfairness possible, which can take a while."""
    given: Annotated[WhoIsRanked, Section("Who is ranked")] = field(default_factory=WhoIsRanked)
    attending: Annotated[Attending, Section("Attention and quality")] = field(default_factory=Attending)

    def __post_init__(self) -> None:
        check_parameters(self)
        if not _words(self.methods):
            raise ParameterError("no method was named", hint="for example --methods adaptive,relevance")

    def run(self, desk: Desk) -> ComparedMethods:
        """Run every method at every floor; methods that know no floor run once."""
        from aidos.rooms.fairness.course import simulate
        from aidos.rooms.fairness.reranker import find_method
        from aidos.rooms.fairness.reranking import prepare_solver

        settings = [EquityOfAttention(**asdict(self.attending), quality_floor=floor) for floor in _floors(self.floors)]
        prepare_solver(desk)
        scenario = self.given.scenario()
        courses: list[Course] = []
        for name in dict.fromkeys(_words(self.methods)):
            method = find_method(name)
            if method.needs_groups and not scenario.groups:
                raise ParameterError(f"{name} needs groups", hint="name the column that holds them: --group-column")
            courses += [
                simulate(scenario, equity, method=name, rankings=self.rankings, progress=desk.progress)
                for equity in (settings if method.follows_floor else settings[:1])
            ]
        bounds: dict[float, float] = {}
        # The bound is one for subjects that never fade; nothing is claimed where it does not apply.
        if self.bound and self.attending.level == "subject" and self.attending.half_life is None:
            bounds = {equity.quality_floor: _bound(scenario, equity, desk.progress) for equity in settings}
        answer = ComparedMethods(
            scenario=scenario,
            attention=self.attending.attention,
            courses=tuple(courses),
            bounds=bounds,
            synthetic=not self.given.ratings,
        )
        if self.output is not None:
            save_page(answer.page(), self.output)
        return answer


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _floors(text: str) -> list[float]:
    try:
        numbers = [float(word) for word in _words(text)]
    except ValueError as error:
        raise ParameterError(f"--floors takes numbers with commas between, got {text!r}") from error
    if not numbers:
        raise ParameterError("--floors is empty")
    return numbers


def _bound(scenario: Scenario, equity: EquityOfAttention, progress: Progress) -> float:
    """Subjects that a query does not hold count as worthless there, which can only lower the bound."""
    import numpy as np

    from aidos.model.attention import find_attention
    from aidos.rooms.fairness.bounds import stationary_bound_cycle
    from aidos.rooms.fairness.rankings import gains, normalise

    relevance = np.nan_to_num(scenario.relevance, nan=0.0)
    longest = max(relevance, key=lambda row: float(np.count_nonzero(row)))
    weights = find_attention(equity.attention).weights(np.sort(longest)[::-1] / longest.max())
    queries = [(normalise(row), gains(row, equity.gain)) for row in relevance]
    with progress.task(f"bound at {equity.quality_floor:g}", total=None, unit="steps"):
        return stationary_bound_cycle(queries, weights, equity.quality_floor).rate
