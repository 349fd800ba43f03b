"""Delimited files: read by the engine, in parallel, straight into a private Parquet file.

Every column's type and every option of the dialect is declared, so nothing is guessed from the data; records that do
not fit are collected by the engine with their numbers. It is given one record a line (unless the owner says that the
file is RFC 4180), and in the end every line must be accounted for: it gave a row, was refused, or was blank.

The engine holds all refused records in memory, so what may be wrong with every row of a file, the way times are
written, is not left to it: times are read as text and become null where they cannot be understood.

`Rejects` tells of the records that the engine set aside. Its own messages quote cells, so only the kind of each, its
record and its column are looked at.

`Records` is the way from the engine's rows back to the lines of the file. The engine numbers the records of a file: the
header, blank lines and rejected records count, line ends inside quotes do not. A spooled row knows only its place among
the rows that were kept. The file is walked in Python only when a message needs a line, and no farther than the last
line it needs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from aidos.core.records import SEARCH_LOG, Column
from aidos.engine.embedded import EmbeddedEngine, quote_name, quote_text
from aidos.errors import BrokenPromiseError, Problem
from aidos.ingest.bytescan import LONGEST_LINE, Tally
from aidos.ingest.formats.base import Layout, Sample, describe_delimiter, in_words, split_lines, suggest_delimiter
from aidos.ingest.normalise import QueryNormalisation
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.repair import CleanText, heed_quotes
from aidos.ingest.sources import Source, open_bytes
from aidos.ingest.spool import ROW, Spool, copy_sql, notes_of, time_sql
from aidos.ingest.timestamps import suggest_time_format

__all__ = ["AS_RFC4180", "Records", "Rejects", "read_delimited", "record_lines", "row_lines", "wrong_delimiter"]

AS_RFC4180 = (
    "read as RFC 4180, where a row may span lines: nobody's rows change those of others as long as"
    " the writer doubled every quote inside a cell"
)
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
    engine: EmbeddedEngine, text: CleanText, layout: Layout, normalisation: QueryNormalisation, wanted: frozenset[str]
) -> Spool | Problem:
    """Read the file into a private Parquet file; a problem when the engine cannot make sense of it at all."""
    spans_lines, unquoted = layout.quotes == "rfc4180", Tally()
    if layout.quotes == "line" and text.has_quotes:
        text, unquoted = heed_quotes(text, layout.delimiter, engine.scratch / f"{engine.fresh_name()}.txt")
        if layout.has_header and unquoted.lines[:1] == [text.first_line]:
            return describe("bad-header", text.source.name, lines=(text.first_line,))
    source, target = text.source, engine.scratch / f"{engine.fresh_name()}.parquet"
    needed = wanted | {layout.schema.person}
    kept = [column for column in layout.schema.columns if not wanted or column.name in needed]
    records = Records(source, layout.has_header, spans_lines)
    rejects = Rejects(engine, engine.fresh_name(), records, layout)
    plain = text.is_plain and layout.delimiter == "\t"  # elsewhere a tab may stand in a cell
    projection = _projection(layout, kept, normalisation, plain=plain)
    select = f"select {projection} from {_read_csv(text, layout, kept, rejects.table)}"
    copy = copy_sql(select, target, notes_of(layout.schema, normalisation, layout.mapping), read_once=bool(wanted))
    try:
        rows = int(str(engine.run(copy, label=f"reading {source.name}")[0][0]))
    except duckdb.InvalidInputException as error:
        line = LINE_IN_MESSAGE.search(str(error))
        return describe("bad-line", source.name, lines=(int(line[1]),) if line else ())
    problems = rejects.problems()
    rejected = rejects.records() if problems else frozenset()
    if unquoted.count:
        problems.append(describe("unbalanced-quote", source.name, lines=unquoted.lines, count=unquoted.count))
    if not spans_lines and len(layout.names) > 1:
        _account(text, rows + len(rejected) + layout.has_header)
    return Spool(
        schema=layout.schema,
        sql=_select_spooled(layout, kept, target),
        lines_of=lambda rows: row_lines(records, rows, rejected),
        columns={name: theirs for name, theirs in layout.mapping.items() if not wanted or name in needed},
        parquet=target if len(kept) == len(layout.schema.columns) else None,
        problems=tuple(problems),
        rejected=len(rejected) + unquoted.count,
        notes=(f"{source.name}: {AS_RFC4180}",) if spans_lines else (),
        spans_lines=spans_lines,
        time_hint=_time_hint(layout, text.sample),
    )


def _account(text: CleanText, seen: int) -> None:
    """No line may vanish in another one, whatever the engine's parser thinks of it."""
    if seen != text.lines - text.blank:
        raise BrokenPromiseError(
            f"{text.source.name}: {text.lines - text.blank:,} lines gave {seen:,} records, so nothing was read",
            hint="please report this; aidos ingest to Parquet from another format may help meanwhile",
        )


def _read_csv(text: CleanText, layout: Layout, kept: Sequence[Column], rejects: str) -> str:
    quote = '"' if layout.quoted and text.has_quotes else ""
    options = {
        "auto_detect": "false",
        "compression": quote_text(text.source.compression),
        "skip": str(text.first_line - 1 if layout.has_header else 0),
        "comment": "''",
        "null_padding": "false",
        "strict_mode": "true",
        "parallel": str(not quote).lower(),  # where to begin in the middle of a file would be guessed from quotes
        "max_line_size": str(2 * LONGEST_LINE),
        "delim": quote_text(layout.delimiter),
        "quote": quote_text(quote),
        "escape": quote_text(quote),
        "header": str(layout.has_header).lower(),
        "nullstr": "''",
        "columns": _csv_columns(layout, kept),
        "store_rejects": "true",
        "rejects_table": quote_text(rejects),
        "rejects_scan": quote_text(f"{rejects}_scans"),
        "rejects_limit": "0",
    }
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv({quote_text(str(text.source.path))}, {listed})"


