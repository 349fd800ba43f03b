"""The job that says what files are, what is in them, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from aidos.core.records import SCHEMAS
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Section

if TYPE_CHECKING:
    import pyarrow as pa

    from aidos.errors import Problem
    from aidos.ingest.reading import CheckReport, FileReport
    from aidos.report.page import Block

__all__ = ["Anything", "CheckFiles", "CheckedFiles", "file_facts"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CheckedFiles(Finding):
    """What was found in files: names, numbers and lines, never a cell."""

    about: str = "the people in the files"
    report: CheckReport

    @property
    def exit_code(self) -> int:
        """2 where anything is wrong."""
        return 2 if self.problems else 0

    @property
    def files(self) -> tuple[FileReport, ...]:
        """Every file that could be opened."""
        return self.report.files

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that stands in the way, of all files, missing ones included."""
        return self.report.problems

    def facts(self) -> Mapping[str, object]:
        """Everything about every file."""
        return self.report.to_dict()

    def table(self) -> pa.Table:
        """A row for each file."""
        import pyarrow as pa

        names = ("file", "format", "schema", "rows", "people", "first", "last")
        counts = [{name: getattr(file, name) for name in names} | _counts(file) for file in self.files]
        return pa.Table.from_pylist(counts)

    def blocks(self) -> Sequence[Block]:
        """File by file, then what is wrong."""
        from aidos.report.page import Problems, Prose

        found = [block for file in self.files for block in _blocks(file)]
        return (*found, Problems(self.problems) if self.problems else Prose("no problems found"))

    def _values(self) -> dict[str, Any]:
        rows = sum(file.rows for file in self.files)
        return {"files": len(self.files), "rows": rows, "problems": len(self.problems)}


@dataclass(frozen=True)
class Anything:
    """A job on files of any kind."""

    files: tuple[str, ...]
    """Files or glob patterns; gzip and zstandard are read as they are."""


@dataclass(frozen=True, slots=True)
class CheckFiles(Anything):
    """Say what a file is, what is in it, and everything that is wrong with it.

    All problems are told at once, grouped, with line numbers and the option to
    paste that would mend each. The exit code is 2 when there are any. No cell
    of the file is ever shown.

    For example:
        aidos check log.tsv
        aidos check 'logs/*.ndjson.gz' --json
        aidos check export.csv --column client_id=visitor --delimiter ';'
        aidos check export.csv --quotes none
    """

    _: KW_ONLY
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def run(self, desk: Desk) -> CheckedFiles:
        """Look into every file."""
        from aidos.ingest.reading import check_files

        with desk.engine() as engine:
            return CheckedFiles(report=check_files(engine, self.files, self.how.options()))


def file_facts(file: FileReport) -> list[tuple[str, str]]:
    """What a person wants to know of one file, as labels and values."""
    recognised = f"{file.title}: {file.why}" if file.format else "not recognised"
    facts = [("format", recognised)]
    if file.schema:
        facts.append(("rows", f"{file.rows:,} ({SCHEMAS[file.schema].title})"))
    if file.people is not None:
        facts.append(("people", f"{file.people:,}"))
    if file.first:
        facts.append(("times", f"{file.first} to {file.last}"))
    skipped = _counts(file)["skipped"]
    return [*facts, ("rows skipped", f"{skipped:,}")] if skipped else facts


def _counts(file: FileReport) -> dict[str, int]:
    return {"skipped": sum(problem.count for problem in file.skipped), "problems": len(file.problems)}


def _blocks(file: FileReport) -> Iterator[Block]:
    from aidos.report.page import Card, Code, DataTable, Facts, Prose

    gap = Prose("")
    yield Card(title=file.file)
    yield Facts(tuple(file_facts(file)))
    if file.columns:
        lacking = {name: f"missing in {count:,} rows" for name, count in file.missing.items()}
        rows = tuple((ours, theirs, lacking.get(ours, "")) for ours, theirs in file.columns.items())
        yield gap
        yield DataTable(caption="Columns", columns=("column", "in the file", ""), rows=rows, titled=False)
    if file.unused:
        yield gap
        yield Prose(f"not used: {', '.join(column.name for column in file.unused)}")
        told = [f"  {each.name} could be {each.could_be}: {each.option}" for each in file.unused if each.option]
        yield from [Code(text="\n".join(told), language="command")] if told else []
    yield from (Prose(f"note: {note}") for note in file.notes)
    yield gap
