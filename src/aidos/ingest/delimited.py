"""Delimited files: read by the engine, in parallel, straight into a private Parquet file.

Every column's type is declared, so nothing is guessed from the data; records that do not fit are collected by the
engine with their numbers. It holds all of them in memory, so what may be wrong with every row of a file, the way times
are written, is not left to it: times are read as text and become null where they cannot be understood.
"""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from aidos.core.records import SEARCH_LOG, Column
from aidos.engine.embedded import EmbeddedEngine, quote_text
from aidos.errors import Problem
from aidos.ingest.formats.base import Sample
from aidos.ingest.formats.clock import suggest_time_format
from aidos.ingest.formats.delimiters import describe_delimiter, in_words, suggest_delimiter
from aidos.ingest.formats.layout import Layout, split_lines
from aidos.ingest.locate import Records, row_lines
from aidos.ingest.normalise import QueryNormalisation
from aidos.ingest.problems import describe
from aidos.ingest.rejects import Rejects
from aidos.ingest.sources import Source
from aidos.ingest.spool import ROW, Spool, copy_sql, notes_of, time_sql

__all__ = ["read_delimited", "wrong_delimiter"]

LINE_IN_MESSAGE = re.compile(r"Line: (\d+)")


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
    rejects = Rejects(engine, engine.fresh_name(), records, layout)
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
        time_hint=_time_hint(layout, sample),
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
        "columns": _csv_columns(layout),
        "store_rejects": "true",
        "rejects_table": quote_text(rejects),
        "rejects_scan": quote_text(f"{rejects}_scans"),
        "rejects_limit": "0",
    }
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv({quote_text(str(source.path))}, {listed})"


def _csv_columns(layout: Layout) -> str:
    """Columns by their place, since names in a file may be anything, with the type each is read as."""
    types = {
        name: layout.schema.column(column).type for column, name in layout.mapping.items() if column != "timestamp"
    }
    listed = (f"'c{place}': '{types.get(name, 'VARCHAR')}'" for place, name in enumerate(layout.names, start=1))
    return "{" + ", ".join(listed) + "}"


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
        return time_sql(place, layout.time_format)
    return normalisation.sql(place) if column.name == "user_query" else place


def _place(layout: Layout, column: str) -> str:
    name = layout.mapping.get(column)
    return "" if name is None else f"c{layout.names.index(name) + 1}"


def _select_spooled(layout: Layout, target: Path) -> str:
    names = ", ".join(f'"{name}"' for name in layout.schema.names())
    return (
        f"select {names}, file_row_number as {ROW} from read_parquet({quote_text(str(target))}, file_row_number = true)"
    )


def _time_hint(layout: Layout, sample: Sample) -> str:
    """How the first rows write their times, where that is a way which is not understood without being told."""
    name = layout.mapping.get("timestamp")
    if name is None:
        return ""
    place = layout.names.index(name)
    rows = split_lines(sample.lines, layout.delimiter, quoted=layout.quoted)[layout.has_header :]
    pattern = suggest_time_format([row[place] for row in rows if len(row) > place])
    return "" if pattern == layout.time_format else pattern
