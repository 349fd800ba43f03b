"""What each choice of parameters would give, seen before anything is spent.

The plan runs the recipe on the sample world, or on a log that the user says is public: never on data whose budget it
would have to charge. Its noise is seeded, so the same plan gives the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aidos.app.console import Common, open_engine, show, show_json, tell
from aidos.app.outlook import Outlook, outlook
from aidos.app.reading import HowToRead
from aidos.app.recipe import Recipe
from aidos.app.tabledata import read_for_release
from aidos.app.truth import compare, true_contributions, true_counts
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import write_text
from aidos.errors import ParameterError
from aidos.report.charts import line
from aidos.report.page import Callout, Chapter, Code, DataTable, Figure, Page, Prose, render
from aidos.report.terminal import rows_table
from aidos.rooms.publish.wholelog import WholeLog
from aidos.world.size import World
from aidos.world.write import write_sample

__all__ = ["Choice", "make_plan", "show_plan"]

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


def show_plan(  # noqa: PLR0917
    recipe: Recipe, files: Sequence[str], output: Path | None, how: HowToRead, common: Common, people: int | None = None
) -> int:
    """Run the plan, show it, and write its page when one was asked for; ``people`` is a public number."""
    if isinstance(recipe.build(), WholeLog):
        raise ParameterError(f"{recipe.mechanism} has no items per person to plan", hint="try it with --without-ledger")
    with open_engine(common) as engine:
        table = read_for_release(engine, files, recipe, how) if files else _sample_log(engine, recipe)
        choices = make_plan(recipe, table, engine.progress)
        average = {kind: _items_per_person(found) for kind, found in true_contributions(recipe, table).items()}
    expected = outlook(recipe, PublicFacts(people=people))
    where = ", ".join(files) if files else "the sample world (small)"
    if output is not None:
        write_text(output, render(_page(recipe, choices, _advice(average, expected), where)))
        tell(f"{output}: the plan as a page", quiet=common.quiet)
    if common.json:
        facts = [one.facts() for one in expected]
        rows = [dict(zip(COLUMNS, choice.cells(), strict=True)) for choice in choices]
        show_json({"on": where, "average_items_per_person": average, "choices": rows, "outlook": facts})
    else:
        show(rows_table(COLUMNS, [choice.cells() for choice in choices], title=f"on {where}, nothing spent"))
        show(_advice(average, expected))
    return 0


def make_plan(recipe: Recipe, table: Table, progress: Progress) -> list[Choice]:
    """Run the recipe with every epsilon and every limit."""
    settings = [(epsilon, limit) for epsilon in EPSILONS for limit in LIMITS]
    choices: list[Choice] = []
    with true_counts(recipe, table) as truth, progress.task("planning", total=len(settings), unit="runs") as task:
        for epsilon, limit in settings:
            parameters = {**recipe.parameters, "epsilon": epsilon, "items_per_person": limit}
            made = replace(recipe, parameters=parameters).build().run(table, Noise(SEED))
            for kind, histogram in made.items():
                error = compare(histogram, truth[kind])["mean error of a count"]
                choices.append(Choice(kind, epsilon, limit, len(histogram), error))
            task.advance(1)
    return choices


def _sample_log(engine: EmbeddedEngine, recipe: Recipe) -> EmbeddedTable:
    path = engine.scratch / "sample.parquet"
    write_sample("log", World(), path, engine.progress)
    table = engine.parquet(path)
    return table.select(f'select client_id as "{recipe.person}", * from {{table}}') if recipe.person else table


def _items_per_person(contributions: Table) -> float:
    found = contributions.rows("select count(*) / count(distinct person) from {table}")[0][0]
    return round(float(str(found or 0)), 1)


def _advice(average: dict[str, float], expected: Sequence[Outlook]) -> str:
    listed = ", ".join(f"{value:g} {kind}" for kind, value in average.items())
    needed = "".join(f"\n\nWith the numbers asked for, {one}." for one in expected)
    return (
        f"A person has {listed} on average: choose --items-per-person at or below that. For zealous the best first "
        f"threshold is 2 x items per person / epsilon, rounded up; it is used unless given.{needed}"
    )


def _page(recipe: Recipe, choices: Sequence[Choice], advice: str, where: str) -> Page:
    kinds = dict.fromkeys(choice.kind for choice in choices)
    chapters = [_chapter(kind, [choice for choice in choices if choice.kind == kind]) for kind in kinds]
    how = Chapter(
        title="How to choose",
        blocks=(
            Prose(advice),
            Callout("caution", f"These numbers are from {where}. Other data give other numbers; nothing was spent."),
            Code(text=recipe.to_toml(), language="recipe"),
        ),
    )
    return Page(
        title="A plan for a release",
        lead="How many items each choice would release, and how far their counts would be off.",
        chapters=(*chapters, how),
    )


def _chapter(kind: str, choices: Sequence[Choice]) -> Chapter:
    series = {
        f"epsilon {epsilon:g}": [(c.items_per_person, float(c.released)) for c in choices if c.epsilon == epsilon]
        for epsilon in EPSILONS
    }
    best = max(choices, key=lambda choice: choice.released)
    rows = tuple(choice.cells() for choice in choices)
    table = DataTable(caption=f"{kind.capitalize()}: every choice", columns=COLUMNS, rows=rows)
    figure = Figure(
        chart=line(f"Released {kind}", series, x_title="items per person", y_title=f"{kind} released", log="x"),
        caption=f"Most {kind} ({best.released:,}) at epsilon {best.epsilon:g} with {best.items_per_person} a person.",
        table=table,
    )
    return Chapter(title=kind.capitalize(), blocks=(figure,))
