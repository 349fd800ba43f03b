"""The files behind the names that the user gave: patterns, compression, and whether they can be read at all."""

from __future__ import annotations

import errno
import glob
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

import zstandard

from aidos.errors import Problem
from aidos.ingest.problems import describe

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

__all__ = ["BROKEN_STREAM", "Source", "find_sources", "open_bytes"]

Compression = Literal["none", "gzip", "zstd"]
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
PARQUET_MAGIC = b"PAR1"
SUFFIXES = (".gz", ".zst", ".zstd")
BROKEN_STREAM = (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError)
"""What reading raises when compressed data are damaged or cut off."""
PACKED_SIZE = 1 << 17
BUFFER_SIZE = 1 << 20


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
    """The file's bytes, decompressed. Damaged data raise one of `BROKEN_STREAM` while reading."""
    with source.path.open("rb") as raw:
        match source.compression:
            case "none":
                yield raw
            case "gzip":
                with gzip.GzipFile(fileobj=raw) as stream:
                    yield cast("IO[bytes]", stream)
            case "zstd":
                yield io.BufferedReader(_WholeZstd(raw), BUFFER_SIZE)


class _WholeZstd(io.RawIOBase):
    """A zstd stream of one or more frames that complains when the last one is not complete.

    The library's own reader takes the end of the file for the end of the data wherever it comes.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._within_frame = False
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: Buffer) -> int:
        """Fill the target as far as the next stretch of data goes; 0 at the end."""
        while not self._ready:
            self._packed = self._packed or self._raw.read(PACKED_SIZE)
            if not self._packed:
                if self._within_frame:
                    raise EOFError("the zstd stream is cut off")
                return 0
            self._ready = memoryview(self._unpack())
        view = memoryview(target).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _unpack(self) -> bytes:
        data = self._frame.decompress(self._packed)
        self._within_frame = not self._frame.eof
        self._packed = self._frame.unused_data
        if self._frame.eof:
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        return data


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
    compression = next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), "none")
    return Source(name, path, size, cast("Compression", compression), is_parquet=first == PARQUET_MAGIC)


def _refusal(name: str, error: OSError) -> Problem:
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG}:
        return describe("missing-file", name)
    if error.errno in {errno.EACCES, errno.EPERM}:
        return describe("no-permission", name)
    return describe("unreadable-file", name, reason=error.strerror or type(error).__name__)
