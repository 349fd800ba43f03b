"""How a value is written, alike on a page, in a chart and in a terminal.

Text in a report may come from a file somebody else wrote, so every string passes `clean`: control characters (a
terminal obeys them), direction overrides (they make text read as what it is not) and broken Unicode become the
replacement character. Escaping for HTML is the page's business, not done here.

A table as CSV is made for spreadsheets: nothing in it acts on one, nor on a terminal.
"""

from __future__ import annotations

import csv
from math import isinf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aidos.core.plaintext import ACTING, sheet_cell

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Marked", "Value", "clean", "counted", "fit", "is_number", "short", "show", "write_sheet"]

Value = str | int | float | None
"""What a tile, a cell or a chart may hold; None is written as a dash."""


class Marked(str):
    """A text in which some words are marked: on a page they are seen as such, elsewhere it is the text."""

    __slots__ = ("pieces",)
    pieces: tuple[tuple[str, bool], ...]

    def __new__(cls, pieces: tuple[tuple[str, bool], ...]) -> Self:
        """Of pieces, each with whether it is marked."""
        made = super().__new__(cls, "".join(piece for piece, _ in pieces))
        made.pieces = pieces
        return made


_SCALES = ((1e12, "tn"), (1e9, "bn"), (1e6, "M"), (1e3, "k"))


def clean(text: str) -> str:
    """The text without characters that act instead of being read; line ends and tabs stay."""
    return ACTING.sub("\ufffd", text.replace("\r\n", "\n"))


def counted(number: int, one: str, many: str) -> str:
    """A number and its noun: 1 entry, 2 entries."""
    return f"{number:,} {one if number == 1 else many}"


def fit(text: str, most: float) -> str:
    """The text clean, on one line and cut to so many letters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= most else line[: int(most) - 1].rstrip() + "\u2026"


def is_number(value: object) -> bool:
    """Whether the value is set as a number; yes and no are words."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def show(value: Value) -> str:
    """In full, for reading: 12,345; 0.1235; yes; a dash for nothing."""
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**18 else _rough(value)
    if isnan(value):
        return "not defined"
    if isinf(value):
        return "\u221e" if value > 0 else "-\u221e"
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def short(value: float) -> str:
    """In three figures, for axes and bars: 950; 1k; 12.5k; 3M; 2bn."""
    size = abs(value)
    if size >= 1e15:
        return _rough(value)
    for scale, letter in _SCALES:
        if size >= scale * 0.9995:
            return f"{value / scale:.3g}{letter}".replace("e+03", "000")
    return f"{value:.3g}"


def _rough(value: float) -> str:
    """A number too long to read, by its order of magnitude; whole numbers may be beyond what a float can hold."""
    if isinstance(value, int):
        digits = str(abs(value))
        return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1]}e+{len(digits) - 1}"
    return f"{value:.1e}"


def write_sheet(table: pa.Table, path: Path) -> None:
    """Write the table; see `sheet_cell` for what becomes of texts that would act."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for batch in table.to_batches():
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            writer.writerows([sheet_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
