"""The lines of a text file, whatever compresses it, and what of it is no text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from aidos.ingest.rankings.troubles import refuse, tell
from aidos.ingest.sources import BROKEN_STREAM, Source, open_bytes

__all__ = ["first_text", "is_text", "opened_lines"]

LOOKED_AT = 1 << 16


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
        for number, line in enumerate(text, start=1):
            yield number, line
    except BROKEN_STREAM as error:
        raise refuse(tell("cut-off", source.name, lines=(number + 1,))) from error
    except OSError as error:
        reason = error.strerror or "input error"
        raise refuse(tell("unreadable-file", source.name, lines=(number + 1,), reason=reason)) from error
