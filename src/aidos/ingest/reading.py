"""Files to one table: the one path that every command takes.

Each file is looked at byte by byte, recognised, spooled, and asked for what is wrong with it; only then is the verdict
given, with all problems of all files at once. Strict by default: whatever the user did not accept stops the reading,
and nothing has been written by then but private files in the engine's own directory.

A log gets sessions, too: which actions of a person belong together. Sessions are by gap (a pause of thirty minutes ends
one, unless told otherwise) or by a column of the table. Their ids never mix people, whatever the file called them.

`check_files` is the same reading without the raise at its end: everything about files that a person should know before
using them, as names, numbers and lines, never cells.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import cast

from aidos.core.records import POSTS, SEARCH_LOG, Schema
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import replace_when_done
from aidos.errors import ParameterError, Problem
from aidos.ingest.advice import Unused
from aidos.ingest.facts import find_facts, good_rows, lacks_object
from aidos.ingest.formats.qlogs import PREFIX
from aidos.ingest.inspection import Inspection, inspect_dataset, inspect_source
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import LINES_SHOWN, describe, refuse
from aidos.ingest.sources import find_sources
from aidos.ingest.spool import ROW, Spool, notes_of, prepare_engine

__all__ = [
    "USUAL_GAP_MINUTES",
    "CheckReport",
    "FileReport",
    "Reading",
    "check_files",
    "inspect_files",
    "read_files",
    "sessions_by_gap",
    "with_sessions_by_gap",
    "write_log",
]

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
    options = replace(options, latest=options.last_day().isoformat())
    files, problems = inspect_files(engine, paths, options)
    if not problems and all(file.spool is None for file in files):
        problems = tuple(describe("header-only", file.file) for file in files)
    if problems:
        raise refuse(*problems)
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
    if not isinstance(engine, EmbeddedEngine):
        hint = "give aidos.EmbeddedEngine(), opened in a with"
        raise ParameterError(f"engine cannot be a {type(engine).__name__}", hint=hint)
    paths = _names(paths)
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
    files, repeated = _unrepeated(engine, files, options)
    return files, (*problems, *repeated)


def _unrepeated(
    engine: EmbeddedEngine, files: tuple[Inspection, ...], options: ReadOptions
) -> tuple[tuple[Inspection, ...], list[Problem]]:
    """Posts of one file that have the id of a post of a file before: told, or left out on the user's word."""
    read = [at for at, file in enumerate(files) if _has_ids(file)]
    found, problems, before = list(files), [], ""
    for at in read if len(read) > 1 and options.checks_posts else ():
        spool = cast("Spool", found[at].spool)
        sound = f"({spool.sql}) where {good_rows(spool, options)}"
        if before:
            taken = f"post_id in ({before})"
            count = int(str(engine.run(f"select count(*) from {sound} and {taken}")[0][0]))
            lines = engine.run(f"select {ROW} from {sound} and {taken} order by {ROW} limit {LINES_SHOWN}")
            if count:
                told = sorted(spool.lines_of([int(str(row[0])) for row in lines]).values())
                problem = describe(
                    "duplicate-id", files[at].file, lines=told, count=count, column=spool.columns["post_id"]
                )
                if options.skip_bad_rows:
                    kept = replace(spool, sql=f"select * from {sound} and not ({taken})")
                    facts = find_facts(engine, kept)
                    found[at] = replace(files[at], spool=kept, facts=facts, skipped=(*files[at].skipped, problem))
                else:
                    problems.append(problem)
        before = " union all ".join(filter(None, [before, f"select post_id from {sound}"]))
    return tuple(found), problems


def _has_ids(file: Inspection) -> bool:
    return file.spool is not None and file.spool.schema is POSTS and "post_id" in file.spool.columns


def _names(paths: Sequence[str]) -> list[str]:
    """The names of files as texts: from Python people also give paths, and forget the list around a single name."""
    if isinstance(paths, str | Path):
        raise ParameterError("paths must be a list of names, got one name", hint=f"write [{str(paths)!r}]")
    if not paths:
        raise ParameterError("no file was named", hint="name a file, or a pattern such as 'logs/*.tsv'")
    if wrong := next((each for each in paths if not isinstance(each, str | Path)), None):
        raise ParameterError(
            f"a file's name cannot be a {type(wrong).__name__}", hint="give the names of files, as texts"
        )
    return [each if isinstance(each, str) else str(each) for each in paths]


