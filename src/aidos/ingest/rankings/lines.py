"""The lines of a text file, whatever compresses it, and the rows of CSV and TSV files with the line each begins in.

Cells may stand between double quotes, in TSV as well, and then hold delimiters and line ends.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from aidos.errors import Problem
from aidos.ingest.rankings.troubles import refuse, tell
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["duplicate_columns", "first_text", "is_text", "opened_lines", "table_rows"]

LOOKED_AT = 1 << 16
LONGEST = 1 << 24
"""Characters of a line, which is held in memory."""


@contextmanager
def opened_lines(source: Source) -> Iterator[Iterator[tuple[int, str]]]:
    """Numbered lines with their ends. Bytes that are no UTF-8 come as lone surrogates: ask ``is_text``."""
    with (
        open_bytes(source) as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="") as text,
    ):
        yield _numbered(source, text)


def is_text(line: str) -> bool:
    """Whether the line was valid UTF-8 and holds no NUL."""
    if "\0" in line:
        return False
    if line.isascii():
        return True
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def first_text(source: Source) -> str:
    """The beginning of the file, for recognising it; strange bytes become replacement characters."""
    try:
        with open_bytes(source) as stream:
            start = stream.read(LOOKED_AT)
    except BROKEN_STREAM as error:
        raise refuse(tell("cut-off", source.name, lines=(1,))) from error
    return start.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _numbered(source: Source, text: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(iter(lambda: text.readline(LONGEST), ""), start=1):
            if len(line) == LONGEST:
                reason = f"the line is longer than {LONGEST >> 20} MB"
                raise refuse(tell("unreadable-file", source.name, lines=(number,), reason=reason))
            yield number, line
    except BROKEN_STREAM as error:
        raise refuse(tell("cut-off", source.name, lines=(number + 1,))) from error
    except OSError as error:
        reason = error.strerror or "input error"
        raise refuse(tell("unreadable-file", source.name, lines=(number + 1,), reason=reason)) from error


USUAL = ",;|\t"
QUOTES = "a quoted cell does not end where it should"


def table_rows(source: Source, delimiter: str = "") -> tuple[list[str], Iterator[tuple[int, list[str] | Problem]]]:
    """The names of the columns, and the numbered rows but for blank ones; a problem for each that cannot be read.

    InputError when there is no line with names.
    """
    rows = _rows(source, delimiter or _delimiter(first_text(source)))
    _, names = next(rows, (0, tell("empty-file", source.name)))
    if isinstance(names, Problem):
        raise refuse(names)
    return names, rows


def duplicate_columns(source: Source, names: Sequence[str], wanted: Sequence[str]) -> list[Problem]:
    """Columns that are needed and stand in the file more than once."""
    return [
        tell("duplicate-columns", source.name, column=name) for name in dict.fromkeys(wanted) if names.count(name) > 1
    ]


def _delimiter(start: str) -> str:
    """What the names in the first line stand apart by: names, unlike ids, have no delimiters in them."""
    first = next((line for line in start.splitlines() if line.strip()), "")
    return max(USUAL, key=first.count)


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str] | Problem]]:
    with opened_lines(source) as lines:
        reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
        width = 0
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield line, tell("bad-line", source.name, lines=(line,), reason=QUOTES)
                continue
            width = width or len(row)
            if not is_text("".join(row)):
                yield line, tell("invalid-utf8", source.name, lines=(line,))
            elif len(row) == width:
                if row:
                    yield line, row
            elif any(map(str.strip, row)):
                yield line, tell("ragged-rows", source.name, lines=(line,), expected=width)
