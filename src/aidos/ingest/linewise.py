"""Formats that Python reads line by line, spooled into a private Parquet file in bounded memory."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.progress import Task
from aidos.core.records import Schema
from aidos.engine.embedded import EmbeddedEngine, quote_text
from aidos.errors import Problem
from aidos.ingest.advice import missing_columns
from aidos.ingest.bytescan import Tally
from aidos.ingest.formats.base import BadRow, LineFormat, Row
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.normalise import QueryNormalisation
from aidos.ingest.problems import KINDS, describe
from aidos.ingest.sources import Source, open_bytes
from aidos.ingest.spool import ROW, Spool

__all__ = ["numbered_lines", "read_lines"]

ROWS_AT_ONCE = 20_000
NOT_IN_ORDER = frozenset({"ubi", "elastic"})
"""Formats whose documents come in any order."""
TYPES: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "TIMESTAMP": pa.timestamp("us"),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
}


def numbered_lines(source: Source, task: Task) -> Iterator[tuple[int, str]]:
    """The lines of a text file without their ends, counted from 1."""
    with open_bytes(source) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as text:
        for number, line in enumerate(text, start=1):
            task.advance(len(line))
            yield number, line.rstrip("\r\n")


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
    known = KINDS[kind]
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
