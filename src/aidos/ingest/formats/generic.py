"""Any file of columns: CSV, TSV, semicolons, pipes, with a header or without, mapped by names or by ``--column``.

What the user says (``--delimiter``, ``--no-header``, ``--column``) is believed; the rest is recognised from the first
lines. A first line that holds data is never taken for column names: somebody's query would end up in a message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aidos.ingest.columns import check_given, choose_schema, map_columns, missing_columns, plain_name
from aidos.ingest.formats.base import Recognition, Sample
from aidos.ingest.formats.clock import guess_time_format
from aidos.ingest.formats.delimiters import choose_delimiter, is_quoted
from aidos.ingest.formats.layout import Layout, Plan, split_lines
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.timestamps import parse_time

__all__ = ["Delimited"]

ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
LONG_TEXT = 24
ROWS_LOOKED_AT = 50


class Delimited:
    """CSV, TSV and the like."""

    name = "csv"
    title = "delimited text (CSV, TSV)"

    def recognise(self, sample: Sample) -> Recognition | None:
        """By one delimiter that cuts all lines into the same number of columns."""
        delimiter = choose_delimiter(sample.lines)
        if not delimiter:
            return None
        first = split_lines(sample.lines, delimiter, quoted=is_quoted(sample.lines, delimiter))[0]
        if _is_header(first) and not _lacks(first):
            return Recognition(0.6, f"{len(first)} columns with the names of a table that aidos knows")
        return Recognition(0.3, f"every line has {len(first)} columns")

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:
        """Columns by their names in the first line, or c1 to cn."""
        check_given(options.columns)
        lines = [line for line in sample.lines if line]
        delimiter = options.delimiter or choose_delimiter(lines) or ","
        quoted = is_quoted(lines, delimiter)
        rows = split_lines(lines[: ROWS_LOOKED_AT + 1], delimiter, quoted=quoted)
        if not rows:
            return Plan(None)
        has_header = _is_header(rows[0]) if options.has_header is None else options.has_header
        names, doubled = _names(rows, has_header=has_header)
        schema = choose_schema(names, options.columns)
        mapping = map_columns(names, schema, options.columns)
        problems = missing_columns(file, names, schema, mapping, line=1 if has_header else None)
        problems += [describe("duplicate-columns", file, lines=(1,), column=name) for name in doubled]
        layout = Layout(
            schema=schema,
            names=names,
            mapping={column: name for column, name in mapping.items() if name in names},
            delimiter=delimiter,
            quoted=quoted,
            has_header=has_header,
            time_format=options.time_format or _time_format(rows[has_header:], names, mapping.get("timestamp", "")),
        )
        return Plan(layout, tuple(problems))


def _is_header(cells: Sequence[str]) -> bool:
    return not any(_looks_like_data(cell.strip()) for cell in cells)


def _looks_like_data(cell: str) -> bool:
    if not cell:
        return False
    return (
        any(parse_time(part) is not None for part in (cell, cell.replace(",", "")))
        or cell.lstrip("+-").replace(".", "", 1).isdigit()
        or ADDRESS.fullmatch(cell) is not None
        or (len(cell) > LONG_TEXT and " " in cell)
        or len(cell.split()) > 3
    )


def _names(rows: Sequence[Sequence[str]], *, has_header: bool) -> tuple[tuple[str, ...], list[str]]:
    """Unique column names, and those that the header has more than once."""
    if not has_header:
        width = Counter(map(len, rows)).most_common(1)[0][0]
        return tuple(f"c{number}" for number in range(1, width + 1)), []
    names: list[str] = []
    doubled: list[str] = []
    for number, cell in enumerate(rows[0], start=1):
        name = cell.strip() or f"c{number}"
        if plain_name(name) in map(plain_name, names) and name not in doubled:
            doubled.append(name)
        names.append(name if name not in names else f"{name} (column {number})")
    return tuple(names), doubled


def _lacks(names: Sequence[str]) -> bool:
    schema = choose_schema(names, {})
    mapping = map_columns(names, schema, {})
    return any(column.required and column.name not in mapping for column in schema.columns)


def _time_format(rows: Sequence[Sequence[str]], names: Sequence[str], column: str) -> str:
    if column not in names:
        return guess_time_format([])
    place = list(names).index(column)
    return guess_time_format([row[place] for row in rows if len(row) > place])
