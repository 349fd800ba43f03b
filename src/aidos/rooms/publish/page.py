"""What comes with a release: a page to look at and a letter to whoever receives it.

Both are made from the release alone, so nothing in them says more than the tables do.
"""

from __future__ import annotations

from collections.abc import Mapping

from aidos.core.guarantee import NoGuarantee, statement
from aidos.core.mechanism import Release
from aidos.report.charts import scatter
from aidos.report.page import Block, Callout, Chapter, Code, DataTable, Facts, Figure, Page, Prose
from aidos.rooms.publish.histogram import Histogram

__all__ = ["letter_to_readers", "release_page"]

ROWS_SHOWN = 20
POINTS_SHOWN = 400
NOT_PROTECTED = (
    "The promise is about the people in the data, one at a time. It does not cover groups that act alike, facts that "
    "are true of nearly everybody, people who used several identifiers, or what was released from the same data "
    "elsewhere."
)


def release_page(
    made: Release[dict[str, Histogram]], recipe: str, calibration: Mapping[str, float], vouched: str = ""
) -> Page:
    """The page of a release; ``vouched`` is what its promise rests on beside the mechanism."""
    numbers = tuple((name.replace("_", " "), round(value, 4)) for name, value in calibration.items())
    how = Chapter(
        title="How it was made",
        blocks=(
            DataTable(caption="Noise and thresholds", columns=("number", "value"), rows=numbers or (("none", None),)),
            Code(text=recipe, language="recipe"),
            Prose("Save the recipe and run `aidos publish LOG --recipe FILE -o DIR`: same promise, new noise."),
        ),
    )
    rests = (Callout("caution", vouched),) if vouched else ()
    limits = Chapter(title="What is not protected", blocks=(*rests, Callout("caution", NOT_PROTECTED)))
    return Page(
        title="A release",
        lead=_lead(made),
        chapters=(*(_part(kind, histogram) for kind, histogram in made.value.items()), how, limits),
        source=made,
    )


def _lead(made: Release[dict[str, Histogram]]) -> str:
    listed = ", ".join(f"{len(histogram):,} {kind}" for kind, histogram in made.value.items())
    return f"What may be known about the data, and what is promised to the people in them: {listed}."


def _part(kind: str, histogram: Histogram) -> Chapter:
    if not len(histogram):
        return Chapter(title=kind.capitalize(), blocks=(Facts(((kind, 0),)), Callout("caution", _why_empty(kind))))
    shown = histogram.table.slice(0, ROWS_SHOWN)
    rows = tuple(zip(*(column.to_pylist() for column in shown.columns), strict=True))
    blocks: list[Block] = [Facts(((kind, len(histogram)),))]
    blocks += [_sizes(kind, histogram)] if histogram.has_counts and len(histogram) > 2 else []
    blocks.append(DataTable(caption=f"The first {len(rows)} {kind}", columns=tuple(shown.column_names), rows=rows))
    return Chapter(title=kind.capitalize(), blocks=tuple(blocks))


def _why_empty(kind: str) -> str:
    return (
        f"No {kind} passed the threshold: none is shared by enough people for this promise. That is a valid answer. "
        "A larger epsilon or delta, fewer kinds of items, or more people's data would let more through."
    )


def _sizes(kind: str, histogram: Histogram) -> Figure:
    """The released counts by rank."""
    counts = list(histogram.people().values())
    points = [(rank, count) for rank, count in enumerate(counts, start=1) if count > 0]
    step = max(1, len(points) // POINTS_SHOWN)
    return Figure(
        chart=scatter(f"People by rank of {kind}", points[::step], x_title=f"rank of {kind}", y_title="people (noisy)"),
        caption=f"The most frequent of the {kind} has about {counts[0]:,} people, the rarest about {counts[-1]:,}.",
        table=DataTable(caption="Noisy numbers of people by rank", columns=("rank", "people"), rows=tuple(points[:15])),
    )


def letter_to_readers(made: Release[dict[str, Histogram]], vouched: str = "") -> str:
    """README.md of the directory; ``vouched`` is what its promise rests on beside the mechanism."""
    tables = "\n".join(_table_line(kind, histogram) for kind, histogram in made.value.items())
    honest = (
        "This release carries NO guarantee. Do not pass it on."
        if isinstance(made.guarantee, NoGuarantee)
        else "The guarantee is about the whole directory, not about each table on its own."
    )
    return f"""# A release made with aidos

{statement(made.guarantee)}

{honest} Source of noise: {made.noise_source}.{f" {vouched}" if vouched else ""}

## Tables

{tables}

Counts are numbers of people (each person counts once for an item) with noise added on purpose: treat small differences
as chance, and expect rare items to be missing. Each person was counted for a limited number of items, so counts of
frequent items are too low where people have many.

In the CSV files a cell that begins with = + - @ has an apostrophe in front, so that spreadsheets do not run it.
Characters that a terminal obeys, or that turn the direction of reading, are written as \\x1b or \\u202e. The Parquet
files hold the items as they are.

## What is not protected

{NOT_PROTECTED}

`MANIFEST.json` has the parameters, the recipe and the hash of every file (`aidos verify` checks them); `report.html` is
a page to look at.
"""


def _table_line(kind: str, histogram: Histogram) -> str:
    occurrences = "with noisy numbers of occurrences" if "count" in histogram.columns else "without counts"
    counted = "with noisy numbers of people" if histogram.has_counts else occurrences
    return f"- `{kind}.parquet`, `{kind}.csv`: {len(histogram):,} rows ({', '.join(histogram.columns)}), {counted}."
