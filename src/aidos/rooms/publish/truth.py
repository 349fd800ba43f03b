"""What a release lost against the truth: a finding for the owner of the data, never part of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.jobs.answer import Finding
from aidos.jobs.recipe import Recipe
from aidos.report.page import Block, Chapter, DataTable, Facts, Page, Prose
from aidos.rooms.publish.catalogue import build_release
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import KINDS, contributions, item_columns, set_contributions
from aidos.rooms.publish.tables import TableRelease

if TYPE_CHECKING:
    from aidos.rooms.publish.directory import PublishedLog

__all__ = ["ComparedRelease", "compare", "compare_with_truth", "true_contributions", "true_counts"]

TOPS = (10, 100, 1000)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ComparedRelease(Finding):
    """How much of what is in the data came through, and how far the counts are off."""

    about: str = "the people in the data"
    value: Mapping[str, Mapping[str, float | None]]
    """Measures, by kind of item."""

    def facts(self) -> Mapping[str, object]:
        """The measures."""
        return self.value

    def blocks(self) -> Sequence[Block]:
        """Those of every kind, one after the other."""
        return tuple(block for kind, numbers in self.value.items() for block in _blocks(kind, numbers))

    def page(self) -> Page:
        """The release against the truth."""
        return Page(
            title="The release against the truth",
            lead="How much of what is in the data came through, and how far the counts are off.",
            chapters=tuple(
                Chapter(title=kind.capitalize(), blocks=_blocks(kind, numbers)) for kind, numbers in self.value.items()
            ),
            source=self,
        )


def compare_with_truth(made: PublishedLog, table: Table) -> ComparedRelease:
    """Compare every table of a release with the truth."""
    with true_counts(made.recipe, table) as truth:
        both = [(kind, histogram) for kind, histogram in made.value.items() if kind in truth]
        return ComparedRelease(value={kind: compare(histogram, truth[kind]) for kind, histogram in both})


def true_contributions(recipe: Recipe, table: Table) -> dict[str, Table]:
    """What people really contributed, by the kinds of the recipe: neither bounded nor noised.

    Sets are those of the items that a release makes sets of: nobody can wait for all sets of a person with thousands.
    """
    built = build_release(recipe)
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


def _blocks(kind: str, numbers: Mapping[str, float | None]) -> tuple[Block, ...]:
    rows = tuple(numbers.items())
    return (
        Facts(rows[:3]),
        DataTable(caption=f"{kind.capitalize()}: release and truth", columns=("measure", "value"), rows=rows),
        Prose("Errors come from the noise and from the limit on items per person, which lowers frequent counts."),
    )
