"""What every reader of tables hands on: rows in the columns of a schema, and the way back from a row to its line.

Here, too: the formats that Python reads line by line are spooled into a private Parquet file in bounded memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.records import Schema
from aidos.engine.embedded import EmbeddedEngine, quote_name, quote_text
from aidos.errors import Problem
from aidos.ingest.advice import Unused, missing_columns
from aidos.ingest.bytescan import Tally
from aidos.ingest.formats.base import BadRow, LineFormat, Row
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.normalise import AS_TYPED, QueryNormalisation, prepare
from aidos.ingest.problems import TABLES, describe

__all__ = [
    "ABSENT",
    "ROW",
    "Spool",
    "copy_sql",
    "epoch_sql",
    "notes_of",
    "prepare_engine",
    "read_lines",
    "time_sql",
    "utc_sql",
]

NUMBER = r"\s*[+-]?\d+(\.\d+)?\s*"
STAMP = "%y%m%d%H%M%S"
ABSENT = "aidos.absent"
"""The note of a written file that names the columns which its source does not have."""
MADE = "action"
"""The column that is made where the source does not have it."""
ROW = "aidos_row"
"""The column of a spool's query by which a row is found again in its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spool:
    """One file's rows, as far as they could be read."""

    schema: Schema
    sql: str
    """Selects the columns of the schema, and `ROW`."""
    lines_of: Callable[[Collection[int]], Mapping[int, int]]
    """The line of each row, by its `ROW`."""
    columns: Mapping[str, str]
    """Column of the schema to column of the file."""
    unused: tuple[Unused, ...] = ()
    """Columns of the file that become nothing."""
    parquet: Path | None = None
    """A private Parquet file that holds exactly these rows and columns, where there is one."""
    problems: tuple[Problem, ...] = ()
    """What was wrong with the lines that gave no row."""
    rejected: int = 0
    """How many lines gave no row."""
    notes: tuple[str, ...] = ()
    time_hint: str = ""
    """A pattern that would fit the times, where they are written in a way that must be told."""
    spans_lines: bool = False
    """Whether a row may hold line ends, on the owner's word."""
    in_order: bool = True
    """Whether the rows of such a file are expected to be in order of time."""


def prepare_engine(engine: EmbeddedEngine, normalisation: QueryNormalisation) -> None:
    """Texts without a zone are UTC whatever the machine's own zone is; and normalisation may need NFKC."""
    engine.run("set TimeZone = 'UTC'")
    if normalisation != AS_TYPED:
        prepare(engine)


def notes_of(schema: Schema, normalisation: QueryNormalisation, columns: Collection[str]) -> dict[str, str]:
    """What a written file says about itself: columns that the source does not have are there and empty."""
    absent = ",".join(name for name in schema.names() if name not in columns and name != MADE)
    return {"aidos.schema": schema.name, "aidos.normalised": str(normalisation), ABSENT: absent}


def utc_sql(column: str) -> str:
    """A time with a zone, as the house has times: in UTC, without a zone."""
    return f"{column} at time zone 'UTC'"


def epoch_sql(column: str) -> str:
    """A number of seconds, milliseconds or microseconds since 1970 (its size tells which) as a time."""
    microseconds = (
        f"case when abs({column}) < 1e11 then {column} * 1e6 when abs({column}) < 1e14 then {column} * 1e3"
        f" when abs({column}) < 1e17 then {column} end"
    )
    return f"make_timestamp(cast(round({microseconds}) as bigint))"


def time_sql(text: str, time_format: str) -> str:
    """A text as a time, null where it cannot be read; without a format each cell tells by itself how it is written."""
    match time_format:
        case "" | "iso":
            zoned = utc_sql(f"try_cast({text} as timestamptz)")
            number = "" if time_format else f"when {_is_number(text)} then {_number_sql(text)} "
            return f"case when {_has_no_zone(text)} then try_cast({text} as timestamp) {number}else {zoned} end"
        case "epoch":
            return epoch_sql(f"try_cast({text} as double)")
        case _:
            return f"try_strptime({text}, {quote_text(time_format)})"


def _is_number(text: str) -> str:
    return f"regexp_full_match({text}, '{NUMBER}')"


