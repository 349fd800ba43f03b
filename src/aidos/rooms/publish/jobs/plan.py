"""The job that plans a release: what each choice of parameters would give, seen before anything is spent.

The plan runs on the sample world, or on a log that the user says is public: never on data whose budget it would have to
charge. Its noise is seeded, so the same plan gives the same table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from aidos.errors import ParameterError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding, save_page
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section
from aidos.jobs.options import Paged
from aidos.rooms.publish.jobs.publish import TITLE, What

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.progress import Progress
    from aidos.core.table import Table
    from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
    from aidos.jobs.recipe import Recipe
    from aidos.report.page import Block, Chapter, DataTable, Page
    from aidos.rooms.publish.outlook import Outlook

__all__ = ["Choice", "PlanRelease", "PlannedRelease"]

EPSILONS = (0.5, 1.0, 2.0, 4.0)
LIMITS = (1, 2, 5, 10, 20, 40)
SEED = 7
COLUMNS = ("items", "epsilon", "items per person", "released", "mean error of a count")


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of a plan."""

    kind: str
    epsilon: float
    items_per_person: int
    released: int
    mean_error: float | None

    def cells(self) -> tuple[str | float | int | None, ...]:
        """As a row of a table."""
        return (self.kind, self.epsilon, self.items_per_person, self.released, self.mean_error)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlannedRelease(Finding):
    """What each choice would release, and what the one that was asked for needs."""

    about: str = "the people of a public log"
    value: Sequence[Choice]
    where: str
    """What it was tried on."""
    average: Mapping[str, float]
    """Items that a person has, by kind."""
    expected: Sequence[Outlook]
    recipe: Recipe
    output: Path | None = None

    def facts(self) -> Mapping[str, object]:
        """Every choice, and what may be expected."""
        return {
            "on": self.where,
            "average_items_per_person": self.average,
            "choices": [dict(zip(COLUMNS, choice.cells(), strict=True)) for choice in self.value],
            "outlook": [one.facts() for one in self.expected],
        }

    def table(self) -> pa.Table:
        """A row for each choice."""
        import pyarrow as pa

        return pa.Table.from_pylist([asdict(choice) for choice in self.value])

    def blocks(self) -> Sequence[Block]:
        """The choices, and how to choose."""
        from aidos.report.page import Prose

        return _choices(f"on {self.where}, nothing spent", self.value), Prose(self._advice())

    def remarks(self) -> Sequence[str]:
        """Where the page is."""
        return () if self.output is None else (f"{self.output}: the plan as a page",)

    def page(self) -> Page:
        """A chart for each kind of item, and how to choose; the data are public, so it may be shown."""
        from aidos.report.page import Callout, Chapter, Code, Page, Prose

        kinds = dict.fromkeys(choice.kind for choice in self.value)
        chapters = [_chapter(kind, [choice for choice in self.value if choice.kind == kind]) for kind in kinds]
        others = f"These numbers are from {self.where}. Other data give other numbers; nothing was spent."
        how = Chapter(
            title="How to choose",
            blocks=(
                Prose(self._advice()),
                Callout("caution", others),
                Code(text=self.recipe.to_toml(), language="recipe"),
            ),
        )
        return Page(
            title="A plan for a release",
            lead="How many items each choice would release, and how far their counts would be off.",
            chapters=(*chapters, how),
        )

    def _advice(self) -> str:
        listed = ", ".join(f"{value:g} {kind}" for kind, value in self.average.items())
        needed = "".join(f"\n\nWith the numbers asked for, {one}." for one in self.expected)
        return (
            f"A person has {listed} on average: choose --items-per-person at or below that. For zealous the best first "
            f"threshold is 2 x items per person / epsilon, rounded up; it is used unless given.{needed}"
        )


