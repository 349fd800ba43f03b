"""Files with one row for each ranked object: rows that follow each other and name the same ranking are a ranking.

A row that cannot be read may belong to the ranking before it or to the one after it: it spoils both, unless both are
the same. Only the rows of one ranking are held.

CSV and TSV have a line of column names, then the rows. TREC runs have query, Q0, document, rank, score and tag, with
white space between; the tag is the system. A run names no rankings, so each query is one. Ids with white space in them
cannot be written in this format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from aidos.errors import Problem
from aidos.ingest.rankings.checks import Origin
from aidos.ingest.rankings.columns import BODY, HEAD, find_columns, missing_columns, name_ranking, naming_column
from aidos.ingest.rankings.lines import duplicate_columns, is_text, opened_lines, table_rows
from aidos.ingest.rankings.rows import RawRanking, labels_of, numbers_of_texts
from aidos.ingest.rankings.troubles import Complaints, refuse
from aidos.ingest.sources import Source

__all__ = ["Heading", "Row", "group_rows", "heading_of", "looks_like_run", "read_delimited", "read_run"]

Row = tuple[int, Any, Any]
"""A line or row number, what the row says of its ranking, and what it says of the object; None for unreadable rows."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the rows of a ranking have in common."""

    ranking_id: str
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""


def heading_of(cells: Mapping[str, str]) -> Heading:
    """The heading that those cells give; columns that the file does not have are left out."""
    query, system = cells.get("query_id", ""), cells.get("system", "")
    name = name_ranking(cells.get("ranking_id"), cells.get("ranking"), query, system)
    return Heading(name, query, cells.get("searcher_id", ""), system)


def group_rows(
    rows: Iterable[Row],
    *,
    head: Callable[[Any], Heading],
    build: Callable[[Heading, list[Any], list[int]], RawRanking],
    tell_unnamed: Callable[[int], None],
) -> Iterator[RawRanking]:
    """Rankings from rows; ``tell_unnamed`` hears of rows that do not say which ranking they belong to."""
    current: object = object()
    heading = Heading("")
    held: list[Any] = []
    lines: list[int] = []
    spoiled = tainted = False
    for line, key, cells in rows:
        if key == current:
            lines.append(line)
            held.append(cells)
            tainted = False
            continue
        named = head(key) if key is not None else Heading("")
        if not named.ranking_id:
            if key is not None:
                tell_unnamed(line)
            spoiled = tainted = True
            continue
        if held:
            yield _built(build, heading, held, lines, spoiled=spoiled)
        current, heading, held, lines = key, named, [cells], [line]
        spoiled, tainted = tainted, False
    if held:
        yield _built(build, heading, held, lines, spoiled=spoiled)


def _built(
    build: Callable[[Heading, list[Any], list[int]], RawRanking],
    heading: Heading,
    held: list[Any],
    lines: list[int],
    *,
    spoiled: bool,
) -> RawRanking:
    raw = build(heading, held, lines)
    raw.spoiled = spoiled
    return raw


def read_delimited(
    source: Source, delimiter: str, renames: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a table, unchecked."""
    names, rows = table_rows(source, delimiter)
    found = find_columns(names, renames)
    required = ("object_id", "score", "system") if system else ("object_id", "score")
    if problems := [
        *missing_columns(source.name, names, found, required, lines=(1,)),
        *duplicate_columns(source, names, list(found.values())),
    ]:
        raise refuse(*problems)
    origin = Origin(file=source.name, names=found)
    layout = _Layout(names, found)
    unnamed = naming_column(found)
    for raw in group_rows(
        _rows(rows, layout, system, complaints),
        head=layout.head,
        build=layout.build,
        tell_unnamed=lambda line: complaints.add(origin.problem("empty-id", line, unnamed)),
    ):
        yield raw, origin


@dataclass(slots=True)
class _Layout:
    """Which cells of a row say what."""

    names: Sequence[str]
    found: Mapping[str, str]
    heads: list[str] = field(init=False)
    bodies: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.heads = [column for column in HEAD if column in self.found]
        self.bodies = [column for column in BODY if column in self.found]

    def cells(self, columns: Sequence[str]) -> Callable[[Sequence[str]], Any]:
        """Takes those cells out of a row: a single one as it is, several as a tuple."""
        return itemgetter(*(self.names.index(self.found[column]) for column in columns))

    def head(self, key: Any) -> Heading:
        """What the rows of a ranking have in common."""
        return heading_of(dict(zip(self.heads, (key,) if len(self.heads) == 1 else key, strict=True)))

    def build(self, heading: Heading, held: list[tuple[str, ...]], lines: list[int]) -> RawRanking:
        """The ranking of those rows."""
        columns: dict[str, tuple[str, ...]] = dict(zip(self.bodies, zip(*held, strict=True), strict=True))
        ranks = columns.get("position")
        return RawRanking(
            ranking_id=heading.ranking_id,
            query_id=heading.query_id,
            searcher_id=heading.searcher_id,
            system=heading.system,
            object_ids=columns["object_id"],
            scores=numbers_of_texts(columns["score"]),
            positions=None if ranks is None else numbers_of_texts(ranks, otherwise=math.inf),
            groups=labels_of(columns.get("group", ())),
            actors=labels_of(columns.get("actor", ())),
            lines=lines,
        )


def _rows(
    rows: Iterator[tuple[int, list[str] | Problem]], layout: _Layout, system: str, complaints: Complaints
) -> Iterator[Row]:
    key_of, cells_of = layout.cells(layout.heads), layout.cells(layout.bodies)
    system_of = layout.cells(["system"]) if system else None
    for line, row in rows:
        if isinstance(row, Problem):
            complaints.add(row)
            yield line, None, None
        elif system_of is None or system_of(row) == system:
            yield line, key_of(row), cells_of(row)


FIELDS = 6
NAMES = {"query_id": "qid", "object_id": "docno", "position": "rank", "system": "tag"}


def read_run(source: Source, system: str, complaints: Complaints) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a run, unchecked."""
    origin = Origin(file=source.name, names=NAMES)
    rows = _run_rows(source, origin, system, complaints)
    for raw in group_rows(rows, head=_head, build=_build, tell_unnamed=lambda _: None):
        yield raw, origin


def looks_like_run(line: str) -> bool:
    """Whether a line has the six fields of a run, numbers where they belong."""
    fields = line.split()
    return len(fields) == FIELDS and bool(numbers_of_texts(fields[3:5]).sum() < math.inf)


def _run_rows(source: Source, origin: Origin, system: str, complaints: Complaints) -> Iterator[Row]:
    with opened_lines(source) as lines:
        for number, line in lines:
            fields = line.split()
            if len(fields) != FIELDS or not is_text(line):
                if fields:
                    kind = "ragged-rows" if is_text(line) else "invalid-utf8"
                    complaints.add(origin.problem(kind, number, expected=FIELDS))
                    yield number, None, None
            elif not system or fields[5] == system:
                yield number, (fields[0], fields[5]), fields


def _head(key: tuple[str, str]) -> Heading:
    return Heading(key[0], key[0], "", key[1])


def _build(heading: Heading, held: list[list[str]], lines: list[int]) -> RawRanking:
    _, _, ids, ranks, scores, _ = zip(*held, strict=True)
    return RawRanking(
        ranking_id=heading.ranking_id,
        query_id=heading.query_id,
        system=heading.system,
        object_ids=ids,
        scores=numbers_of_texts(scores),
        positions=numbers_of_texts(ranks, otherwise=math.inf),
        lines=lines,
    )
