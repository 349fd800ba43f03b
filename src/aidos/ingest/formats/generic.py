"""Any file of columns: CSV, TSV, semicolons, pipes, with a header or without, mapped by names or by ``--column``.

What the user says (``--delimiter``, ``--quotes``, ``--no-header``, ``--column``) is believed; the rest is read off the
line of names, never off rows. Only a file without such a line is recognised by its first rows. A first line that
holds data is never taken for column names: somebody's query would end up in a message.

`AnyTable` takes any table with a line of names: the columns that are asked for, as text. It is for releases of tables
that are no search logs (baskets, votes). The line of names alone says where the columns are; no cell is given a type,
mended or taken for a null, except that empty cells are null.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from aidos.core.records import SEARCH_LOG, Column, Schema
from aidos.ingest.advice import Look, look_at, missing_columns, unused_columns
from aidos.ingest.columns import check_given, choose_schema, lacking, map_columns, plain_name
from aidos.ingest.formats.base import (
    Layout,
    Plan,
    Recognition,
    Sample,
    choose_delimiter,
    declare_delimiter,
    header_delimiter,
    split_line,
    split_lines,
    usual_quotes,
)
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.timestamps import parse_time

__all__ = ["AnyTable", "Delimited", "header_names", "table_schema"]

ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
LONG_TEXT = 24
ROWS_LOOKED_AT = 50


class Delimited:
    """CSV, TSV and the like."""

    name = "csv"
    title = "delimited text (CSV, TSV)"

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:
        """By names in the first line that make a table, with the user's help or without."""
        cells = [cell.strip() for cell in split_line(first, header_delimiter(first) or ",")]
        if len(cells) < 2 or not _is_header(cells) or _lacks(cells, columns):
            return ""
        return f"{len(cells)} columns with the names of a table that aidos knows"

    @staticmethod
    def has_names(first: str) -> bool:
        """Whether the first line seems to name columns, though perhaps not those that are needed."""
        return _is_header(split_line(first, header_delimiter(first) or ","))

    def recognise(self, sample: Sample) -> Recognition | None:
        """By one delimiter that cuts all lines into the same number of columns."""
        delimiter = choose_delimiter(sample.lines)
        if not delimiter:
            return None
        return Recognition(0.3, f"every line has {len(split_line(sample.first, delimiter))} columns")

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:
        """Columns by their names in the first line, or c1 to cn."""
        check_given(options.columns())
        if not sample.first:
            return Plan(None)
        delimiter = options.separator or _delimiter(sample, has_header=options.header)
        cells = split_line(sample.first, delimiter)
        has_header = _is_header(cells) if options.header is None else options.header
        names, doubled = header_names(cells) if has_header else (_numbered(sample, delimiter), [])
        schema = SEARCH_LOG if options.for_release else choose_schema(names, options.columns())
        mapping = map_columns(names, schema, options.columns())
        quotes = options.quoting or usual_quotes(sample.first if has_header else "", delimiter)
        looks: dict[str, Look] | None = None
        if not options.for_release:
            rows = [] if set(names) <= set(mapping.values()) else (*sample.lines, *sample.further)
            looks = look_at(names, split_lines(rows, delimiter, quoted=quotes != "none")[has_header:])
        line = 1 if has_header else None
        problems = missing_columns(
            file, names, schema, mapping, line=line, needed=options.needed, looks=looks, named=has_header
        )
        problems += [describe("duplicate-columns", file, lines=(1,), column=name) for name in doubled]
        if options.for_release and not (has_header or options.separator):
            problems.append(describe("guessed-format", file, title=self.title, option=declare_delimiter(delimiter)))
        layout = Layout(
            schema=schema,
            names=names,
            mapping={column: name for column, name in mapping.items() if name in names},
            delimiter=delimiter,
            quotes=quotes,
            has_header=has_header,
            time_format=options.time_format,
            width_is_known=has_header,
        )
        return Plan(layout, tuple(problems), unused_columns(names, schema, layout.mapping, looks))


def _delimiter(sample: Sample, *, has_header: bool | None) -> str:
    """By the line of names; by the rows only where no line names the columns."""
    by_names = header_delimiter(sample.first)
    if has_header or (has_header is None and by_names and _is_header(split_line(sample.first, by_names))):
        return by_names or ","
    return choose_delimiter(sample.lines) or ","


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


def header_names(cells: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Unique column names, and those that the header has more than once."""
    names: list[str] = []
    doubled: list[str] = []
    for number, cell in enumerate(cells, start=1):
        name = cell.strip() or f"c{number}"
        if plain_name(name) in map(plain_name, names) and name not in doubled:
            doubled.append(name)
        names.append(name if name not in names else f"{name} (column {number})")
    return tuple(names), doubled


def _numbered(sample: Sample, delimiter: str) -> tuple[str, ...]:
    """Names for the columns of a file without a header: as many as most of the first rows have."""
    lines = [line for line in sample.lines if line][:ROWS_LOOKED_AT]
    width = Counter(len(split_line(line, delimiter)) for line in lines).most_common(1)[0][0]
    return tuple(f"c{number}" for number in range(1, width + 1))


def _lacks(names: Sequence[str], given: Mapping[str, str]) -> bool:
    schema = choose_schema(names, given)
    mapping = map_columns(names, schema, given)
    return bool(lacking(schema, mapping)) or not set(mapping.values()) <= set(names)


def table_schema(columns: tuple[str, ...]) -> Schema:
    """A kind of table of text columns."""
    return Schema("table", "table", "", tuple(Column(name, "VARCHAR", True, "text") for name in columns))


class AnyTable:
    """A table by the names in its first line."""

    name = "table"
    title = "delimited table"

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:  # noqa: ARG002
        """Only where it is asked for."""
        return ""

    def recognise(self, sample: Sample) -> Recognition | None:  # noqa: ARG002
        """Only where it is asked for."""
        return None

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:
        """The columns that were asked for, wherever the first line has them."""
        delimiter = options.separator or header_delimiter(sample.first) or ","
        names, doubled = header_names(split_line(sample.first, delimiter))
        absent = [column for column in options.table if column not in names]
        known = f"it names {', '.join(names)}"
        if len(absent) == len(options.table):  # that line may be somebody's row
            known = "give the names that stand there; a table that has none needs a line of names first"
        problems = [describe("unnamed-column", file, lines=(1,), column=column, known=known) for column in absent]
        problems += [
            describe("duplicate-columns", file, lines=(1,), column=name) for name in doubled if name in options.table
        ]
        layout = Layout(
            schema=table_schema(options.table),
            names=names,
            mapping={column: column for column in options.table if column not in absent},
            delimiter=delimiter,
            quotes=options.quoting or usual_quotes(sample.first, delimiter),
            has_header=True,
        )
        return Plan(layout, tuple(problems))
