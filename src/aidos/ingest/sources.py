"""The files behind the names that the user gave, opened for every reader: patterns, compression, lines.

Whether a file can be read at all is found out before anything is made of it.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aidos.core.progress import Task
from aidos.engine.inputs import open_input
from aidos.engine.unpacking import BrokenStreamError, Compression, compression_of, unpack
from aidos.errors import Problem
from aidos.ingest.problems import TABLE, describe, refuse

__all__ = [
    "BROKEN_STREAM",
    "Source",
    "TableFile",
    "find_sources",
    "first_text",
    "is_text",
    "numbered_lines",
    "open_bytes",
    "opened_lines",
]

PARQUET_MAGIC = b"PAR1"
SUFFIXES = (".gz", ".zst", ".zstd")
BROKEN_STREAM = (BrokenStreamError,)
"""What reading raises when compressed data are damaged or cut off."""
LOOKED_AT = 1 << 16
LONGEST = 1 << 24
"""Characters of a line that is held in memory."""


class TableFile(str):
    """The name of a private file that holds a table from Python: messages call it what its owner does."""

    __slots__ = ()
    shown = TABLE


@dataclass(frozen=True, slots=True)
class Source:
    """A file that can be opened."""

    name: str
    """As the user wrote it."""
    path: Path
    size: int
    compression: Compression = "none"
    is_parquet: bool = False

    @property
    def plain_name(self) -> str:
        """The file's name without its compression suffix, lower case."""
        name = self.path.name.lower()
        return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def find_sources(names: Sequence[str]) -> tuple[list[Source], list[Problem]]:
    """The files that the names and patterns stand for, in order, and what is wrong with the others."""
    sources: list[Source] = []
    problems: list[Problem] = []
    for name in names:
        for found in _expand(name):
            outcome = _open_once(found)
            if isinstance(outcome, Source):
                sources.append(outcome)
            else:
                problems.append(outcome)
    return sources, problems


@contextmanager
def open_bytes(source: Source) -> Iterator[IO[bytes]]:
    """The file's bytes, decompressed. Damaged data raise one of `BROKEN_STREAM` while reading, bombs InputError."""
    with open_input(source.path) as raw:
        yield unpack(raw, source.compression, source.name)


def numbered_lines(source: Source, task: Task) -> Iterator[tuple[int, str]]:
    """The lines of a sound text file without their ends, counted from 1."""
    with open_bytes(source) as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as text:
        for number, line in enumerate(text, start=1):
            task.advance(len(line))
            yield number, line.rstrip("\r\n")


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
        raise refuse(describe("cut-off", source.name, lines=(1,))) from error
    return start.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _numbered(source: Source, text: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(iter(lambda: text.readline(LONGEST), ""), start=1):
            if len(line) == LONGEST:
                reason = f"the line is longer than {LONGEST >> 20} MB"
                raise refuse(describe("unreadable-file", source.name, lines=(number,), reason=reason))
            yield number, line
    except BROKEN_STREAM as error:
        raise refuse(describe("cut-off", source.name, lines=(number + 1,))) from error
    except OSError as error:
        reason = error.strerror or "input error"
        raise refuse(describe("unreadable-file", source.name, lines=(number + 1,), reason=reason)) from error


def _expand(name: str) -> list[str]:
    """The files a pattern matches, sorted; the name itself when it is none or matches nothing."""
    if glob.has_magic(name) and not os.path.lexists(name):
        return sorted(glob.glob(name, recursive=True)) or [name]  # noqa: PTH207 (the user's own spelling is kept)
    return [name]


def _open_once(name: str) -> Source | Problem:
    """Open the file to see whether it can be read, and look at its first bytes."""
    path = Path(name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return describe("directory", name, pattern=f"'{name.rstrip('/')}/*'")
        if not stat.S_ISREG(mode):
            return describe("unreadable-file", name, reason="it is a pipe or a device, and aidos reads files twice")
        with path.open("rb") as raw:
            first = raw.read(4)
            size = raw.seek(0, os.SEEK_END)
    except OSError as error:
        return _refusal(name, error)
    except ValueError:  # a NUL in the name
        return describe("missing-file", name)
    return Source(getattr(name, "shown", name), path, size, compression_of(first), is_parquet=first == PARQUET_MAGIC)


def _refusal(name: str, error: OSError) -> Problem:
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
        return describe("missing-file", name)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return describe("no-permission", name)
    return describe("unreadable-file", name, reason=error.strerror or type(error).__name__)
