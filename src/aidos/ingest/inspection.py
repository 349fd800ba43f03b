"""One file from its bytes to a verdict: what it is, what is in it, what is wrong, and what of that was accepted."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from aidos.core.records import SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, Problem
from aidos.ingest.advice import Unused, unused_columns
from aidos.ingest.bytescan import Scan, scan
from aidos.ingest.columnar import read_parquet
from aidos.ingest.delimited import read_delimited, wrong_delimiter
from aidos.ingest.facts import Facts, find_facts, find_problems, good_rows
from aidos.ingest.formats.base import DelimitedFormat, LineFormat
from aidos.ingest.formats.jsonl import JsonLines
from aidos.ingest.formats.qlogs import QueryLogs, qlog_lines
from aidos.ingest.options import ReadOptions
from aidos.ingest.problems import describe
from aidos.ingest.recognise import PARQUET, FittedFormat, declaration, name_other_file, recognise, take_sample
from aidos.ingest.repair import CleanText, repaired, transcoded
from aidos.ingest.sources import Source, numbered_lines
from aidos.ingest.spool import Spool, read_lines

__all__ = ["Inspection", "inspect_dataset", "inspect_source"]

LOST_LINES = frozenset({"line-too-long", "invalid-utf8", "nul-bytes", "mixed-line-ends"})
"""Byte troubles that cost the whole line unless they are accepted."""


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
    if not source.is_parquet and not _is_unproven(options) and (other := name_other_file(source)) is not None:
        return Inspection(file=source.name, problems=(other,))
    if source.is_parquet or options.format == PARQUET:
        return _inspect_parquet(engine, source, options)
    problems: list[Problem] = []
    text = source
    if codecs.lookup(options.encoding).name != "utf-8":
        text, problems = transcoded(source, options.encoding, _scratch(engine))
    scanned, any_end = _scan(engine, text, options)
    problems += scanned.problems
    if problems and not scanned.found:
        return Inspection(file=source.name, problems=tuple(problems))
    blank = scanned.blank
    if not scanned.is_clean:
        mended = repaired(text, _scratch(engine), any_end=any_end, drop_nuls="nul-bytes" in options.accept)
        text, blank = mended.source, mended.blank
    sample = take_sample(text)
    clean = CleanText(text, sample, scanned.lines, blank, scanned.has_quotes, scanned.is_plain)
    return _inspect_text(engine, clean, scanned, options)


def _scan(engine: EmbeddedEngine, text: Source, options: ReadOptions) -> tuple[Scan, bool]:
    """What is wrong with the bytes, and whether every kind of line end is one, on the owner's word."""
    scanned = scan(text, engine.progress, encoding=options.encoding)
    strays = scanned.found.get("mixed-line-ends")
    if strays is None or "mixed-line-ends" not in options.accept:
        return scanned, False
    again = scan(text, engine.progress, any_end=True, encoding=options.encoding)
    again.found["mixed-line-ends"] = strays
    again.problems.append(describe("mixed-line-ends", text.name, lines=strays.lines, count=strays.count))
    return again, True


def _scratch(engine: EmbeddedEngine) -> Path:
    return engine.scratch / f"{engine.fresh_name()}.txt"


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


def _inspect_text(engine: EmbeddedEngine, text: CleanText, scanned: Scan, options: ReadOptions) -> Inspection:
    name = text.source.name
    lost = {kind: tally for kind, tally in scanned.found.items() if kind in LOST_LINES - set(options.accept)}
    rows_lost = sum(tally.count for tally in lost.values())
    if not text.sample.first.strip():
        return _verdict(Inspection(file=name), scanned.problems, options, rows=rows_lost)
    choice = recognise(text.source, text.sample, options)
    if isinstance(choice, Problem):
        return _verdict(Inspection(file=name), [*scanned.problems, choice], options, rows=scanned.lines)
    known = choice.format
    begun = Inspection(file=name, format=known.name, title=known.title, why=choice.why)
    if choice.guessed:
        told = declaration(known, text.sample, options.columns())
        begun = replace(begun, notes=(f"{name}: recognised by its rows; a release must be told: {told}",))
    if isinstance(known, DelimitedFormat):
        first = min((tally.lines[0] for tally in lost.values()), default=text.first_line)
        spool, problems = _read_delimited(engine, text, known, options, header_lost=first < text.first_line)
    else:
        spool, problems = _read_lines(engine, text, known, options), _not_told(name, known, options)
    spans_lines = spool is not None and spool.spans_lines
    problems = [*(_standing(found) if spans_lines else found for found in scanned.problems), *problems]
    if spool is None:
        return _verdict(begun, problems, options, rows=scanned.lines)
    return _judged(engine, replace(begun, problems=tuple(problems)), spool, options, lost=rows_lost)


def _standing(found: Problem) -> Problem:
    """The problem as one that no row can be left out for: where rows span lines, that would tear them apart."""
    return replace(found, rows_can_be_skipped=False)