def _csv_columns(layout: Layout, kept: Sequence[Column]) -> str:
    """Columns by their place, since names in a file may be anything, with the type each is read as."""
    types = {
        layout.mapping[column.name]: column.type
        for column in kept
        if column.name in layout.mapping and column.type != "TIMESTAMP"
    }
    listed = (f"'c{place}': '{types.get(name, 'VARCHAR')}'" for place, name in enumerate(layout.names, start=1))
    return "{" + ", ".join(listed) + "}"


def _projection(layout: Layout, kept: Sequence[Column], normalisation: QueryNormalisation, *, plain: bool) -> str:
    return ", ".join(
        f"{_expression(layout, column, normalisation, plain=plain)} as {quote_name(column.name)}" for column in kept
    )


def _expression(layout: Layout, column: Column, normalisation: QueryNormalisation, *, plain: bool) -> str:
    place = _place(layout, column.name)
    if not place:
        if layout.schema is SEARCH_LOG and column.name == "action":
            clicked = _place(layout, "object_id")
            return f"case when {clicked} is null then 'query' else 'click' end" if clicked else "'query'"
        return f"cast(null as {column.type})"
    if column.type == "TIMESTAMP":
        return time_sql(place, layout.time_format)
    return normalisation.sql(place, plain=plain) if column.name == "user_query" else place


def _place(layout: Layout, column: str) -> str:
    name = layout.mapping.get(column)
    return "" if name is None else f"c{layout.names.index(name) + 1}"


def _select_spooled(layout: Layout, kept: Sequence[Column], target: Path) -> str:
    names = ", ".join(
        quote_name(column.name) if column in kept else f"cast(null as {column.type}) as {quote_name(column.name)}"
        for column in layout.schema.columns
    )
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


WIDTH_ERRORS = ("MISSING COLUMNS", "TOO MANY COLUMNS")
SLUGS = {
    "WIDTH": "ragged-rows",
    "CAST": "bad-number",
    "INVALID ENCODING": "invalid-utf8",
    "LINE SIZE OVER MAXIMUM": "line-too-long",
}


@dataclass(frozen=True, slots=True)
class Rejects:
    """A table of the engine with one row for each error in each record."""

    engine: EmbeddedEngine
    table: str
    file: Records
    layout: Layout

    def records(self) -> frozenset[int]:
        """The numbers of all records that were set aside."""
        found = self.engine.run(f"select distinct line from {self.table}")
        return frozenset(int(str(row[0])) for row in found)

    def problems(self) -> list[Problem]:
        """One problem for each kind and column, with the first lines of each."""
        grouped = self.engine.run(
            f"""
            select kind, place, count(*), min(record, {LINES_SHOWN}) from (
                select distinct line as record,
                    if(error_type in {WIDTH_ERRORS}, 'WIDTH', error_type::varchar) as kind,
                    if(error_type = 'CAST', column_name, '') as place
                from {self.table}
            ) group by all order by min(record)
            """
        )
        return [
            self._problem(str(kind), str(place), int(str(count)), records) for kind, place, count, records in grouped
        ]

    def _problem(self, kind: str, place: str, count: int, records: object) -> Problem:
        lines = sorted(record_lines(self.file, list(records)).values())  # type: ignore[call-overload]
        name = self.layout.names[int(place.removeprefix("c")) - 1] if place else ""
        return describe(
            SLUGS.get(kind, "bad-line"),
            self.file.source.name,
            lines=lines,
            count=count,
            column=name,
            expected=len(self.layout.names),
            encoding="UTF-8",
            better="latin-1",
        )


@dataclass(frozen=True, slots=True)
class Records:
    """A delimited file as a sequence of records."""

    source: Source
    has_header: bool
    spans_lines: bool
    """Whether a record may hold line ends inside quotes."""

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        """Each record's number, its first line, and whether it is blank; all counted from 1."""
        record, line, open_quote = 0, 0, False
        with open_bytes(self.source) as stream:
            for text in stream:
                line += 1
                if not open_quote:
                    record += 1
                    yield record, line, not text.strip(b"\r\n")
                if self.spans_lines and text.count(b'"') % 2:
                    open_quote = not open_quote


def record_lines(records: Records, wanted: Collection[int]) -> dict[int, int]:
    """The first line of each wanted record."""
    if not records.spans_lines:
        return {number: number for number in wanted}
    last, lines = max(wanted, default=0), {}
    for record, line, _ in records:
        if record > last:
            break
        if record in wanted:
            lines[record] = line
    return lines


def row_lines(records: Records, wanted: Collection[int], rejected: Collection[int]) -> dict[int, int]:
    """The first line of each wanted row, rows counted from 0 among the records that were not rejected."""
    row, lines, last = -1 - records.has_header, {}, max(wanted, default=-1)
    for record, line, is_blank in records:
        if is_blank or record in rejected:
            continue
        row += 1
        if row > last:
            break
        if row in wanted:
            lines[row] = line
    return lines
