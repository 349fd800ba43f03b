"""What each choice of parameters would give, seen before anything is spent.

The plan runs the recipe on the sample world, or on a log that the user says is public: never on data whose budget it
would have to charge. Its noise is seeded, so the same plan gives the same table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aidos.app.console import Common, open_engine, show, show_json, tell
from aidos.app.reading import HowToRead
from aidos.app.recipe import Recipe
from aidos.app.tabledata import read_for_release
from aidos.app.truth import compare, true_contributions, true_counts
from aidos.core.noise import Noise
from aidos.core.progress import Progress
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import write_text
from aidos.errors import ParameterError
from aidos.publish.wholelog import WholeLog
from aidos.report.charts import line
from aidos.report.page import Callout, Chapter, Code, DataTable, Figure, Page, Prose, render
from aidos.report.terminal import rows_table
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


def show_plan(recipe: Recipe, files: Sequence[str], output: Path | None, how: HowToRead, common: Common) -> int:
    """Run the plan, show it, and write its page when one was asked for."""
    if isinstance(recipe.build(), WholeLog):
        raise ParameterError(f"{recipe.mechanism} has no items per person to plan", hint="try it with --without-ledger")
    with open_engine(common) as engine:
        table = read_for_release(engine, files, recipe, how) if files else _sample_log(engine, recipe)
        choices = make_plan(recipe, table, engine.progress)
        average = {kind: _items_per_person(found) for kind, found in true_contributions(recipe, table).items()}
    where = ", ".join(files) if files else "the sample world (small)"
    if output is not None:
        write_text(output, render(_page(recipe, choices, average, where)))
        tell(f"{output}: the plan as a page", quiet=common.quiet)
    if common.json:
        rows = [dict(zip(COLUMNS, choice.cells(), strict=True)) for choice in choices]
        show_json({"on": where, "average_items_per_person": average, "choices": rows})
    else:
        show(rows_table(COLUMNS, [choice.cells() for choice in choices], title=f"on {where}, nothing spent"))
        show(_advice(average))
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


def _advice(average: dict[str, float]) -> str:
    listed = ", ".join(f"{value:g} {kind}" for kind, value in average.items())
    return (
        f"A person has {listed} on average: choose --items-per-person at or below that. For zealous the best first "
        "threshold is 2 x items per person / epsilon, rounded up; it is used unless given."
    )


def _page(recipe: Recipe, choices: Sequence[Choice], average: dict[str, float], where: str) -> Page:
    chapters = [_chapter(kind, [choice for choice in choices if choice.kind == kind]) for kind in average]
    how = Chapter(
        title="How to choose",
        blocks=(
            Prose(_advice(average)),
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
