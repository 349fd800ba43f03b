"""Rankings in text: tables, TREC runs and JSON lines, one row for each ranked object or one ranking a line.

Rows that follow each other and name the same ranking are a ranking; only the rows of one are held. A row that cannot be
read may belong to the ranking before it or to the one after it: it spoils both, unless both are the same. A run names
no rankings, so each query is one; its tag is the system. Ids with white space in them cannot be written in a run.

Which field of JSON lines is which is settled by the first documents; a field that turns up later is found under our own
name for it. Fields inside other fields are not looked at, but for the list of subjects of a ranking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from typing import Any

from aidos.errors import Problem
from aidos.ingest.formats.fields import Document, text
from aidos.ingest.problems import RANKINGS, Complaints, refuse
from aidos.ingest.rankings.rows import (
    BODY,
    HEAD,
    Origin,
    RawRanking,
    find_columns,
    ids_of,
    labels_of,
    missing_columns,
    name_ranking,
    naming_column,
    numbers_of_values,
)
from aidos.ingest.rows import RUN_FIELDS, duplicate_columns, json_rows, numbers_of_texts, run_rows, table_rows
from aidos.ingest.sources import Source

__all__ = ["Heading", "Row", "group_rows", "heading_of", "read_delimited", "read_json", "read_run"]

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
    source: Source, delimiter: str, given: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a table, unchecked."""
    names, rows = table_rows(source, RANKINGS, delimiter)
    found = find_columns(names, given)
    required = ("object_id", "score", "system") if system else ("object_id", "score")
    if problems := [
        *missing_columns(source.name, names, found, required, lines=(1,)),
        *duplicate_columns(source, RANKINGS, names, list(found.values())),
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


NAMES = {"query_id": "qid", "object_id": "docno", "position": "rank", "system": "tag"}


def read_run(source: Source, system: str, complaints: Complaints) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a run, unchecked."""
    origin = Origin(file=source.name, names=NAMES)

    def rows() -> Iterator[Row]:
        for number, fields, trouble in run_rows(source):
            if trouble:
                complaints.add(origin.problem(trouble, number, expected=RUN_FIELDS))
                yield number, None, None
            elif not system or fields[5] == system:
                yield number, (fields[0], fields[5]), fields

    for raw in group_rows(rows(), head=_run_head, build=_run_build, tell_unnamed=lambda _: None):
        yield raw, origin


def _run_head(key: tuple[str, str]) -> Heading:
    return Heading(key[0], key[0], "", key[1])


def _run_build(heading: Heading, held: list[list[str]], lines: list[int]) -> RawRanking:
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


DOCUMENTS_LOOKED_AT = 20
Numbered = tuple[int, Document | None]
"""A line and its document; None when it could not be read."""


def read_json(
    source: Source, given: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a file, unchecked."""
    origin = Origin(file=source.name)
    documents = _told(json_rows(source, RANKINGS), complaints)
    first: list[Numbered] = []
    readable = 0
    while readable < DOCUMENTS_LOOKED_AT and (numbered := next(documents, None)) is not None:
        first.append(numbered)
        readable += numbered[1] is not None
    fields = _settle(source, first, given)
    if fields is None:  # not one document could be read, which was told
        return
    origin = replace(origin, names=fields.names, whole=fields.nested)
    everything = chain(first, documents)
    rankings = _nested(everything, fields, origin, system, complaints) if fields.nested else None
    for raw in rankings or _flat(everything, fields, origin, system, complaints):
        yield raw, origin


@dataclass(frozen=True, slots=True)
class _Fields:
    """Our columns and the fields of the file."""

    names: Mapping[str, str]
    nested: bool

    def get(self, document: Document, column: str) -> Any:
        return document.get(self.names.get(column, column))

    def head(self, values: Sequence[object]) -> Heading:
        """What all rows of a ranking have in common, from the values of `HEAD`."""
        given = zip(HEAD, values, strict=True)
        return heading_of({column: text(value) or "" for column, value in given if value is not None})


def _told(rows: Iterator[tuple[int, Document | Problem]], complaints: Complaints) -> Iterator[Numbered]:
    for number, found in rows:
        if isinstance(found, Problem):
            complaints.add(found)
            yield number, None
        else:
            yield number, found


def _settle(source: Source, first: Sequence[Numbered], given: Mapping[str, str]) -> _Fields | None:
    """The fields that the first documents have; InputError when some are missing."""
    readable = [(line, document) for line, document in first if document is not None]
    if not readable:
        return None
    outer = list(dict.fromkeys(chain.from_iterable(document for _, document in readable)))
    above = find_columns(outer, {ours: theirs for ours, theirs in given.items() if ours not in BODY})
    lists = [document.get(above.get("subjects", "subjects")) for _, document in readable]
    nested = any(isinstance(found, list) for found in lists)
    if nested:
        subjects = chain.from_iterable(found for found in lists if isinstance(found, list))
        inner = list(dict.fromkeys(chain.from_iterable(item for item in subjects if isinstance(item, dict))))
        below = find_columns(inner, {ours: theirs for ours, theirs in given.items() if ours in BODY})
        names = [*outer, *inner]
        found = {column: name for column, name in above.items() if column not in BODY}
        found |= {column: name for column, name in below.items() if column in BODY}
    else:
        names, found = outer, find_columns(outer, given)
        found.pop("subjects", None)
    if problems := missing_columns(source.name, names, found, ("object_id", "score"), lines=(readable[0][0],)):
        raise refuse(*problems)
    return _Fields(found, nested)


def _nested(
    documents: Iterator[Numbered], fields: _Fields, origin: Origin, system: str, complaints: Complaints
) -> Iterator[RawRanking]:
    unnamed = naming_column(fields.names)
    for line, document in documents:
        if document is None:
            continue
        heading = fields.head([fields.get(document, column) for column in HEAD])
        if system and heading.system != system:
            continue
        subjects = fields.get(document, "subjects")
        if not isinstance(subjects, list) or not set(map(type, subjects)) <= {dict}:
            reason = f"{fields.names['subjects']} is not a list of objects with named fields"
            complaints.add(origin.problem("bad-line", line, "subjects", reason=reason))
        elif not subjects:
            complaints.add(origin.problem("empty-ranking", line, "subjects"))
        elif not heading.ranking_id:
            complaints.add(origin.problem("empty-id", line, unnamed))
        else:
            yield _build(heading, subjects, [line], fields)


def _flat(
    documents: Iterator[Numbered], fields: _Fields, origin: Origin, system: str, complaints: Complaints
) -> Iterator[RawRanking]:
    unnamed = naming_column(fields.names)
    heads = [fields.names.get(column, column) for column in HEAD]
    tag = fields.names.get("system", "system")

    def rows() -> Iterator[Row]:
        for line, document in documents:
            if document is None:
                yield line, None, None
            elif not system or text(document.get(tag)) == system:
                yield line, [document.get(name) for name in heads], document

    return group_rows(
        rows(),
        head=fields.head,
        build=lambda heading, held, lines: _build(heading, held, lines, fields),
        tell_unnamed=lambda line: complaints.add(origin.problem("empty-id", line, unnamed)),
    )


def _build(heading: Heading, subjects: list[Document], lines: list[int], fields: _Fields) -> RawRanking:
    def column(name: str) -> list[Any]:
        field = fields.names.get(name, name)
        try:
            return list(map(itemgetter(field), subjects))
        except KeyError:
            return [subject.get(field) for subject in subjects]

    ranks, groups, actors = column("position"), column("group"), column("actor")
    return RawRanking(
        ranking_id=heading.ranking_id,
        query_id=heading.query_id,
        searcher_id=heading.searcher_id,
        system=heading.system,
        object_ids=ids_of(column("object_id")),
        scores=numbers_of_values(column("score")),
        positions=None if None in ranks[:1] else numbers_of_values(ranks, otherwise=math.inf),
        groups=labels_of(groups),
        actors=labels_of(actors),
        lines=lines,
    )