def _not_told(file: str, known: LineFormat, options: ReadOptions) -> list[Problem]:
    """Columns that are needed and not declared; in JSON lines a field is declared by its name on the command line."""
    if not isinstance(known, JsonLines):
        return _not_in_format(file, known, known.columns().values(), options)
    return [
        describe("undeclared-field", file, column=column, meaning=meaning)
        for column, meaning in _needed(options, options.columns())
    ]


def _not_in_format(
    file: str, known: LineFormat | DelimitedFormat, mapped: Collection[str], options: ReadOptions
) -> list[Problem]:
    """Columns that are needed and that the format does not have."""
    return [
        describe("not-in-format", file, column=column, title=known.title, meaning=meaning)
        for column, meaning in _needed(options, mapped)
    ]


def _needed(options: ReadOptions, mapped: Collection[str]) -> list[tuple[str, str]]:
    """The columns that are needed besides the required ones and not mapped, with their meaning."""
    return [
        (column.name, f"{column.name} ({column.about})")
        for column in SEARCH_LOG.columns
        if column.name in options.needed and not column.required and column.name not in mapped
    ]


def _read_lines(engine: EmbeddedEngine, text: CleanText, known: LineFormat, options: ReadOptions) -> Spool:
    if isinstance(known, FittedFormat):
        sample = replace(text.sample, lines=()) if _is_unproven(options) else text.sample
        known = known.fitted(sample, options.columns(), declared=options.for_release)
    unused: tuple[Unused, ...] = ()
    if isinstance(known, JsonLines) and not options.for_release:
        known.look(sample)
        unused = unused_columns(known.fields, known.schema, known.mapping, known.looks)
    source = text.source
    total = source.size if source.compression == "none" else None
    with engine.progress.task(f"reading {source.name}", total=total, unit="B") as task:
        spool = read_lines(engine, source.name, known, numbered_lines(source, task), options.normalise)
    return replace(spool, unused=unused)


def _read_delimited(
    engine: EmbeddedEngine, text: CleanText, known: DelimitedFormat, options: ReadOptions, *, header_lost: bool
) -> tuple[Spool | None, list[Problem]]:
    plan = known.plan(text.source.name, text.sample, options)
    if plan.layout is None:
        return None, list(plan.problems)
    if plan.layout.has_header and header_lost:
        return None, [describe("bad-header", text.source.name)]
    told = plan.layout.mapping.keys() | {problem.column for problem in plan.problems}
    problems = [*plan.problems, *_not_in_format(text.source.name, known, told, options)]
    if not _is_unproven(options):
        wrong = wrong_delimiter(text.source, plan.layout, text.sample)
        if wrong is not None:
            return None, [wrong]
    elif not plan.layout.width_is_known:
        problems.append(describe("guessed-width", text.source.name))
    outcome = read_delimited(engine, text, plan.layout, options.normalise, options.wanted)
    if isinstance(outcome, Problem):
        return None, [*problems, _standing(outcome)]
    return replace(outcome, unused=plan.unused), problems


def _is_unproven(options: ReadOptions) -> bool:
    """Whether nothing proves a guess: a release whose bad rows are left out, where no row is refused."""
    return options.for_release and options.skip_bad_rows


def _judged(
    engine: EmbeddedEngine, begun: Inspection, spool: Spool, options: ReadOptions, *, lost: int = 0
) -> Inspection:
    """The facts of a spool, and the verdict."""
    facts = find_facts(engine, spool, label=f"counting {begun.file}", brief=options.for_release)
    found = [*begun.problems, *spool.problems]
    if not facts.rows and not found and not options.for_release:  # of nobody, a release says what it says of one
        found.append(describe("header-only", begun.file, lines=(1,)))
    found += find_problems(engine, begun.file, spool, facts, options)
    notes = (*begun.notes, *spool.notes, *(f"{begun.file}: {note}" for note in facts.notes()))
    known = replace(begun, columns=spool.columns, facts=facts, spool=spool, notes=notes)
    judged = _verdict(known, found, options, rows=facts.rows + spool.rejected + lost)
    if not judged.skipped:
        return judged
    kept = replace(spool, sql=f"select * from ({spool.sql}) where {good_rows(spool, options)}")
    return replace(judged, facts=find_facts(engine, kept, brief=options.for_release))


def _verdict(begun: Inspection, problems: Sequence[Problem], options: ReadOptions, *, rows: int) -> Inspection:
    """Which problems stand, which rows are left out, and what was accepted."""
    mended = {*options.accept, "byte-order-mark"} if options.skip_bad_rows else set(options.accept)
    accepted = [problem for problem in problems if problem.kind in mended]
    bad_rows = [problem for problem in problems if problem.rows_can_be_skipped and problem not in accepted]
    standing = [problem for problem in problems if problem not in accepted and problem not in bad_rows]
    skipped: list[Problem] = []
    if not options.skip_bad_rows:
        standing = [problem for problem in problems if problem not in accepted]
    elif 2 * sum(problem.count for problem in bad_rows) > rows and not options.for_release:
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
