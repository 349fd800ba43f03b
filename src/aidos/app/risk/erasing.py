"""Taking rows out of files so that nothing of them stays behind in the directory.

A file is written anew without the rows and takes the place of the old one, whose bytes are then overwritten with zeros.
What the disk itself or the file system keeps of old blocks (snapshots, backups, cells of flash memory) is beyond this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import EngineError

__all__ = ["erase_rows", "overwritten", "remove_partial"]

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
        left = old.seek(0, os.SEEK_END)
        old.seek(0)
        while left > 0:
            left -= old.write(bytes(min(left, BLOCK)))
        old.flush()
        os.fsync(old.fileno())


def erase_rows(engine: EmbeddedEngine, path: Path, condition: str) -> int:
    """Take the rows of a Parquet file out that meet a condition in SQL; a file without rows is removed. How many."""
    rows = engine.parquet(path)
    total, gone = (int(str(value)) for value in rows.rows(f"select count(*), count_if({condition}) from {{table}}")[0])
    if gone:
        with overwritten(path):
            if gone == total:
                path.unlink()
            else:
                rows.select(f"select * from {{table}} where not ({condition})").write_parquet(path)
                path.chmod(0o600)
    return gone


def remove_partial(directory: Path) -> None:
    """Remove what a run that was cut off left half-written."""
    for left in directory.glob(".*.partial"):
        with overwritten(left):
            left.unlink()
