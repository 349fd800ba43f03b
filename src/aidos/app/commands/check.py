"""`aidos check`: what a file is, what is in it, and everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aidos.app.console import Common, open_engine, show, show_json
from aidos.app.reading import HowToRead
from aidos.core.records import SCHEMAS

if TYPE_CHECKING:
    from aidos.ingest.reading import CheckReport, FileReport

__all__ = ["check", "file_facts"]


def check(
    files: Sequence[str],
    /,
    *,
    how: HowToRead | None = None,
    common: Common | None = None,
) -> int:
    """Say what a file is, what is in it, and everything that is wrong with it.

    All problems are told at once, grouped, with line numbers and the option to
    paste that would mend each. The exit code is 2 when there are any. No cell
    of the file is ever shown.

    For example:
        aidos check log.tsv
        aidos check 'logs/*.ndjson.gz' --json
        aidos check export.csv --column client_id=visitor --delimiter ';'
        aidos check export.csv --quotes none

    Parameters
    ----------
    files
        Files or glob patterns; gzip and zstandard are read as they are.
    """
    from aidos.ingest.reading import check_files

    common = common or Common()
    with open_engine(common) as engine:
        report = check_files(engine, files, (how or HowToRead()).options())
    if common.json:
        show_json(report.to_dict())
    else:
        _show(report)
    return 2 if report.problems else 0


def _show(report: CheckReport) -> None:
    from rich.text import Text

    from aidos.report.terminal import facts_table, problem_list, rows_table

    for file in report.files:
        show(Text(file.file, style="bold"))
        show(facts_table(file_facts(file)))
        if file.columns:
            show("")
            lacking = {name: f"missing in {count:,} rows" for name, count in file.missing.items()}
            rows = [(ours, theirs, lacking.get(ours, "")) for ours, theirs in file.columns.items()]
            show(rows_table(("column", "in the file", ""), rows))
        if file.unused:
            show("")
            show(Text(f"not used: {', '.join(column.name for column in file.unused)}"))
            for column in file.unused:
                if column.option:
                    told = f"  {column.name} could be {column.could_be}: {column.option}"
                    show(Text(told, no_wrap=True, overflow="ignore"))
        for note in file.notes:
            show(Text(f"note: {note}"))
        show("")
    show(problem_list(report.problems) if report.problems else "no problems found")


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
    skipped = sum(problem.count for problem in file.skipped)
    return [*facts, ("rows skipped", f"{skipped:,}")] if skipped else facts