def write_log(reading: Reading, path: Path | str) -> int:
    """Write the table to a Parquet file, whole or not at all; give the number of rows.

    A spooled file that already holds the table is linked or copied into place: the data are not read again.
    """
    if reading.parquet is None:
        mapped = {column for file in reading.files for column in file.columns}
        mapped |= {"session_id"} if reading.options.session_gap_minutes is not None else set()
        notes = notes_of(reading.schema, reading.options.normalise, mapped)
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
        placed = f'if({lacks_object(file.spool)}, null, "position")' if _drops_positions(file) else ""
        mended = f' replace ({placed} as "position")' if placed else ""
        parts.append(f"select {names}{order} from (select *{mended} from ({file.spool.sql})){keep}")
    joined = " union all ".join(parts)
    if sort:
        joined = f'select {names} from ({joined}) order by {schema.person}, "timestamp", aidos_file, {ROW}'
    alone = len(parts) == 1 and not sort and not files[0].skipped and not _drops_positions(files[0])
    return engine.view(joined), files[0].spool.parquet if alone and files[0].spool is not None else None


def _drops_positions(file: Inspection) -> bool:
    """Whether positions of nothing are to be dropped."""
    return "position-without-object" in file.accepted


USUAL_GAP_MINUTES = 30.0
"""The pause that ends a session by the custom of the field."""


def with_sessions_by_gap(table: EmbeddedTable, minutes: float = USUAL_GAP_MINUTES) -> EmbeddedTable:
    """The search log with session ids by gap, sorted by person and time; nothing runs yet."""
    if not isfinite(minutes) or minutes <= 0:
        raise ParameterError(f"the gap between sessions must be a positive number of minutes, got {minutes}")
    return table.select(sessions_by_gap(minutes))


def sessions_by_gap(minutes: float) -> str:
    """A search log whose sessions end with a pause of more than so many minutes; ids are person and number."""
    pause = f'epoch_us("timestamp") - epoch_us(lag("timestamp") over person) > {round(minutes * 60_000_000)}'
    return f"""
        select * exclude (starts) replace (client_id || '-' || cast(sum(starts) over person as varchar) as session_id)
        from (
            select *, if(coalesce({pause}, true), 1, 0) as starts from {{table}}
            window person as (partition by client_id order by "timestamp")
        )
        window person as (partition by client_id order by "timestamp" range unbounded preceding)
        order by client_id, "timestamp"
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """One file."""

    file: str
    format: str
    """The name that ``--format`` takes; empty when it was not recognised."""
    title: str
    why: str
    """Why it was taken for that format."""
    schema: str
    """The kind of table: search-log, posts, run, judgements; empty when nothing was read."""
    columns: dict[str, str]
    """Column of aidos to column of the file."""
    unused: tuple[Unused, ...]
    """Columns of the file that become nothing, and what they might be."""
    rows: int
    people: int | None
    first: str
    """The earliest time."""
    last: str
    """The latest time."""
    missing: dict[str, int]
    """How many rows lack each column."""
    problems: tuple[Problem, ...]
    skipped: tuple[Problem, ...]
    """Rows that would be left out, as asked."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """All files, and all that is wrong with them."""

    files: tuple[FileReport, ...]
    problems: tuple[Problem, ...]
    """Everything that stands in the way, of all files, missing ones included."""
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """The report in values that JSON knows."""
        return asdict(self)


def check_files(engine: EmbeddedEngine, paths: Sequence[str], options: ReadOptions = DEFAULT) -> CheckReport:
    """Look into files and tell everything at once; bad data are reported, not raised."""
    files, problems = inspect_files(engine, paths, options)
    reports = tuple(_report(file) for file in files)
    return CheckReport(files=reports, problems=problems, notes=tuple(note for file in files for note in file.notes))


def _report(file: Inspection) -> FileReport:
    facts = file.facts
    return FileReport(
        file=file.file,
        format=file.format,
        title=file.title,
        why=file.why,
        schema="" if file.spool is None else file.spool.schema.name,
        columns=dict(file.columns),
        unused=() if file.spool is None else file.spool.unused,
        rows=0 if facts is None else facts.rows,
        people=None if facts is None else facts.people,
        first="" if facts is None else facts.first,
        last="" if facts is None else facts.last,
        missing={} if facts is None else {name: count for name, count in facts.nulls.items() if count},
        problems=file.problems,
        skipped=file.skipped,
        notes=file.notes,
    )
