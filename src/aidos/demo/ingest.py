"""The demo's chapter on reading: a sound log is checked and read, a damaged one is refused with every problem named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aidos.demo.chapter import Outcome, Workplace
from aidos.engine.files import write_text
from aidos.errors import Problem
from aidos.ingest.normalise import NORMALISED
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import check_files, read_files, write_log
from aidos.report.page import Chapter, Code, DataTable, Facts, Prose
from aidos.rooms.data.checking import file_facts
from aidos.world.write import write_sample

__all__ = ["ingest_chapter"]

DAMAGED_ROWS = 200


def ingest_chapter(place: Workplace) -> Outcome:
    """Check the log in the layout of the AOL log, read it, and show what a damaged copy gets."""
    log = place.directory / "log.tsv"
    write_sample("log", place.world, log, place.progress)
    checked = check_files(place.engine, [str(log)]).files[0]
    options = ReadOptions(normalise=NORMALISED, session_gap_minutes=30)
    rows = write_log(read_files(place.engine, [str(log)], options), place.directory / "log-read.parquet")
    written = place.engine.parquet(place.directory / "log-read.parquet")
    sessions = int(str(written.rows("select count(distinct session_id) from {table}")[0][0]))
    damaged = _damaged_copy(log, place.directory / "log-damaged.tsv")
    problems = check_files(place.engine, [str(damaged)]).problems
    facts = (("rows read", rows), ("people", checked.people), ("sessions, by a gap of 30 minutes", sessions))
    chapter = Chapter(
        title="Checking and reading a search log",
        blocks=(
            Prose(
                "Logs come in many layouts. aidos recognises the format, says why, maps the columns to its own, and "
                "tells everything that is wrong at once: where, and which option would mend it. It never shows a cell."
            ),
            Facts(facts),
            DataTable(
                caption="What aidos says about log.tsv", columns=("about", "found"), rows=tuple(file_facts(checked))
            ),
            _problem_table(problems),
            Code(text="aidos check log.tsv\naidos check log-damaged.tsv", language="command"),
            Code(text="aidos ingest log.tsv --normalise all --session-gap 30 -o log-read.parquet", language="command"),
        ),
    )
    return Outcome(chapter, "check and ingest", f"{rows:,} rows read, {len(problems)} problems found in a damaged copy")


def _problem_table(problems: Sequence[Problem]) -> DataTable:
    return DataTable(
        caption="What aidos says about a damaged copy of it",
        columns=("problem", "rows", "first line", "what would mend it"),
        rows=tuple(
            (each.sentence, each.count, each.lines[0] if each.lines else None, each.option or each.remedy)
            for each in problems
        ),
    )


def _damaged_copy(log: Path, target: Path) -> Path:
    """The log's first rows with the damage that exports really have."""
    with log.open(encoding="utf-8") as lines:
        kept = [next(lines) for _ in range(DAMAGED_ROWS)]
    for number, damage in {20: _cut_short, 60: _text_for_time, 61: _text_for_time, 90: _long_ago, 120: _nobody}.items():
        cells = kept[number].rstrip("\n").split("\t")
        kept[number] = "\t".join(damage(cells)) + "\n"
    write_text(target, "\ufeff" + "".join(kept))
    return target


def _cut_short(cells: list[str]) -> list[str]:
    return cells[:2]


def _text_for_time(cells: list[str]) -> list[str]:
    return [*cells[:2], "last tuesday", *cells[3:]]


def _long_ago(cells: list[str]) -> list[str]:
    return [*cells[:2], "1970-01-01 00:00:00", *cells[3:]]


def _nobody(cells: list[str]) -> list[str]:
    return ["", *cells[1:]]
