"""Figures and tables of the page on profile generalisation: a line for each algorithm, rows as they were summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Literal, TypeAlias

from aidos.report.charts import line
from aidos.report.page import DataTable, Figure
from aidos.report.values import Value

__all__ = ["Row", "algorithm_lines", "listed", "study_table"]

Row: TypeAlias = Mapping[str, Any]
"""A row of a summary."""


def algorithm_lines(  # noqa: PLR0913 - a figure has so many parts
    title: str,
    rows: Sequence[Row],
    axes: tuple[str, str],
    *,
    table: DataTable,
    caption: str,
    log: Literal["", "xy"] = "",
) -> Figure:
    """Two columns against each other, a line for each algorithm; what cannot be drawn is in the table alone."""
    x, y = axes
    series = {
        name: [
            (float(row[x]), float(row[y]))
            for row in rows
            if row["algorithm"] == name and isfinite(row[y]) and (not log or row[y] > 0)
        ]
        for name in dict.fromkeys(row["algorithm"] for row in rows)
    }
    drawn = {name: points for name, points in series.items() if points}
    return Figure(
        chart=line(title, drawn, x_title=x.replace("_", " "), y_title=y.replace("_", " "), log=log),
        caption=caption,
        table=table,
    )


def study_table(caption: str, rows: Sequence[Row], columns: tuple[str, ...]) -> DataTable:
    """Some columns of the rows."""
    return DataTable(
        caption=caption,
        columns=tuple(name.replace("_", " ") for name in columns),
        rows=tuple(tuple(_cell(row[name]) for name in columns) for row in rows),
    )


def listed(told: Mapping[str, str]) -> str:
    """Values with what they are of."""
    return ", ".join(f"{value} ({name})" for name, value in told.items())


def _cell(value: Value) -> Value:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return round(value, 4) if isfinite(value) else None
    return value
