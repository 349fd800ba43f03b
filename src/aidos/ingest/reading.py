"""Files to one table: the one path that every command takes.

Each file is looked at byte by byte, recognised, spooled, and asked for what is wrong with it; only then is the verdict
given, with all problems of all files at once. Strict by default: whatever the user did not accept stops the reading,
and nothing has been written by then but private files in the engine's own directory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aidos.core.records import SEARCH_LOG, Schema
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import replace_when_done
from aidos.errors import InputError, ParameterError, Problem
from aidos.ingest.facts import good_rows
from aidos.ingest.formats.qlogs import PREFIX
from aidos.ingest.inspection import Inspection, inspect_dataset, inspect_source
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.sessions import with_sessions_by_gap
from aidos.ingest.sources import find_sources
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
    """Read files of any known format into one table; InputError with all problems when there are any."""
    options = replace(options, latest=options.last_day())
    files, problems = inspect_files(engine, paths, options)
    if problems:
        raise _refusal(problems)
    schema = next(file.spool.schema for file in files if file.spool is not None)
    table, parquet = _joined(engine, files, schema, options)
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
    engine: EmbeddedEngine, paths: Sequence[str], options: ReadOptions
) -> tuple[tuple[Inspection, ...], tuple[Problem, ...]]:
    """Look into every file; give all that is known of each, and all problems that stand in the way."""
    if not paths:
        raise ParameterError("no file was named")
    prepare_engine(engine, options.normalise)
    datasets = [name for name in paths if name.startswith(PREFIX)]
    sources, problems = find_sources([name for name in paths if name not in datasets])
    files = (
        *(inspect_source(engine, source, options) for source in sources),
        *(inspect_dataset(engine, name, options) for name in datasets),
    )
    problems += [problem for file in files for problem in file.problems]
    spools = [(file.file, file.spool) for file in files if file.spool is not None]
    problems += [
        describe("different-tables", name, title=spool.schema.title)
        for name, spool in spools[1:]
        if spool.schema != spools[0][1].schema
    ]
    return files, tuple(problems)


def write_log(reading: Reading, path: Path | str) -> int:
    """Write the table to a Parquet file, whole or not at all; give the number of rows.

    A spooled file that already holds the table is linked or copied into place: the data are not read again.
    """
    if reading.parquet is None:
        notes = notes_of(reading.schema, reading.options.normalise)
        return reading.table.write_parquet(Path(path), notes=notes, label=f"writing {path}")
    with replace_when_done(Path(path)) as partial:
        try:
            partial.unlink()
            os.link(reading.parquet, partial)
        except OSError:  # another file system, or one without links
            shutil.copyfile(reading.parquet, partial)
    return reading.table.count()


def _joined(
    engine: EmbeddedEngine, files: Sequence[Inspection], schema: Schema, options: ReadOptions
) -> tuple[EmbeddedTable, Path | None]:
    """One table of all files: without the rows to be skipped, and sorted where the user wants that."""
    names = ", ".join(f'"{name}"' for name in schema.names())
    sort = any("unsorted-times" in file.accepted for file in files)
    parts = []
    for number, file in enumerate(files):
        if file.spool is None:
            continue
        keep = f" where {good_rows(file.spool, options)}" if file.skipped else ""
        order = f", {number} as aidos_file, {ROW}" if sort else ""
        parts.append(f"select {names}{order} from ({file.spool.sql}){keep}")
    joined = " union all ".join(parts)
    if sort:
        joined = f'select {names} from ({joined}) order by {schema.person}, "timestamp", aidos_file, {ROW}'
    alone = len(parts) == 1 and not sort and not files[0].skipped
    return engine.view(joined), files[0].spool.parquet if alone and files[0].spool is not None else None


def _refusal(problems: Sequence[Problem]) -> InputError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    hint = f"{first.remedy}: {first.option}" if first.option else first.remedy
    return InputError(f"{first}{more}", hint=hint, problems=problems)
