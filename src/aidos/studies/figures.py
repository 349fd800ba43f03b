"""Figures and tables of the pages of studies: lines from rows, each with its numbers below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias

from aidos.report.charts import line
from aidos.report.page import DataTable, Figure
from aidos.report.values import Value
from aidos.studies.tables import Row

__all__ = ["Lines", "Log", "algorithm_lines", "cell", "lines_figure", "lines_table", "listed", "study_table", "thinned"]

Lines: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]
"""Points by the name of their line."""
Log: TypeAlias = Literal["", "x", "y", "xy"]
MOST_LINES = 6


def lines_figure(  # noqa: PLR0913 (a figure has so many parts)
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


def algorithm_lines(  # noqa: PLR0913 (the same)
    title: str, rows: Sequence[Row], axes: tuple[str, str], *, table: DataTable, caption: str, log: Log = ""
) -> Figure:
    """Two columns of rows against each other, a line for each algorithm."""
    lines = {
        name: [(float(row[axes[0]]), float(row[axes[1]])) for row in rows if row["algorithm"] == name]
        for name in dict.fromkeys(row["algorithm"] for row in rows)
    }
    words = axes[0].replace("_", " "), axes[1].replace("_", " ")
    return lines_figure(title, lines, words, caption, log=log, table=table)


def study_table(caption: str, rows: Sequence[Row], columns: tuple[str, ...]) -> DataTable:
    """Some columns of the rows."""
    return DataTable(
        caption=caption,
        columns=tuple(name.replace("_", " ") for name in columns),
        rows=tuple(tuple(_shown(row[name]) for name in columns) for row in rows),
    )


def lines_table(caption: str, lines: Lines, first: str) -> DataTable:
    """A row for each place, a column for each line."""
    places = sorted({place for points in lines.values() for place, _ in points})
    known = {name: dict(points) for name, points in lines.items()}
    rows = tuple(
        (int(place) if place.is_integer() else place, *(cell(known[name].get(place)) for name in lines))
        for place in places
    )
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


def listed(told: Mapping[str, str]) -> str:
    """Values with what they are of."""
    return ", ".join(f"{value} ({name})" for name, value in told.items())


def _fits(point: tuple[float, float], log: Log) -> bool:
    return ("x" not in log or point[0] > 0) and ("y" not in log or point[1] > 0)


def _shown(value: Any) -> Value:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4) if isfinite(value) else None
    shown: Value = value
    return shown
