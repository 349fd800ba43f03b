"""`aidos fair simulate`: methods compared on the same queries, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from aidos.app.commands.fair.telling import numbers_of, prepare_solver, show_table, words_of, write_page
from aidos.app.console import Common, TerminalProgress, show_json
from aidos.app.fairterms import Attending
from aidos.errors import ParameterError

if TYPE_CHECKING:
    from aidos.fairness.simulate import Scenario

__all__ = ["Given", "simulate"]


@Parameter(name="*", group="Who is ranked")
@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Where the relevance of a simulation comes from."""

    shape: str = ""
    """Synthetic relevance: uniform, linear or exponential; linear unless ratings are given."""

    subjects: int = 100
    """How many subjects a shape has; 100 unless given."""

    ratings: str = ""
    """A table (CSV, TSV, Parquet) with a row per subject and a column per query."""

    id_column: str = "subject_id"
    """Which column names the subject; subject_id unless given."""

    rating: str = ""
    """Which columns hold ratings, with commas between, asked in turn; all columns of numbers unless given."""

    group_column: str = ""
    """Which column holds the subject's group."""

    actor_column: str = ""
    """Which column holds the actor behind the subject."""

    def scenario(self) -> Scenario:
        """As a value for the room."""
        from aidos.fairness.simulate import Scenario, shape_scenario
        from aidos.ingest.rankings.ratings import read_ratings

        if not self.ratings:
            if self.subjects < 1:
                raise ParameterError(f"--subjects must be at least 1, got {self.subjects}")
            return shape_scenario(self.shape or "linear", self.subjects)
        if self.shape:
            raise ParameterError("--shape and --ratings exclude each other", hint="leave one of them out")
        table = read_ratings(
            self.ratings,
            id_column=self.id_column,
            columns=words_of(self.rating),
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


def simulate(
    *,
    methods: str = "adaptive,absolute,squared,relevance",
    floors: str = "0.8",
    rankings: int = 20_000,
    bound: Annotated[bool, Parameter(negative="--no-bound")] = True,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    given: Given | None = None,
    attending: Attending | None = None,
    common: Common | None = None,
) -> int:
    """Serve the same queries again and again, and see how unfairness and quality develop.

    Compares methods at quality floors, with the least unfairness that any
    method could reach. Methods: adaptive (recommended), absolute, squared,
    relevance, objective, thesis, prefilter, fair-topk, exposure, fairco,
    tie-shuffle.

    For example:
        aidos fair simulate --shape linear --attention singular
        aidos fair simulate --floors 0.8,0.95 --rankings 1000 -o page.html
        aidos fair simulate --ratings listings.csv --rating review_scores_rating --attention singular

    Parameters
    ----------
    methods
        Methods to compare, with commas between.
    floors
        Quality floors, with commas between; 0.8 unless given.
    rankings
        How many rankings to serve; 20,000 unless given.
    bound
        Also compute the least unfairness possible, which can take a while.
    output
        A page about it.
    """
    from aidos.app.fairstudy import run_study
    from aidos.report.fairpage import outcome_rows

    common, given = common or Common(), given or Given()
    if rankings < 1:
        raise ParameterError(f"--rankings must be at least 1, got {rankings}")
    prepare_solver(common)
    scenario = given.scenario()
    study = run_study(
        scenario,
        attending or Attending(),
        methods=words_of(methods),
        floors=numbers_of("--floors", floors),
        rankings=rankings,
        bound=bound,
        progress=TerminalProgress(quiet=common.quiet),
    )
    if output is not None:
        write_page(output, study.story(synthetic=not given.ratings))
    if common.json:
        facts = {"scenario": scenario.name, "rankings": rankings, "attention": study.attention}
        show_json({**facts, "results": study.results()})
    else:
        columns, rows = outcome_rows(study.courses, study.bounds)
        show_table(columns, rows, f"{scenario.name}: {rankings:,} rankings, attention {study.attention}")
    return 0
