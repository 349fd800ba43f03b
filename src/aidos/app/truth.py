"""What a release lost against the truth: a finding for the owner of the data, never part of the release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aidos.app.publishing import ReleasedLog
from aidos.app.recipe import Recipe
from aidos.core.mechanism import Finding
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.engine.files import write_text
from aidos.report.page import Chapter, DataTable, Facts, Page, Prose, render
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import KINDS, contributions, item_columns, set_contributions
from aidos.rooms.publish.tables import TableRelease

__all__ = ["compare", "true_contributions", "true_counts", "write_finding"]

TOPS = (10, 100, 1000)


def write_finding(made: ReleasedLog, recipe: Recipe, table: Table, path: Path) -> None:
    """Compare every table of the release with the truth, on a page that only its owner can read."""
    with true_counts(recipe, table) as truth:
        both = [(kind, histogram) for kind, histogram in made.value.items() if kind in truth]
        chapters = tuple(_chapter(kind, compare(histogram, truth[kind])) for kind, histogram in both)
    page = Page(
        title="The release against the truth",
        lead="How much of what is in the data came through, and how far the counts are off.",
        chapters=chapters,
        source=Finding(value=None, about="the people in the data"),
    )
    write_text(path, render(page), private=True)


def true_contributions(recipe: Recipe, table: Table) -> dict[str, Table]:
    """What people really contributed, by the kinds of the recipe: neither bounded nor noised.

    Sets are those of the items that a release makes sets of: nobody can wait for all sets of a person with thousands.
    """
    built = recipe.build()
    if not isinstance(built, TableRelease):
        return {kind: contributions(table, KINDS[kind]) for kind in recipe.items}
    if built.largest_set > 1:
        return {"items": set_contributions(built.set_items(table, b""), built.largest_set)}
    return {"items": built.single_items(table)}


@contextmanager
def true_counts(recipe: Recipe, table: Table) -> Iterator[dict[str, Table]]:
    """The items of every kind with their true number of people, computed once and kept until the ``with`` ends."""
    with ExitStack() as stack:
        yield {
            kind: stack.enter_context(_counted(found).held())
            for kind, found in true_contributions(recipe, table).items()
        }


def _counted(contributed: Table) -> Table:
    names = ", ".join(quote_name(name) for name in item_columns(contributed))
    return contributed.select(f"select {names}, count(*) as true_people from {{table}} group by all")


def compare(histogram: Histogram, truth: Table) -> dict[str, float | None]:
    """Items in the data and released, the mean error of a count, and how many of the most frequent came through."""
    names = ", ".join(quote_name(name) for name in histogram.columns)
    released = truth.beside(histogram.table).name
    off = f"avg(abs({PEOPLE} - true_people))" if histogram.has_counts else "cast(null as double)"
    error = truth.rows(f"select round({off}, 2) from {{table}} join {released} using ({names})")[0][0]
    ranked = f"select *, row_number() over (order by true_people desc, {names}) as rank from {{table}}"
    kept = ", ".join(f"count(*) filter (rank <= {top})" for top in TOPS)
    found = truth.rows(f"select {kept} from ({ranked}) join {released} using ({names})")[0]
    return {
        "items in the data": float(truth.count()),
        "items released": float(len(histogram)),
        "mean error of a count": None if error is None else float(str(error)),
        **{f"of the {top:,} most frequent, released": float(str(n)) for top, n in zip(TOPS, found, strict=True)},
    }


def _chapter(kind: str, numbers: dict[str, float | None]) -> Chapter:
    rows = tuple((label, value) for label, value in numbers.items())
    return Chapter(
        title=kind.capitalize(),
        blocks=(
            Facts(rows[:3]),
            DataTable(caption=f"{kind.capitalize()}: release and truth", columns=("measure", "value"), rows=rows),
            Prose("Errors come from the noise and from the limit on items per person, which lowers frequent counts."),
        ),
    )
