"""Files to one table: the one path that every command takes.

Each file is looked at byte by byte, recognised, spooled, and asked for what is wrong with it; only then is the verdict
given, with all problems of all files at once. Strict by default: whatever the user did not accept stops the reading,
and nothing has been written by then but private files in the engine's own directory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from aidos.core.records import SEARCH_LOG, Schema
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError, Problem
from aidos.ingest.facts import good_rows
from aidos.ingest.inspection import Inspection, inspect
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.sessions import with_sessions_by_gap
from aidos.ingest.spool import ROW, notes_of, prepare_engine

__all__ = ["Reading", "inspect_files", "read_files", "write_log"]

DEFAULT = ReadOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Files that were read: their table, and what was done to get it."""

    table: EmbeddedTable
    schema: Schema
    files: tuple[Inspection, ...]
    options: ReadOptions
    problems: tuple[Problem, ...] = ()
    """The rows that were left out, by kind."""
    notes: tuple[str, ...] = ()
    """What was mended or changed on the user's word."""
    parquet: Path | None = None
    """A private file that already holds the table, where there is one."""


def read_files(engine: EmbeddedEngine, paths: Sequence[str], options: ReadOptions = DEFAULT) -> Reading:
    """Read files of any known format into one table; InputError with every problem when they are not as they should be."""
    today = datetime.now(UTC).date()
    files, problems = inspect_files(engine, paths, options, today)
    if problems:
        raise _refusal(problems)
    schema = next(file.spool.schema for file in files if file.spool is not None)
    table, parquet = _joined(engine, files, schema, options, today)
    if options.session_gap_minutes is not None:
        if schema is not SEARCH_LOG:
            raise ParameterError(f"sessions are of search logs, this is {schema.title}")
        table, parquet = with_sessions_by_gap(table, options.session_gap_minutes), None
    return Reading(
        table=table,
        schema=schema,
        files=files,
        options=options,
        problems=tuple(problem for file in files for problem in file.skipped),
        notes=tuple(note for file in files for note in file.notes),
        parquet=parquet,
    )


def inspect_files(
    engine: EmbeddedEngine, paths: Sequence[str], options: ReadOptions, today: date
) -> tuple[tuple[Inspection, ...], tuple[Problem, ...]]:
    """Every file, and all problems that stand in the way."""
    prepare_engine(engine, options.normalise)
    files = tuple(inspect(engine, name, options, today) for name in paths)
'''PLACEHOLDER'''