@dataclass(frozen=True, slots=True)
class PlanRelease(Paged):
    """Show what each choice of epsilon and items per person would release, and spend nothing.

    It runs on the sample world, or on a log that is public anyway. It also says
    how many people an item needs to pass, which follows from public numbers.

    For example:
        aidos plan --items queries -o plan.html
        aidos plan --items queries,clicks --epsilon 2 --people 20000
        aidos plan public-log.tsv --mechanism zealous
    """

    files: tuple[str, ...] = ()
    """A log that is public; the sample world if unset."""
    _: KW_ONLY
    what: Annotated[What, Section(TITLE)] = field(default_factory=What)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> PlannedRelease:
        """Try every epsilon and every limit."""
        from aidos.core.mechanism import PublicFacts
        from aidos.rooms.publish.catalogue import build_release
        from aidos.rooms.publish.multi import WholeLog
        from aidos.rooms.publish.outlook import outlook
        from aidos.rooms.publish.sources import read_for_release
        from aidos.rooms.publish.truth import true_contributions

        recipe = self.what.to_recipe()
        built = build_release(recipe)
        if isinstance(built, WholeLog):
            hint = f"try it with {desk.spelled('without_ledger', True)}"
            raise ParameterError(f"{recipe.mechanism} has no items per person to plan", hint=hint)
        with desk.engine() as engine:
            files = self.files
            table = read_for_release(engine, files, built, self.how) if files else _sample_log(engine, recipe)
            choices = _try_all(recipe, table, engine.progress)
            average = {kind: _items_per_person(found) for kind, found in true_contributions(recipe, table).items()}
        answer = PlannedRelease(
            value=choices,
            where=", ".join(getattr(file, "shown", file) for file in files) or "the sample world (small)",
            average=average,
            expected=outlook(built, PublicFacts(people=self.what.people)),
            recipe=recipe,
            output=self.output,
        )
        if self.output is not None:
            save_page(answer.page(), self.output)
        return answer


def _try_all(recipe: Recipe, table: Table, progress: Progress) -> list[Choice]:
    """Run the recipe with every epsilon and every limit."""
    from aidos.core.noise import Noise
    from aidos.rooms.publish.catalogue import build_release
    from aidos.rooms.publish.truth import compare, true_counts

    settings = [(epsilon, limit) for epsilon in EPSILONS for limit in LIMITS]
    choices: list[Choice] = []
    with true_counts(recipe, table) as truth, progress.task("planning", total=len(settings), unit="runs") as task:
        for epsilon, limit in settings:
            parameters = {**recipe.parameters, "epsilon": epsilon, "items_per_person": limit}
            made = build_release(replace(recipe, parameters=parameters)).run(table, Noise(SEED))
            for kind, histogram in made.items():
                error = compare(histogram, truth[kind])["mean error of a count"]
                choices.append(Choice(kind, epsilon, limit, len(histogram), error))
            task.advance(1)
    return choices


def _sample_log(engine: EmbeddedEngine, recipe: Recipe) -> EmbeddedTable:
    from aidos.world.size import World
    from aidos.world.write import write_sample

    path = engine.scratch / "sample.parquet"
    write_sample("log", World(), path, engine.progress)
    table = engine.parquet(path)
    return table.select(f'select client_id as "{recipe.person}", * from {{table}}') if recipe.person else table


def _items_per_person(contributions: Table) -> float:
    found = contributions.rows("select count(*) / count(distinct person) from {table}")[0][0]
    return round(float(str(found or 0)), 1)


def _choices(caption: str, choices: Sequence[Choice]) -> DataTable:
    from aidos.report.page import DataTable

    return DataTable(caption=caption, columns=COLUMNS, rows=tuple(choice.cells() for choice in choices))


def _chapter(kind: str, choices: Sequence[Choice]) -> Chapter:
    from aidos.report.charts import line
    from aidos.report.page import Chapter, Figure

    series = {
        f"epsilon {epsilon:g}": [(c.items_per_person, float(c.released)) for c in choices if c.epsilon == epsilon]
        for epsilon in EPSILONS
    }
    best = max(choices, key=lambda choice: choice.released)
    figure = Figure(
        chart=line(f"Released {kind}", series, x_title="items per person", y_title=f"{kind} released", log="x"),
        caption=f"Most {kind} ({best.released:,}) at epsilon {best.epsilon:g} with {best.items_per_person} a person.",
        table=_choices(f"{kind.capitalize()}: every choice", choices),
    )
    return Chapter(title=kind.capitalize(), blocks=(figure,))