def _number_sql(text: str) -> str:
    """Twelve digits are ``yymmddHHMMSS`` where that is a real time; every other number is one since 1970."""
    stamp = f"if(strlen({text}) = 12, try_strptime({text}, '{STAMP}'), null)"
    return f"coalesce({stamp}, {epoch_sql(f'try_cast({text} as double)')})"


def _has_no_zone(text: str) -> str:
    """Whether a time is written to the second and no further: the usual case, read three times as fast."""
    return f"strlen({text}) = 19 and ({text})[17] = ':'"


def copy_sql(select: str, target: Path, notes: Mapping[str, str], *, read_once: bool = False) -> str:
    """The statement that writes a query's rows to a Parquet file, in their order.

    Snappy, because a better compression would cost a third of the time that reading takes; and without dictionaries
    where the file is read once and thrown away.
    """
    listed = ", ".join(f"{quote_name(key)}: {quote_text(value)}" for key, value in notes.items())
    form = "format parquet, compression snappy" + (", dictionary_size_limit 1" if read_once else "")
    return f"copy ({select}) to {quote_text(str(target))} ({form}, kv_metadata {{{listed}}})"


ROWS_AT_ONCE = 20_000
NOT_IN_ORDER = frozenset({"ubi", "elastic"})
"""Formats whose documents come in any order."""
TYPES: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "TIMESTAMP": pa.timestamp("us"),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
}


def read_lines(
    engine: EmbeddedEngine,
    file: str,
    known: LineFormat,
    lines: Iterable[tuple[int, str]],
    normalisation: QueryNormalisation,
) -> Spool:
    """Parse the lines into a private Parquet file."""
    target = engine.scratch / f"{engine.fresh_name()}.parquet"
    spooled = pa.schema([*((column.name, TYPES[column.type]) for column in known.schema.columns), (ROW, pa.int64())])
    bad = _BadRows()
    with pq.ParquetWriter(target, spooled, compression="snappy") as writer:
        for batch in _batches(known.parse(lines), bad):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=spooled))
    return Spool(
        schema=known.schema,
        sql=f"select {_projection(known.schema, normalisation)}, {ROW} from read_parquet({quote_text(str(target))})",
        lines_of=lambda rows: {row: row for row in rows},
        columns={column: field for field, column in known.columns().items()},
        problems=tuple(bad.problems(file, known)),
        rejected=bad.count,
        in_order=known.name not in NOT_IN_ORDER,
    )


class _BadRows:
    """Lines that could not be read, counted by kind."""

    def __init__(self) -> None:
        self.count = 0
        self.tallies: defaultdict[tuple[str, str, str], Tally] = defaultdict(Tally)

    def add(self, bad: BadRow) -> None:
        self.count += 1
        self.tallies[bad.kind, bad.sentence, bad.column].add(bad.line)

    def problems(self, file: str, known: LineFormat) -> Iterator[Problem]:
        for (kind, sentence, column), tally in self.tallies.items():
            if kind == "missing-column" and isinstance(known, JsonLines):
                lines = tuple(tally.lines[:1])
                mapping = {
                    ours: field for ours, field in known.mapping.items() if ours != field or field in known.fields
                }
                yield from (
                    replace(found, lines=lines)
                    for found in missing_columns(file, known.fields, known.schema, mapping, looks=known.looks)
                )
            else:
                yield _problem(file, kind, sentence, column, tally)


def _problem(file: str, kind: str, sentence: str, column: str, tally: Tally) -> Problem:
    known = TABLES.kinds[kind]
    found = describe("bad-line", file, lines=tally.lines, count=tally.count, column=column)
    return replace(
        found, kind=kind, sentence=sentence, remedy=known.remedy if "{" not in known.remedy else found.remedy
    )


def _batches(rows: Iterable[Row | BadRow], bad: _BadRows) -> Iterator[list[dict[str, object]]]:
    batch: list[dict[str, object]] = []
    for row in rows:
        if isinstance(row, BadRow):
            bad.add(row)
            continue
        batch.append({**row.values, ROW: row.line})
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _projection(schema: Schema, normalisation: QueryNormalisation) -> str:
    return ", ".join(
        f'{normalisation.sql(name) if name == "user_query" else name} as "{name}"' for name in schema.names()
    )
