"""Somebody else's SQLite database, read from a private copy: it may be in use, and is never opened as a database.

Browsers hold their databases locked while they run. The files are copied byte by byte into a private directory that is
removed afterwards: the database, its write-ahead log (-wal), where the newest visits are, and its rollback journal.
The copy is taken again if a file changed meanwhile. The index of the log (-shm) is left behind: it is a cache that
SQLite makes anew from the log, and one copied at another moment than its log would point to what is not there.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from aidos.engine.scratch import scratch_directory
from aidos.errors import EngineError, InputError
from aidos.ingest.history.refusal import unreadable

__all__ = ["MAGIC", "fetch_rows", "open_copy", "table_columns", "text_in"]

MAGIC = b"SQLite format 3\x00"
BESIDE = ("", "-wal", "-journal")
ATTEMPTS = 5
SECONDS_BETWEEN = 0.2
ROWS = 2_000
Stamp = tuple[tuple[int, int, int] | None, ...]


@contextmanager
def open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the database, for reading only; what goes wrong with it becomes InputError."""
    with scratch_directory() as directory:
        copied = directory / "copy.sqlite"
        _copy(path, copied)
        try:
            # Writable, so that SQLite can settle an unfinished change: of the copy, before anything is read.
            connection = sqlite3.connect(f"file:{copied}?mode=rw", uri=True, isolation_level=None)
            with closing(connection):
                connection.text_factory = _decode
                for setting in ("trusted_schema = off", "cell_size_check = on", "query_only = on"):
                    connection.execute(f"PRAGMA {setting}")
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # The words of SQLite may quote what is in the file, and Python may fail to decode them.
            raise InputError(
                f"{path} is damaged, or is no whole database",
                hint="close the browser, copy the file, and name the copy",
            ) from error


def table_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The names of a table's columns; none where there is no such table."""
    asked = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return frozenset(str(row[0]) for row in asked)


def fetch_rows(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[object, ...]]:
    """The rows of a query, some at a time."""
    asked = connection.execute(sql)
    while rows := asked.fetchmany(ROWS):
        yield from rows


def text_in(cell: object) -> str:
    """The text of a cell, empty where it holds none: SQLite takes values of any type in any column."""
    return cell if isinstance(cell, str) else ""


def _copy(path: Path, copied: Path) -> None:
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(SECONDS_BETWEEN)
        try:
            before = _stamp(path)
            for ending in BESIDE:
                target = Path(f"{copied}{ending}")
                target.unlink(missing_ok=True)
                source = Path(f"{path}{ending}")
                if not ending or source.is_file():
                    shutil.copyfile(source, target)
            if _stamp(path) == before:
                return
        except FileNotFoundError:
            continue  # a journal that was there a moment ago, or the database itself: told below
        except OSError as error:
            raise _refusal(path, error) from error
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint="look at the name")
    raise InputError(f"{path} is being written to all the time", hint="close the browser and try again")


def _stamp(path: Path) -> Stamp:
    """What changes when a file is written to."""
    found: list[tuple[int, int, int] | None] = []
    for ending in BESIDE:
        try:
            known = Path(f"{path}{ending}").stat()
            found.append((known.st_ino, known.st_size, known.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    return tuple(found)


def _refusal(path: Path, error: OSError) -> InputError | EngineError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return EngineError(
            f"there is no room for a copy of {path}", hint="name a place with room for it, for example TMPDIR=/var/tmp"
        )
    return unreadable(path, error)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")
