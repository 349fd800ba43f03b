"""JSON lines: one ranking a line with a list of subjects inside, or one row a line for each ranked object.

Which field is which is settled by the first documents; a field that turns up later is found under our own name for it.
Fields inside other fields are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any

from pydantic_core import from_json

from aidos.ingest.formats.fields import Document, UnreadableError, load_document, text
from aidos.ingest.rankings.checks import Origin
from aidos.ingest.rankings.columns import BODY, HEAD, find_columns, missing_columns, naming_column
from aidos.ingest.rankings.flat import Heading, Row, group_rows, heading_of
from aidos.ingest.rankings.lines import is_text, opened_lines
from aidos.ingest.rankings.rows import RawRanking, ids_of, labels_of, numbers_of_values
from aidos.ingest.rankings.troubles import Complaints, refuse
from aidos.ingest.sources import Source

__all__ = ["read_json"]

DOCUMENTS_LOOKED_AT = 20
Numbered = tuple[int, Document | None]
"""A line and its document; None when it could not be read."""


def read_json(
    source: Source, renames: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a file, unchecked."""
    origin = Origin(file=source.name)
    documents = _documents(source, origin, complaints)
    first: list[Numbered] = []
    readable = 0
    while readable < DOCUMENTS_LOOKED_AT and (numbered := next(documents, None)) is not None:
        first.append(numbered)
        readable += numbered[1] is not None
    fields = _settle(source, first, renames)
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


def _documents(source: Source, origin: Origin, complaints: Complaints) -> Iterator[Numbered]:
    with opened_lines(source) as lines:
        for number, line in lines:
            try:
                document = _load(line)
            except UnreadableError as bad:
                kind = "bad-json" if is_text(line) else "invalid-utf8"
                complaints.add(origin.problem(kind, number, reason=bad.sentence))
                yield number, None
                continue
            if document is None:
                continue
            if not line.isascii() and not is_text(line):
                complaints.add(origin.problem("invalid-utf8", number))
                document = None
            yield number, document


def _load(line: str) -> Document | None:
    """The document of a line, by the quicker parser where it is a plain object; the other one knows what is wrong."""
    try:
        document = from_json(line)
    except (ValueError, TypeError):  # TypeError: bytes that are no UTF-8, which come as lone surrogates
        return load_document(line)
    if type(document) is not dict or len(document) == 1 or "_source" in document:
        return load_document(line)
    return document


def _settle(source: Source, first: Sequence[Numbered], renames: Mapping[str, str]) -> _Fields | None:
    """The fields that the first documents have; InputError when some are missing."""
    readable = [(line, document) for line, document in first if document is not None]
    if not readable:
        return None
    outer = list(dict.fromkeys(chain.from_iterable(document for _, document in readable)))
    above = find_columns(outer, {theirs: ours for theirs, ours in renames.items() if ours not in BODY})
    lists = [document.get(above.get("subjects", "subjects")) for _, document in readable]
    nested = any(isinstance(found, list) for found in lists)
    if nested:
        subjects = chain.from_iterable(found for found in lists if isinstance(found, list))
        inner = list(dict.fromkeys(chain.from_iterable(item for item in subjects if isinstance(item, dict))))
        below = find_columns(inner, {theirs: ours for theirs, ours in renames.items() if ours in BODY})
        names = [*outer, *inner]
        found = {column: name for column, name in above.items() if column not in BODY}
        found |= {column: name for column, name in below.items() if column in BODY}
    else:
        names, found = outer, find_columns(outer, renames)
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
