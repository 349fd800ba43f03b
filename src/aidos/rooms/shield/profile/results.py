"""Lists of search results in files: an answer of SearXNG, a plain list in JSON, JSON lines, or a table with a header.

A result needs an address or a title. Fields may be called as search services call them (``url`` or ``link``; ``title``
or ``name``; ``content``, ``snippet``, ``description``, ``abstract`` or ``text``); all others are kept as they are, so
that the list can be written again in another order. Messages name places in the file and quote nothing of it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from aidos.core.jsontext import parse_json
from aidos.engine import inputs
from aidos.engine.files import write_text
from aidos.errors import InputError
from aidos.ingest.formats.fields import UnreadableError
from aidos.ingest.history.document import address_words
from aidos.ingest.results.saved import has_result_fields, pick_fields
from aidos.service.answers import ShapeError, need_list, need_object, read_text

__all__ = ["FoundResult", "ResultList", "parse_results", "read_results", "write_results"]

LARGEST = 1 << 26
MOST = 10_000
SHAPES = "an answer of SearXNG (format=json), a list of objects in JSON or JSON lines, or a table with url and title"

Kind = Literal["answer", "list", "lines", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundResult:
    """One result of a list."""

    title: str
    url: str
    snippet: str
    raw: Mapping[str, Any] = field(repr=False)
    """As the file has it."""

    @property
    def site(self) -> str:
        """The host of its address; empty where there is none."""
        try:
            return (urlsplit(self.url).hostname or "").lower()
        except ValueError:
            return ""

    @property
    def text(self) -> str:
        """What is known of it, to find its topics by; of the address host and path alone."""
        return "\n".join(part for part in (self.title, self.snippet, address_words(self.url) or "") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultList:
    """A list of results in the order of the file."""

    results: tuple[FoundResult, ...]
    kind: Kind
    query: str = ""
    """What was searched for, where the file says so."""
    whole: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """All of an answer; the columns of a table under ``columns`` and its delimiter."""


def read_results(path: Path) -> ResultList:
    """The list of a file; what it is is found out from its content."""
    text = inputs.read_text(path, most=LARGEST, hint=f"expected is {SHAPES}")
    return _checked(str(path), lambda: _read_json(text) if text.lstrip()[:1] in ("{", "[") else _read_table(text))


def parse_results(value: object, called: str) -> ResultList:
    """The list of a value as JSON has it: an answer of SearXNG, or a list of objects."""
    return _checked(called, lambda: _listed(value))


def _checked(called: str, read: Callable[[], ResultList]) -> ResultList:
    try:
        found = read()
    except ShapeError as error:
        raise InputError(f"{called}: {error}", hint=f"expected is {SHAPES}") from error
    if not found.results:
        raise InputError(f"{called} holds no result", hint=f"expected is {SHAPES}")
    if len(found.results) > MOST:
        raise InputError(f"{called} holds {len(found.results):,} results, {MOST:,} is the most")
    return found


def write_results(path: Path, found: ResultList, order: Sequence[int]) -> None:
    """The list in another order, in the form that it came in, readable by its owner only."""
    entries = [dict(found.results[place].raw) for place in order]
    if found.kind == "table":
        held = io.StringIO()
        writer = csv.DictWriter(held, found.whole["columns"], delimiter=found.whole["delimiter"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(entries)
        text = held.getvalue()
    elif found.kind == "lines":
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    else:
        value = {**found.whole, "results": entries} if found.kind == "answer" else entries
        text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write_text(path, text, private=True)


def _read_json(text: str) -> ResultList:
    try:
        value = parse_json(text)
    except ValueError as error:
        if text.lstrip().startswith("["):
            raise ShapeError("it is no JSON") from error
        return _read_lines(text)
    return _listed(value)


def _listed(value: Any) -> ResultList:
    if isinstance(value, list):
        return ResultList(results=_results(value, "result"), kind="list")
    if "results" not in need_object(value, "the list"):
        return ResultList(results=_results([value], "result"), kind="lines")
    results = _results(need_list(value["results"], "results"), "result")
    return ResultList(results=results, kind="answer", query=read_text(value, "query"), whole=value)


def _read_lines(text: str) -> ResultList:
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entries.append(parse_json(line))
            except ValueError as error:
                raise ShapeError(f"line {number} is no JSON") from error
    return ResultList(results=_results(entries, "line"), kind="lines")


def _read_table(text: str) -> ResultList:
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = [name.strip() for name in next(rows, [])]
        if not has_result_fields(columns):
            raise ShapeError("the first line names no column url or title")
        entries = []
        for row in filter(None, rows):
            if len(row) != len(columns):
                raise ShapeError(f"line {rows.line_num} has {len(row)} cells for {len(columns)} columns")
            entries.append(dict(zip(columns, row, strict=True)))
    except csv.Error as error:
        raise ShapeError(f"line {rows.line_num} is no row of a table") from error
    whole = {"columns": columns, "delimiter": delimiter}
    return ResultList(results=_results(entries, "row"), kind="table", whole=whole)


def _results(entries: Sequence[object], noun: str) -> tuple[FoundResult, ...]:
    named = ((entry, f"{noun} {place}") for place, entry in enumerate(entries, start=1))
    return tuple(_result(need_object(entry, where), where) for entry, where in named)


def _result(entry: dict[str, Any], where: str) -> FoundResult:
    try:
        url, title, snippet = pick_fields(entry)
    except UnreadableError as error:
        raise ShapeError(f"{where}: {error.sentence}") from error
    if not (url or title):
        raise ShapeError(f"{where} has neither an address nor a title")
    return FoundResult(title=title, url=url, snippet=snippet, raw=entry)
