"""The rows of CSV and TSV files, each with the line it begins in.

Cells may stand between double quotes, in TSV as well, and then hold delimiters and line ends.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from aidos.errors import Problem
from aidos.ingest.rankings.lines import first_text, is_text, opened_lines
from aidos.ingest.rankings.troubles import refuse, tell
from aidos.ingest.sources import Source

__all__ = ["duplicate_columns", "table_rows"]

USUAL = ",;|\t"
QUOTES = "a quoted cell does not end where it should"


def table_rows(source: Source, delimiter: str = "") -> tuple[list[str], Iterator[tuple[int, list[str] | Problem]]]:
    """The names of the columns, and the numbered rows but for blank ones; a problem for each that cannot be read.

    InputError when there is no line with names.
    """
    rows = _rows(source, delimiter or _delimiter(first_text(source)))
    _, names = next(rows, (0, tell("empty-file", source.name)))
    if isinstance(names, Problem):
        raise refuse(names)
    return names, rows


def duplicate_columns(source: Source, names: Sequence[str], wanted: Sequence[str]) -> list[Problem]:
    """Columns that are needed and stand in the file more than once."""
    return [
        tell("duplicate-columns", source.name, column=name) for name in dict.fromkeys(wanted) if names.count(name) > 1
    ]


def _delimiter(start: str) -> str:
    """What the names in the first line stand apart by: names, unlike ids, have no delimiters in them."""
    first = next((line for line in start.splitlines() if line.strip()), "")
    return max(USUAL, key=first.count)


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str] | Problem]]:
    with opened_lines(source) as lines:
        reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
        width = 0
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield line, tell("bad-line", source.name, lines=(line,), reason=QUOTES)
                continue
            width = width or len(row)
            if not is_text("".join(row)):
                yield line, tell("invalid-utf8", source.name, lines=(line,))
            elif len(row) == width:
                if row:
                    yield line, row
            elif any(map(str.strip, row)):
                yield line, tell("ragged-rows", source.name, lines=(line,), expected=width)
