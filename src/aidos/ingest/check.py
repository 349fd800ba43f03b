"""Everything about files that a person should know before using them, as data: what ``aidos check`` shows.

The same reading as for a real run, without the raise at its end. It holds names, numbers and lines, never cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import Problem
from aidos.ingest.advice import Unused
from aidos.ingest.inspection import Inspection
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import DEFAULT, inspect_files

__all__ = ["CheckReport", "FileReport", "check_files"]


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
