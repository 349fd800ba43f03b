"""Delimited files: read by the engine, in parallel, straight into a private Parquet file.

Every column's type is declared, so nothing is guessed from the data; records that do not fit are collected by the
engine with their numbers. Its own messages quote cells, so only their kind is taken over.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from aidos.core.records import SEARCH_LOG, Column
from aidos.engine.embedded import EmbeddedEngine, quote_text
from aidos.errors import Problem
from aidos.ingest.formats.base import Sample
from aidos.ingest.formats.delimiters import describe_delimiter, in_words, suggest_delimiter
from aidos.ingest.formats.layout import EPOCH, ISO, Layout, split_lines
from aidos.ingest.locate import Records, row_lines
from aidos.ingest.normalise import QueryNormalisation
from aidos.ingest.problems import describe
from aidos.ingest.rejects import Rejects
from aidos.ingest.sources import Source
from aidos.ingest.spool import ROW, Spool, copy_sql, epoch_sql, notes_of, utc_sql

__all__ = ["read_delimited", "wrong_delimiter"]

LINE_IN_MESSAGE = re.compile(r"Line: (\d+)")
LARGEST_RECORD = 4 << 20
"""A quoted record may span lines; each line is at most 1 MB."""


def wrong_delimiter(source: Source, layout: Layout, sample: Sample) -> Problem | None:
    """Whether another delimiter cuts the first lines much better than the layout's."""
    rows = split_lines(sample.lines, layout.delimiter, quoted=layout.quoted)
    fitting = sum(len(row) == len(layout.names) for row in rows)
    if fitting * 2 > len(rows) and len(layout.names) > 1:
        return None
    better = suggest_delimiter(sample.lines, layout.delimiter)
    return describe_delimiter(source.name, in_words(layout.delimiter), better) if better else None


def read_delimited(
    engine: EmbeddedEngine, source: Source, layout: Layout, normalisation: QueryNormalisation, sample: Sample
) -> Spool | Problem:
    """Read the file into a private Parquet file; a problem when the engine cannot make sense of it at all."""
    target = engine.scratch / f"{engine.fresh_name()}.parquet"
    records = Records(source, layout.has_header, layout.quoted)
    rejects = Rejects(engine, engine.fresh_name(), records, layout, sample)
    select = f"select {_projection(layout, normalisation)} from {_read_csv(source, layout, rejects.table)}"
    try:
        engine.run(copy_sql(select, target, notes_of(layout.schema, normalisation)), label=f"reading {source.name}")
    except duckdb.InvalidInputException as error:
        line = LINE_IN_MESSAGE.search(str(error))
        return describe("bad-line", source.name, lines=(int(line[1]),) if line else ())
    problems = rejects.problems()
    rejected = rejects.records() if problems else frozenset()
    return Spool(
        schema=layout.schema,
        sql=_select_spooled(layout, target),
        lines_of=lambda rows: row_lines(records, rows, rejected),
        columns=layout.mapping,
        parquet=target,
        problems=tuple(problems),
        rejected=len(rejected),
    )


def _read_csv(source: Source, layout: Layout, rejects: str) -> str:
    quote = '"' if layout.quoted else ""
    options = {
        "auto_detect": "false",
        "compression": quote_text(source.compression),
        "delim": quote_text(layout.delimiter),
        "quote": quote_text(quote),
        "escape": quote_text(quote),
        "header": str(layout.has_header).lower(),
        "nullstr": "''",
        "max_line_size": str(LARGEST_RECORD),
        "columns": _csv_columns(layout),
        "store_rejects": "true",
        "rejects_table": quote_text(rejects),
        "rejects_scan": quote_text(f"{rejects}_scans"),
        "rejects_limit": "0",
    }
    if layout.time_format not in {ISO, EPOCH}:
        options["timestampformat"] = quote_text(layout.time_format)
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv({quote_text(str(source.path))}, {listed})"


def _csv_columns(layout: Layout) -> str:
    """Columns by their place, since names in a file may be anything, with the type each is read as."""
    types = {file_name: _csv_type(layout, column) for column, file_name in layout.mapping.items()}
    listed = (f"'c{place}': '{types.get(name, 'VARCHAR')}'" for place, name in enumerate(layout.names, start=1))
    return "{" + ", ".join(listed) + "}"


def _csv_type(layout: Layout, column: str) -> str:
    declared = layout.schema.column(column).type
    if declared != "TIMESTAMP":
        return declared
    return {ISO: "TIMESTAMPTZ", EPOCH: "DOUBLE"}.get(layout.time_format, "TIMESTAMP")


def _projection(layout: Layout, normalisation: QueryNormalisation) -> str:
    return ", ".join(
        f'{_expression(layout, column, normalisation)} as "{column.name}"' for column in layout.schema.columns
    )


def _expression(layout: Layout, column: Column, normalisation: QueryNormalisation) -> str:
    place = _place(layout, column.name)
    if not place:
        if layout.schema is SEARCH_LOG and column.name == "action":
            clicked = _place(layout, "object_id")
            return f"case when {clicked} is null then 'query' else 'click' end" if clicked else "'query'"
        return f"cast(null as {column.type})"
    if column.type == "TIMESTAMP":
        return {ISO: utc_sql(place), EPOCH: epoch_sql(place)}.get(layout.time_format, place)
    return normalisation.sql(place) if column.name == "user_query" else place


def _place(layout: Layout, column: str) -> str:
    name = layout.mapping.get(column)
    return "" if name is None else f"c{layout.names.index(name) + 1}"


def _select_spooled(layout: Layout, target: Path) -> str:
    names = ", ".join(f'"{name}"' for name in layout.schema.names())
    return (
        f"select {names}, file_row_number as {ROW} from read_parquet({quote_text(str(target))}, file_row_number = true)"
    )
