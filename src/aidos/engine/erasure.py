"""Erasing files so that nothing of them stays behind in the directory: zeros over their bytes.

What the disk itself or the file system keeps of old blocks (snapshots, backups, cells of flash memory) is beyond this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from aidos.errors import EngineError

__all__ = ["blank_file", "overwritten"]

BLOCK = 1 << 20


@contextmanager
def overwritten(path: Path) -> Iterator[None]:
    """Overwrite what the file holds now, once the block has put another one in its place or removed it."""
    with ExitStack() as stack:
        try:
            old = stack.enter_context(path.open("r+b")) if path.is_file() else None
        except OSError as error:
            raise EngineError(f"{path} cannot be opened: {error.strerror}", hint="look at its permissions") from error
        yield
        # A file that is still in its place was not replaced, and must not be harmed.
        if old is None or (path.exists() and os.path.samestat(path.stat(), os.fstat(old.fileno()))):
            return
        _blank(old)


def blank_file(path: Path) -> None:
    """Zeros over all that a file holds; it keeps its name."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "r+b") as file:
        _blank(file)


def _blank(file: BinaryIO) -> None:
    """Zeros over all that an open file holds, on the disk before we go on."""
    left = file.seek(0, os.SEEK_END)
    file.seek(0)
    while left > 0:
        left -= file.write(bytes(min(left, BLOCK)))
    file.flush()
    os.fsync(file.fileno())
