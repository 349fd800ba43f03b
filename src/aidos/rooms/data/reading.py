"""The job that reads files into one table: a Parquet file, or a value that Python looks at and every verb takes.

The value keeps its own engine, with private files in a directory of its own, for as long as it is used. Verbs that take
it as their data read the same files again, each by its own rules: a release, for example, decides nothing by rows.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

from annotated_types import Gt

from aidos.core.checks import check_parameters
from aidos.errors import EngineError, InputError
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding, as_path
from aidos.jobs.desk import Desk
from aidos.jobs.job import RequiredInTerminal, Section, Short
from aidos.rooms.data.checking import Anything

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.core.table import Table
    from aidos.errors import Problem
    from aidos.ingest.advice import Unused
    from aidos.ingest.reading import Reading
    from aidos.report.page import Block

__all__ = ["DataRead", "ReadData"]

ROWS_SHOWN = 10
"""Of the table, in a notebook."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DataRead(Finding):
    """One table of all files that were read."""

    about: str = "the people in the files"
    files: tuple[str, ...]
    """As they were named; other verbs read them again."""
    how: HowToRead
    """As they were read."""
    reading: Reading
    rows: int
    output: Path | None = None
    """Where the table was written."""
    holds: ExitStack = field(default_factory=ExitStack)
    """The engine, and whatever else must last as long as the table."""

    def __post_init__(self) -> None:
        weakref.finalize(self, self.holds.close)

    @property
    def schema(self) -> str:
        """The kind of table: search-log, posts, run, judgements."""
        return self.reading.schema.name

    @property
    def people(self) -> int | None:
        """How many people are in it; None where the table is of nobody, or was written to a file."""
        person = self.reading.schema.person
        if not person or self.output is not None:
            return None
        return int(str(self.lazy.rows(f"select count(distinct {person}) from {{table}}")[0][0]))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Rows that were left out, by kind. Whatever else is wrong with files is raised when they are read."""
        return self.reading.problems

    @property
    def notes(self) -> tuple[str, ...]:
        """What was mended or changed on the user's word, and what is worth knowing."""
        return self.reading.notes

    @property
    def unused(self) -> Mapping[str, tuple[Unused, ...]]:
        """Columns of each file that become nothing, and what they might be."""
        spools = {file.file: file.spool for file in self.reading.files}
        return {name: spool.unused for name, spool in spools.items() if spool is not None and spool.unused}

    @property
    def lazy(self) -> Table:
        """The table where it lives, for questions in SQL: ``log.lazy.rows("select count(*) from {table}")``."""
        if self.output is not None:
            raise InputError(f"the table was written to {self.output}", hint="read that file, or leave output out")
        if not self.reading.table.engine.is_open:
            raise EngineError("the table was closed", hint="read the files again")
        return self.reading.table

    def facts(self) -> Mapping[str, object]:
        """How many rows of what, what was left out, and which columns became nothing."""
        return {
            "file": str(self.output or ""),
            "rows": self.rows,
            "schema": self.schema,
            "skipped": {problem.kind: problem.count for problem in self.problems},
            "unused": {file: [column.name for column in columns] for file, columns in self.unused.items()},
        }

    def table(self) -> pa.Table:
        """All rows, in the columns of aidos."""
        return self.lazy.fetch()

    def blocks(self) -> Sequence[Block]:
        """What it is, and its first rows; nothing where the table went into a file."""
        from aidos.jobs.answer import cell
        from aidos.report.page import DataTable, Facts

        if self.output is not None:
            return ()
        first = self.lazy.fetch(f"select * from {{table}} limit {ROWS_SHOWN}").to_pylist()
        names = tuple(self.reading.schema.names())
        rows = tuple(tuple(cell(row[name]) for name in names) for row in first)
        told = tuple((name, cell(value)) for name, value in self._values().items())
        return (Facts(told), DataTable(caption="The first rows", columns=names, rows=rows))

    def remarks(self) -> Sequence[str]:
        """What was written."""
        return (f"{self.output}: {self.rows:,} rows ({self.reading.schema.title})",) if self.output is not None else ()

    def save(self, path: str | Path) -> None:
        """Write the table (.parquet, .csv), or what is known of it (.json, .html); whole or not at all."""
        from aidos.ingest.reading import write_log

        if as_path(path).suffix == ".parquet" and self.output is None:
            write_log(self.reading, path)
        else:
            super().save(path)

    def close(self) -> None:
        """End the engine and remove its private files; otherwise that happens when nobody uses the value any more."""
        self.holds.close()

    def __len__(self) -> int:
        return self.rows

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _values(self) -> dict[str, Any]:
        found: dict[str, Any] = {"schema": self.schema, "rows": self.rows}
        if self.reading.schema.person and self.output is None:
            found["people"] = self.people
        times = [file.facts for file in self.reading.files if file.facts is not None and file.facts.first]
        if times:
            found |= {"first": min(each.first for each in times), "last": max(each.last for each in times)}
        left_out = sum(problem.count for problem in self.problems)
        return found | ({"left_out": left_out} if left_out else {})


@dataclass(frozen=True, slots=True)
class ReadData(Anything):
    """Read search logs, posts or runs of any known format into one Parquet file.

    The file has the columns of aidos (client_id, timestamp, user_query...). It
    is written whole or not at all: when anything is wrong with the input,
    nothing is written and every problem is told. From Python, aidos.read gives
    the table as a value, which every verb takes for its data.

    For example:
        aidos ingest log.tsv.gz -o log.parquet
        aidos ingest 'logs/*.csv' --column client_id=visitor -o log.parquet
        aidos ingest log.tsv --normalise all --session-gap 30 -o log.parquet
    """

    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The Parquet file to write."""
    normalise: str = ""
    """What to do to queries: all, or some of nfkc,case,white-space,control-characters."""
    session_gap: Annotated[float | None, Gt(0)] = None
    """Begin a new session after so many minutes without an action; sessions stay as the file has them if unset."""
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> DataRead:
        """Read all files, and write the table where that is wanted."""
        from aidos.ingest.reading import read_files, write_log

        options = self.how.options(normalise=self.normalise, session_gap_minutes=self.session_gap)
        with ExitStack() as stack:
            engine = stack.enter_context(desk.engine())
            reading = read_files(engine, self.files, options)
            rows = reading.table.count() if self.output is None else write_log(reading, self.output)
            holds = ExitStack() if self.output is not None else stack.pop_all()
        read = DataRead(files=self.files, how=self.how, reading=reading, rows=rows, output=self.output, holds=holds)
        _mention(read, desk)
        return read


def _mention(read: DataRead, desk: Desk) -> None:
    """What became nothing, what was mended, and what was left out."""
    for file, columns in read.unused.items():
        desk.remark(f"note: {file}: not read: {', '.join(column.name for column in columns)}")
        for column in filter(lambda column: column.option, columns):
            desk.remark(f"note: {file}: {column.name} could be {column.could_be}: {column.option}")
    for note in read.notes:
        desk.remark(f"note: {note}")
    for problem in read.problems:
        noun = "row" if problem.count == 1 else "rows"
        desk.remark(f"skipped {problem.count:,} {noun}: {problem}")
