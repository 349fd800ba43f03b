"""One file from its bytes to a verdict: what it is, what is in it, what is wrong, and what of that was accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, Problem
from aidos.ingest.bytescan import Scan, scan
from aidos.ingest.columnar import read_parquet
from aidos.ingest.delimited import read_delimited, wrong_delimiter
from aidos.ingest.facts import Facts, find_facts, find_problems, good_rows
from aidos.ingest.formats.base import LineFormat, Sample
from aidos.ingest.formats.layout import DelimitedFormat
from aidos.ingest.formats.qlogs import QueryLogs, qlog_lines
from aidos.ingest.linewise import numbered_lines, read_lines
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.recognise import PARQUET, FittedFormat, recognise, take_sample
from aidos.ingest.repair import repaired, transcoded
from aidos.ingest.sources import Source
from aidos.ingest.spool import Spool

__all__ = ["Inspection", "inspect_dataset", "inspect_source"]

LOST_LINES = ("line-too-long", "invalid-utf8")
"""Byte troubles that cost the whole line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Everything known about one file."""

    file: str
    format: str = ""
    title: str = ""
    why: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Column of the schema to column of the file."""
    facts: Facts | None = None
    problems: tuple[Problem, ...] = ()
    """What stands in the way."""
    skipped: tuple[Problem, ...] = ()
    """Rows left out on the user's word."""
    accepted: tuple[str, ...] = ()
    """Kinds of trouble that were mended on the user's word."""
    notes: tuple[str, ...] = ()
    spool: Spool | None = None


def inspect_source(engine: EmbeddedEngine, source: Source, options: ReadOptions) -> Inspection:
    """Look into a file."""
    if source.is_parquet or options.format == PARQUET:
        return _inspect_parquet(engine, source, options)
    problems: list[Problem] = []
    text = source
    if options.encoding.lower().replace("_", "-") not in {"utf-8", "utf8"}:
        text, problems = transcoded(source, options.encoding, engine.scratch / f"{engine.fresh_name()}.txt")
    scanned = scan(text, engine.progress)
    problems += scanned.problems
    if problems and not scanned.found:
        return Inspection(file=source.name, problems=tuple(problems))
    if not scanned.is_clean:
        text = repaired(text, engine.scratch / f"{engine.fresh_name()}.txt")
    return _inspect_text(engine, text, scanned, options)


def inspect_dataset(engine: EmbeddedEngine, name: str, options: ReadOptions) -> Inspection:
    """Look into a query log of the ir_datasets package."""
    known = QueryLogs()
    begun = Inspection(file=name, format=known.name, title=known.title, why="by its name")
    try:
        spool = read_lines(engine, name, known, qlog_lines(name), options.normalise)
    except InputError as error:
        found = replace(describe("missing-file", name), sentence=error.message, remedy=error.hint)
        return replace(begun, problems=(found,))
    return _judged(engine, begun, spool, options)


def _inspect_parquet(engine: EmbeddedEngine, source: Source, options: ReadOptions) -> Inspection:
    understood, outcome = read_parquet(engine, source, options)
    begun = Inspection(file=source.name, format=PARQUET, title="Parquet", why="by its first bytes")
    if isinstance(outcome, Problem) or understood is None:
        return replace(begun, problems=(cast("Problem", outcome),))
    begun = replace(begun, title=understood.title, why=understood.why)
    return _judged(engine, begun, outcome, options)


def _inspect_text(engine: EmbeddedEngine, text: Source, scanned: Scan, options: ReadOptions) -> Inspection:
    sample = take_sample(text)
    lost = sum(scanned.found[kind].count for kind in LOST_LINES if kind in scanned.found)
    if not any(line.strip() for line in sample.lines):
        return _verdict(Inspection(file=text.name), scanned.problems, options, rows=lost)
    choice = recognise(text, sample, options)
    if isinstance(choice, Problem):
        return _verdict(Inspection(file=text.name), [*scanned.problems, choice], options, rows=scanned.lines)
    known = choice.format
    begun = Inspection(file=text.name, format=known.name, title=known.title, why=choice.why)
    spool, problems = _read_text(engine, text, known, sample, options)
    problems = [*scanned.problems, *problems]
    if spool is None:
        return _verdict(begun, problems, options, rows=scanned.lines)
    return _judged(engine, replace(begun, problems=tuple(problems)), spool, options, lost=lost)


def _read_text(
    engine: EmbeddedEngine, text: Source, known: LineFormat | DelimitedFormat, sample: Sample, options: ReadOptions
) -> tuple[Spool | None, list[Problem]]:
    if not hasattr(known, "plan"):
        if isinstance(known, FittedFormat):
            known = known.fitted(sample, options.columns)
        total = text.size if text.compression == "none" else None
        with engine.progress.task(f"reading {text.name}", total=total, unit="B") as task:
            return read_lines(engine, text.name, known, numbered_lines(text, task), options.normalise), []
    plan = cast("DelimitedFormat", known).plan(text.name, sample, options)
    if plan.layout is None:
        return None, list(plan.problems)
    wrong = wrong_delimiter(text, plan.layout, sample)
    if wrong is not None:
        return None, [wrong]
    outcome = read_delimited(engine, text, plan.layout, options.normalise, sample)
    if isinstance(outcome, Problem):
        return None, [*plan.problems, outcome]
    return outcome, list(plan.problems)


def _judged(
    engine: EmbeddedEngine, begun: Inspection, spool: Spool, options: ReadOptions, *, lost: int = 0
) -> Inspection:
    """The facts of a spool, and the verdict."""
    facts = find_facts(engine, spool, label=f"counting {begun.file}")
    found = [*begun.problems, *spool.problems]
    if not facts.rows and not found:
        found.append(describe("header-only", begun.file, lines=(1,)))
    found += find_problems(engine, begun.file, spool, facts, options)
    known = replace(begun, columns=spool.columns, facts=facts, spool=spool, notes=spool.notes)
    judged = _verdict(known, found, options, rows=facts.rows + spool.rejected + lost)
    if not judged.skipped:
        return judged
    kept = replace(spool, sql=f"select * from ({spool.sql}) where {good_rows(spool, options)}")
    return replace(judged, facts=find_facts(engine, kept))


def _verdict(begun: Inspection, problems: Sequence[Problem], options: ReadOptions, *, rows: int) -> Inspection:
    """Which problems stand, which rows are left out, and what was accepted."""
    accepted = [problem for problem in problems if problem.kind in options.accept]
    bad_rows = [problem for problem in problems if problem.rows_can_be_skipped]
    standing = [problem for problem in problems if problem not in accepted and problem not in bad_rows]
    skipped: list[Problem] = []
    if not options.skip_bad_rows:
        standing = [problem for problem in problems if problem not in accepted]
    elif 2 * sum(problem.count for problem in bad_rows) > rows:
        remedy = "more than half of the rows are bad, so they are not left out: look for another format or option"
        standing += [replace(problem, remedy=remedy, option="", rows_can_be_skipped=False) for problem in bad_rows]
    else:
        skipped = bad_rows
    notes = [f"{begun.file}: accepted {problem.kind} ({problem.count:,})" for problem in accepted]
    return replace(
        begun,
        problems=tuple(standing),
        skipped=tuple(skipped),
        accepted=tuple(problem.kind for problem in accepted),
        notes=(*begun.notes, *notes),
    )
