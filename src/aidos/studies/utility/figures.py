"""Figures and tables of the pages on utility: lines from tidy results, each with its numbers below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal, TypeAlias

from aidos.report.charts import line
from aidos.report.page import DataTable, Figure
from aidos.report.values import Value

__all__ = ["Lines", "Log", "cell", "lines_figure", "lines_table", "thinned"]

Lines: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
"""Points by the name of their line."""
Log: TypeAlias = Literal["", "x", "y", "xy"]
MOST_LINES = 6


def lines_figure(  # noqa: PLR0913 - a figure has so many parts
    title: str, lines: Lines, axes: tuple[str, str], caption: str, *, log: Log = "", table: DataTable | None = None
) -> Figure:
    """Lines with their numbers in a table; what cannot be drawn on logarithmic axes is in the table alone."""
    drawn = {
        name: [point for point in points if all(map(isfinite, point)) and _fits(point, log)]
        for name, points in thinned(lines).items()
    }
    chart = line(
        title, {name: points for name, points in drawn.items() if points}, x_title=axes[0], y_title=axes[1], log=log
    )
    return Figure(chart=chart, caption=caption, table=table or lines_table(f"{title}: numbers", lines, axes[0]))


def lines_table(caption: str, lines: Lines, first: str) -> DataTable:
    """A row for each place, a column for each line."""
    places = sorted({place for points in lines.values() for place, _ in points})
    known = {name: dict(points) for name, points in lines.items()}
    rows = tuple((_place(place), *(cell(known[name].get(place)) for name in lines)) for place in places)
    return DataTable(caption=caption, columns=(first, *lines), rows=rows)


def thinned(lines: Lines) -> Lines:
    """As many lines as can be told apart, the first and the last among them."""
    names = list(lines)
    if len(names) <= MOST_LINES:
        return lines
    chosen = [names[round(place * (len(names) - 1) / (MOST_LINES - 1))] for place in range(MOST_LINES)]
    return {name: lines[name] for name in chosen}


def cell(value: float | None) -> Value:
    """A number for a table; nothing where there is none."""
    if value is None or not isfinite(value):
        return None
    return int(value) if value.is_integer() else float(f"{value:.4g}")


def _place(value: float) -> Value:
    return int(value) if value.is_integer() else value


def _fits(point: tuple[float, float], log: Log) -> bool:
    return ("x" not in log or point[0] > 0) and ("y" not in log or point[1] > 0)
