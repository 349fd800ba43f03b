"""The files of saved lists as streams of objects: JSON whole or by line, tables, Parquet, TREC runs, saved pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, assert_never

from aidos.core.jsontext import parse_json
from aidos.engine.unpacking import zip_members
from aidos.errors import Problem
from aidos.ingest.problems import PAIRS, refuse
from aidos.ingest.recognise import name_other_file
from aidos.ingest.results.documents import read_page
from aidos.ingest.results.names import Renames, field_names, shown_names, side_of_word
from aidos.ingest.results.saved import Place
from aidos.ingest.rows import DAMAGED, RUN_FIELDS, json_rows, looks_like_run, opened_parquet, run_rows, table_rows
from aidos.ingest.sources import BROKEN_STREAM, Source, first_text, open_bytes, opened_lines

__all__ = ["Form", "Numbered", "archives_of", "form_of", "objects_of"]

Form = Literal["parquet", "lines", "whole", "run", "table", "page"]
"""Parquet, JSON by line or whole, a TREC run, a table with a line of names, a saved page."""
Numbered = tuple[Place, "dict[str, Any] | Problem"]
"""Where an object stands, and the object, or what is wrong with it."""
LARGEST = 1 << 28
ROWS_AT_ONCE = 1 << 14
WANTED = "query, list, url, title"


def form_of(source: Source, *, holds_lists: bool = True) -> Form:
    """What form a file has; InputError when it is empty. Documents (``holds_lists`` false) are never a run."""
    if source.is_parquet:
        return "parquet"
    start = first_text(source)
    if "\0" in start and (other := name_other_file(source)):
        raise refuse(other)
    first = start.lstrip()[:1]
    if not first:
        raise refuse(PAIRS.tell("empty-file", source.name))
    if first == "<":
        return "page"
    if first in "{[":
        return "lines" if _has_objects_by_line(source) else "whole"
    line = next(line for line in start.splitlines() if line.strip())
    return "run" if holds_lists and looks_like_run(line) else "table"


def objects_of(source: Source, form: Form, renames: Renames | None = None) -> Iterator[Numbered]:
    """The objects or rows of a file; InputError when it has none.

    ``renames`` where they are lists or rows of lists, so that columns are asked for; documents need none.
    """
    match form:
        case "parquet":
            return _of_parquet(source, renames)
        case "page":
            return _of_page(source)
        case "run":
            return _of_run(source)
        case "table":
            return _of_table(source, renames)
        case "lines" | "whole":
            objects = _of_lines(source) if form == "lines" else _of_whole(source)
            return objects if renames is None or not renames.given else _renamed(objects, renames)
        case _:
            assert_never(form)


def archives_of(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """The HAR files of a zip archive by name, with what they keep beside them put into its place.

    Browsers save a HAR file whole; Playwright puts the bodies of responses beside it, under the name in ``_file``.
    """
    found = 0
    try:
        for name, content, read in zip_members(source.path, source.name, ending=".har", most=LARGEST):
            found += 1
            try:
                document = parse_json(content)
            except ValueError as error:
                raise refuse(PAIRS.tell("broken-json", source.name)) from error
            if not isinstance(document, dict):
                raise refuse(PAIRS.tell("broken-json", source.name))
            for response in _responses(document):
                kept = response.get("content")
                if isinstance(kept, dict) and isinstance(kept.get("_file"), str) and "text" not in kept:
                    # A body that is no text is no list: a picture, a font.
                    with suppress(UnicodeDecodeError):
                        kept["text"] = read(str(Path(name).parent / kept["_file"])).decode("utf-8")
            yield name, document
    except BROKEN_STREAM as error:
        raise refuse(PAIRS.tell("cut-off", source.name)) from error
    if not found:
        raise refuse(PAIRS.tell("no-har", source.name))


def _responses(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    log = document.get("log")
    entries = log.get("entries") if isinstance(log, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        response = entry.get("response") if isinstance(entry, dict) else None
        if isinstance(response, dict):
            yield response


def _renamed(objects: Iterator[Numbered], renames: Renames) -> Iterator[Numbered]:
    for where, found in objects:
        yield where, found if isinstance(found, Problem) else renames.apply_to(found)


def _has_objects_by_line(source: Source) -> bool:
    """Whether lines are objects of their own: the first is, or the second where both begin like one."""
    with opened_lines(source) as lines:
        first = list(islice((line for _, line in lines if line.strip()), 2))
    return _is_object(first[0]) or (all(line.lstrip().startswith("{") for line in first) and _is_object(first[-1]))


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


def _of_lines(source: Source) -> Iterator[Numbered]:
    place = Place(file=source.name)
    for number, found in json_rows(source, PAIRS):
        yield place.at(number), found


def _content(source: Source) -> str:
    """The whole text of a file."""
    try:
        with open_bytes(source) as stream:
            content = stream.read(LARGEST + 1)
    except BROKEN_STREAM as error:
        raise refuse(PAIRS.tell("cut-off", source.name)) from error
    if len(content) > LARGEST:
        raise refuse(PAIRS.tell("too-large", source.name, most=LARGEST >> 20))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refuse(replace(PAIRS.tell("invalid-utf8", source.name), option="")) from error


def _of_page(source: Source) -> Iterator[Numbered]:
    found = read_page(_content(source))
    if found is None:
        raise refuse(PAIRS.tell("web-page", source.name))
    yield Place(file=source.name), found


def _of_whole(source: Source) -> Iterator[Numbered]:
    content = _content(source)
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        raise refuse(PAIRS.tell("broken-json", source.name, lines=(error.lineno,))) from error
    place = Place(file=source.name, unit="entry")
    entries = value if isinstance(value, list) else [value]
    for number, entry in enumerate(entries, start=1):
        where = place.at(number if isinstance(value, list) else 0)
        if isinstance(entry, dict):
            yield where, entry
        else:
            yield where, where.problem("bad-row", reason="it is no object with named fields")


def _of_table(source: Source, renames: Renames | None) -> Iterator[Numbered]:
    names, rows = table_rows(source, PAIRS)
    names = [name.strip() for name in names]
    if renames is not None:
        names = _checked(source, renames.apply(names))
    place = Place(file=source.name)
    for line, row in rows:
        yield place.at(line), row if isinstance(row, Problem) else dict(zip(names, row, strict=True))


def _of_parquet(source: Source, renames: Renames | None) -> Iterator[Numbered]:
    place = Place(file=source.name, unit="row")
    with opened_parquet(source) as file:
        names = list(file.schema_arrow.names)
        if renames is not None:
            names = _checked(source, renames.apply(names))
        number = 0
        try:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                for row in batch.rename_columns(names).to_pylist():
                    number += 1
                    yield place.at(number), row
        except DAMAGED as error:
            reason = "it is damaged, or holds text that is not UTF-8"
            raise refuse(
                PAIRS.tell("unreadable-file", source.name, lines=(number + 1,), place="row", reason=reason)
            ) from error


def _of_run(source: Source) -> Iterator[Numbered]:
    place = Place(file=source.name)
    for number, fields, trouble in run_rows(source):
        where = place.at(number)
        if trouble == "ragged-rows":
            reason = f"a line of a run has {RUN_FIELDS} fields, and this has more or fewer"
            yield where, where.problem("bad-row", reason=reason)
        elif trouble:
            yield where, where.problem(trouble)
        else:
            query, _, document, rank, _, tag = fields
            side = tag if side_of_word(tag) else ""
            yield where, {"query_id": query, "url": document, "rank": rank, "list": side}


def _checked(source: Source, names: list[str]) -> list[str]:
    """The names; tables without the columns that they need are refused, and those with columns of the same name."""
    plain = [name.lower() for name in names]
    known = dict.fromkeys(plain)
    if any(side_of_word(name) for name in plain) or "results" in known:
        return names
    place = Place(file=source.name, number=0 if source.is_parquet else 1)
    fields = field_names(tuple(plain))
    problems = [place.problem("duplicate-columns", name) for name in known if name and plain.count(name) > 1]
    if not (fields.has_result or fields.has_query):
        # The first line may be data: its cells are nobody's names of columns.
        problems = [place.problem("no-header", columns=WANTED)]
    elif not fields.has_result:
        meaning = "address (url) or the title"
        problems.append(place.problem("missing-column", "url", meaning=meaning, columns=shown_names(names)))
    elif not fields.has_query:
        problems.append(place.problem("missing-column", "query", meaning="query", columns=shown_names(names)))
    if problems:
        raise refuse(*problems)
    return names
