"""Generic JSON lines: one object a line, its fields found by their names or by the user's column mapping.

Which field is which column is settled once for a file, from the fields of its first documents, so that a person is
named by the same field throughout; fields that turn up later are not looked at. For a release no document may settle
that: a field has the name of its column, or ``--column`` says another. Dotted names reach into nested
objects. Where nothing says what was done, a row with an object is a click and any other a query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from aidos.core.records import POSTS, SEARCH_LOG, Column, Schema
from aidos.ingest.advice import Look, look_at
from aidos.ingest.columns import choose_schema, map_columns
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import (
    Document,
    UnreadableError,
    bulk_index,
    decimal,
    load_document,
    look_up,
    moment,
    person,
    sample_documents,
    text,
    whole,
)
from aidos.ingest.formats.markup import without_markup

__all__ = ["JsonLines"]

BOUND_BY = 200
"""How many first lines settle the fields when the file was not looked at before: as many as a sample has."""
Cell = tuple[str, str, bool, Callable[[Any, str], object]]
"""A column, the name of its field, whether it is nested, and how its cells are read."""


class JsonLines:
    """JSON objects of any kind of table, by the names of their fields."""

    name = "jsonl"
    title = "JSON lines"

    def __init__(
        self, schema: Schema = SEARCH_LOG, mapping: Mapping[str, str] | None = None, fields: Sequence[str] = ()
    ) -> None:
        """Read the columns of a schema from the fields they are mapped to; by the fields' names when not given."""
        self.schema = schema
        self.mapping = dict(mapping or {})
        self.fields = tuple(fields)
        self.looks: Mapping[str, Look] | None = None

    def fitted(self, sample: Sample, columns: Mapping[str, str], *, declared: bool = False) -> JsonLines:
        """The format for one file: the fields that the sample has, and the columns that the user named."""
        fields = _field_names(sample_documents(sample))
        if declared:
            return JsonLines(SEARCH_LOG, {name: columns.get(name, name) for name in SEARCH_LOG.names()}, fields)
        schema = choose_schema(fields, columns)
        return JsonLines(schema, map_columns(fields, schema, columns), fields)

    def look(self, sample: Sample) -> None:
        """See what the fields look like, for advice."""
        documents = [document for line in (*sample.lines, *sample.further) if (document := _loaded(line))]
        rows = ([text(look_up(document, name)) or "" for name in self.fields] for document in documents)
        self.looks = look_at(self.fields, rows)

    def recognise(self, sample: Sample) -> Recognition | None:
        """By JSON objects; more surely when the fields of a table are among them."""
        lines = [line for line in sample.lines if line.strip()]
        if not lines or 2 * sum(line.lstrip().startswith("{") for line in lines) <= len(lines):
            return None
        if not sample_documents(sample):
            return Recognition(0.6, "lines that begin with a brace, as JSON objects do, though most are broken")
        fitted = self.fitted(sample, {})
        if all(column.name in fitted.mapping for column in fitted.schema.columns if column.required):
            return Recognition(0.65, f"JSON objects, one a line, with all the fields needed ({fitted.schema.title})")
        return Recognition(0.6, "JSON objects, one a line")

    def columns(self) -> Mapping[str, str]:
        return {field: column for column, field in self.mapping.items()}

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        if self.mapping:
            return self._rows(lines)
        numbered = iter(lines)
        first = list(islice(numbered, BOUND_BY))
        fields = _field_names(sample_documents(Sample("", tuple(line for _, line in first))))
        bound = JsonLines(self.schema, map_columns(fields, self.schema, {}), fields)
        return bound._rows(chain(first, numbered))

    def _rows(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        cells, unmapped = self._cells(), self._unmapped()
        acts = self.schema is SEARCH_LOG
        for number, line in lines:
            try:
                document = load_document(line)
                if document is None:
                    continue
                if unmapped is not None:
                    raise unmapped
                values = {
                    column: read(look_up(document, field) if nested else document.get(field), field)
                    for column, field, nested, read in cells
                }
                if acts and values.get("action") is None:
                    values["action"] = "click" if values.get("object_id") is not None else "query"
                yield Row(number, values)
            except UnreadableError as bad:
                yield bad.at(number)

    def _cells(self) -> list[Cell]:
        return [
            (column.name, field, "." in field, _reader(column, self.schema))
            for column in self.schema.columns
            if (field := self.mapping.get(column.name)) is not None
        ]

    def _unmapped(self) -> UnreadableError | None:
        """What to say of every row when a required column has no field."""
        for column in self.schema.columns:
            if column.required and not self._has(self.mapping.get(column.name)):
                return UnreadableError(
                    "missing-column", f"no field holds the {column.name} ({column.about})", column.name
                )
        return None

    def _has(self, field: str | None) -> bool:
        """Whether a column has a field, and that one is among the first documents' where these were looked at."""
        seen = any(field == name or f"{field}.".startswith(f"{name}.") for name in self.fields)
        return field is not None and (seen or not self.fields)


def _loaded(line: str) -> Document | None:
    try:
        return load_document(line)
    except UnreadableError:
        return None


def _field_names(documents: Iterable[Document]) -> tuple[str, ...]:
    """The names of all fields, nested ones with dots, in the order they turn up."""
    names: dict[str, None] = {}
    for document in documents:
        if bulk_index(document) is None:
            for name, value in document.items():
                inner = value if isinstance(value, dict) else {}
                names |= dict.fromkeys([f"{name}.{key}" for key in inner] or [name])
    return tuple(names)


def _reader(column: Column, schema: Schema) -> Callable[[Any, str], object]:
    if column.name == schema.person:
        return person
    readers = {"TIMESTAMP": moment, "INTEGER": whole, "DOUBLE": _number}
    if column.type in readers:
        return readers[column.type]
    read = _words if column.name in ("user_query", "text") else _name
    # What communities post is often HTML, which is how words look and not words.
    return _shown_by(read) if schema is POSTS and column.name in ("text", "title") else read


def _shown_by(read: Callable[[Any, str], str | None]) -> Callable[[Any, str], str | None]:
    def shown(value: object, field: str) -> str | None:
        found = read(value, field)
        return without_markup(found) if found else found

    return shown


def _number(value: object, field: str) -> float | None:
    written = text(value)
    return None if written is None else decimal(written, field)


def _words(value: object, field: str) -> str | None:  # noqa: ARG001 (one signature for all readers)
    """What a person wrote, blanks and all."""
    return value if isinstance(value, str) else text(value)


def _name(value: object, field: str) -> str | None:  # noqa: ARG001 (one signature for all readers)
    if isinstance(value, list):
        return " ".join(name for item in value if (name := text(item)) is not None) or None
    return text(value)
