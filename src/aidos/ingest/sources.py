"""The files behind the names that the user gave: patterns, compression, and whether they can be read at all."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aidos.engine.inputs import open_input
from aidos.engine.unpacking import BrokenStreamError, Compression, compression_of, unpack
from aidos.errors import Problem
from aidos.ingest.problems import TABLE, describe

__all__ = ["BROKEN_STREAM", "Source", "TableFile", "find_sources", "open_bytes"]

PARQUET_MAGIC = b"PAR1"
SUFFIXES = (".gz", ".zst", ".zstd")
BROKEN_STREAM = (BrokenStreamError,)
"""What reading raises when compressed data are damaged or cut off."""


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
