"""Lines of a taxonomy file: UTF-8, packed with gzip or not, and the line named where it is not."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aidos.errors import InputError

__all__ = ["numbered_lines", "open_file", "read_head", "read_text"]

HEAD = 1 << 16
"""Bytes that are looked at to tell the format."""
PACKED = b"\x1f\x8b"


def open_file(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked where it is packed with gzip."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == PACKED
        return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}", hint="check the name") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def read_head(path: Path) -> str:
    """How a file begins, whatever its encoding."""
    return _read(path, HEAD).decode("utf-8-sig", "replace")


def read_text(path: Path) -> str:
    """The whole text of a file in UTF-8; InputError that names the line where it is not."""
    data = _read(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: the text is not in UTF-8", hint="save the file as UTF-8") from error


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1 on, without what ends them; empty ones are passed over."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line and not line.isspace():
            yield number, line.rstrip("\r")


def _read(path: Path, most: int = -1) -> bytes:
    try:
        with open_file(path) as file:
            return file.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is packed and damaged", hint="get or pack it again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
