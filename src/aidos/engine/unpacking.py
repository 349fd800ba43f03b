"""The one place where compressed data are unpacked: gzip, zstd and zip, piece by piece, in bounded memory.

A few kilobytes can stand for many gigabytes. So no piece is larger than a megabyte whatever the data say, zstd may look
back 128 MB at most (its own default), and data that unpack to more than `SUSPECT` bytes and to more than `DENSEST`
times their size are refused: logs and taxonomies shrink to a tenth or a fiftieth, not to a thousandth. What is
collected from the pieces is the reader's business, and needs a limit there.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

from aidos.engine.inputs import open_input
from aidos.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

__all__ = [
    "BrokenStreamError",
    "Compression",
    "TooDenseError",
    "compression_of",
    "is_zip",
    "open_unpacked",
    "unpack",
    "zip_members",
]

Compression = Literal["none", "gzip", "zstd"]
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
PACKED_SIZE = 1 << 17
PIECE = 1 << 20
BUFFER = 1 << 16
SUSPECT = 64 << 20
"""Bytes that may come out whatever they come from."""
DENSEST = 500
"""From there on, how many bytes may come out of one."""
GZIP = 16 + zlib.MAX_WBITS
TRAILER = 8
"""Bytes of a checksum and a length, at the end of a gzip member."""


class BrokenStreamError(Exception):
    """Compressed data are damaged or cut off."""


class TooDenseError(InputError):
    """Compressed data unpack to so much more than they are that they look made to fill memory or disk."""

    def __init__(self, name: str) -> None:
        self.reason = f"it unpacks to more than {DENSEST} times its size, as data do that are made to fill memory"
        super().__init__(
            f"{name} cannot be read: {self.reason}",
            hint="if you trust it, unpack it yourself first and name the unpacked file",
        )


def compression_of(first: bytes) -> Compression:
    """How a file is packed that begins with these bytes (four are enough)."""
    return next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), "none")


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file that a user named, unpacked where it is packed; InputError for what cannot be opened."""
    with open_input(path) as raw:
        kind = compression_of(raw.read(4))
        raw.seek(0)
        yield unpack(raw, kind, str(path))


def unpack(raw: IO[bytes], kind: Compression, name: str) -> IO[bytes]:
    """The unpacked bytes of a stream; reading raises BrokenStreamError or TooDenseError, which tells the name."""
    if kind == "none":
        return raw
    packed = _Packed(raw)
    return cast("IO[bytes]", io.BufferedReader((_Gzip if kind == "gzip" else _Zstd)(packed, name), BUFFER))


def is_zip(path: Path) -> bool:
    """Whether a file is a zip archive by its first bytes."""
    with open_input(path) as raw:
        return raw.read(4) in {b"PK\x03\x04", b"PK\x05\x06"}


def zip_members(
    path: Path, name: str, *, ending: str, most: int
) -> Iterator[tuple[str, bytes, Callable[[str], bytes]]]:
    """The members of an archive with that ending: name, bytes, and a function that gives those of other members.

    BrokenStreamError for what is damaged, encrypted or not there; TooDenseError for what unpacks to far more than it
    is, or to more than ``most`` bytes altogether.
    """
    left = most

    def read(member: str) -> bytes:
        nonlocal left
        info = archive.getinfo(member)
        with archive.open(info) as stream:
            content = stream.read(left + 1)
        left -= len(content)
        if left < 0 or (len(content) > SUSPECT and len(content) > DENSEST * info.compress_size):
            raise TooDenseError(name)
        return content

    try:
        with open_input(path) as raw, zipfile.ZipFile(raw) as archive:
            for member in archive.namelist():
                if member.lower().endswith(ending):
                    yield member, read(member), read
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError) as error:
        raise BrokenStreamError("the archive is damaged, or encrypted") from error


class _Packed(io.RawIOBase):
    """The packed stream, which knows how much was read of it."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.count = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = PACKED_SIZE) -> bytes:
        """The next bytes, none at the end."""
        data = self._raw.read(size)
        self.count += len(data)
        return data


class _Unpacked(io.RawIOBase):
    """What comes out, as long as it is not too much for what it comes from."""

    def __init__(self, packed: _Packed, name: str) -> None:
        self._packed = packed
        self._name = name
        self._given = 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: Buffer) -> int:
        """Fill the target as far as the next stretch of data goes; 0 at the end."""
        size = self._fill(memoryview(target).cast("B")[:PIECE])
        self._given += size
        if self._given > SUSPECT and self._given > DENSEST * self._packed.count:
            raise TooDenseError(self._name)
        return size

    @abstractmethod
    def _fill(self, view: memoryview) -> int: ...


class _Gzip(_Unpacked):
    """One or more members; zeros after the last are padding."""

    def __init__(self, packed: _Packed, name: str) -> None:
        super().__init__(packed, name)
        self._member = zlib.decompressobj(GZIP)
        self._kept = b""
        self._data = self._more()

    def _more(self) -> bytes:
        """The next packed bytes, none at the end.

        The last few, which hold a checksum, come after the others: zlib gives nothing of what it finds wrong.
        """
        data = self._kept
        while more := self._packed.read():
            data += more
            if len(data) > TRAILER:
                self._kept = data[-TRAILER:]
                return data[:-TRAILER]
        self._kept = b""
        return data

    def _fill(self, view: memoryview) -> int:
        while True:
            if self._member.eof and not self._next_member():
                return 0
            try:
                piece = self._member.decompress(self._data, len(view))
            except zlib.error:
                raise BrokenStreamError("the gzip stream is damaged") from None
            self._data = self._member.unconsumed_tail
            if piece:
                view[: len(piece)] = piece
                return len(piece)
            if not self._member.eof:
                self._data = self._data or self._more()
                if not self._data:
                    raise BrokenStreamError("the gzip stream is cut off")

    def _next_member(self) -> bool:
        data = self._member.unused_data.lstrip(b"\0")
        while not data and (more := self._more()):
            data = more.lstrip(b"\0")
        if data:
            self._member, self._data = zlib.decompressobj(GZIP), data
        return bool(data)


class _Zstd(_Unpacked):
    """One or more frames. Arrow's reader notices a last one that is not complete; others take it for the end."""

    def __init__(self, packed: _Packed, name: str) -> None:
        import pyarrow as pa

        super().__init__(packed, name)
        self._stream = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")

    def _fill(self, view: memoryview) -> int:
        try:
            return int(self._stream.readinto(view))
        except OSError as error:
            if error.errno is None:  # Arrow's own words for damaged data
                raise BrokenStreamError("the zstd stream is damaged or cut off") from None
            raise
