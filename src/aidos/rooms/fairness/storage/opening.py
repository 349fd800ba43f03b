"""Making and opening the file of a store: SQLite, recognised by its own marks, whole or not there.

A new store is built beside its place and gets its name when it is complete, so that a crash leaves no half of one and
two processes that start at once agree on one. Only its owner may read it. Errors of SQLite are said in words that do
not quote what is in the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from aidos.engine.files import partial_file, sync
from aidos.errors import EngineError, InputError
from aidos.rooms.fairness.storage.tables import SCHEMA, StoreTables, damaged

__all__ = ["FORMAT", "connect", "make_store", "spoken_errors"]

APPLICATION = 0x61694561
"""Marks the file as a store of attention ("aiEa")."""
FORMAT = 1
"""Rises when the tables change."""
SECONDS_TO_WAIT = 60.0
PAGES_BEFORE_WRITING_BACK = 4000
"""SQLite moves its log into the file after so many pages (16 MB)."""


def connect(path: Path, *, wait: float = SECONDS_TO_WAIT, read_only: bool = False) -> sqlite3.Connection:
    """Open a store that exists, or say why the file is none."""
    if not path.exists():
        raise InputError(f"there is no store {path}", hint="check the name; a store is made by the first ranking")
    if not path.is_file():
        raise InputError(f"{path} is no file", hint="a store is one file")
    with spoken_errors(path):
        # Even a reader opens for writing where it may, since the last to close tidies up what SQLite keeps beside.
        connection = _open(path, wait=wait, mode="ro" if read_only and not os.access(path, os.W_OK) else "rw")
        try:
            _recognise(connection, path)
            connection.execute(f"pragma query_only = {int(read_only)}")
            connection.execute("pragma synchronous = full")
            connection.execute(f"pragma wal_autocheckpoint = {PAGES_BEFORE_WRITING_BACK}")
        except BaseException:
            connection.close()
            raise
    return connection


def make_store(
    path: Path,
    settings: Mapping[str, str],
    half_life: float | None,
    fill: Callable[[StoreTables], None] | None = None,
) -> bool:
    """Make a store that was not there, with what ``fill`` writes into it; False when the file is there after all."""
    with partial_file(path, private=True) as partial:
        with spoken_errors(path), closing(_open(partial, wait=SECONDS_TO_WAIT, mode="rw")) as connection:
            _build(connection, path, settings, half_life, fill)
            # Closing would do it as well, but does not tell when it fails, and the log beside is not published.
            connection.execute("pragma wal_checkpoint(truncate)")
        return _publish(partial, path)


@contextmanager
def spoken_errors(path: Path) -> Iterator[None]:
    """Say what happened to the store in words; SQLite's own messages may hold names."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path}: a name holds half of a character and cannot be written",
            hint="mend the names; nothing was counted",
        ) from error
    except sqlite3.Error as error:
        raise _spoken(path, error) from error


def _open(path: Path, *, wait: float, mode: str) -> sqlite3.Connection:
    # One keeper may be handed from thread to thread; it lets only one of them in at a time.
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)


def _build(
    connection: sqlite3.Connection,
    path: Path,
    settings: Mapping[str, str],
    half_life: float | None,
    fill: Callable[[StoreTables], None] | None,
) -> None:
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("begin immediate")
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    tables = StoreTables(connection, path)
    tables.begin(settings, half_life)
    if fill is not None:
        fill(tables)
    connection.execute(f"pragma application_id = {APPLICATION}")
    connection.execute(f"pragma user_version = {FORMAT}")
    connection.execute("commit")


def _publish(partial: Path, path: Path) -> bool:
    """Give a complete file its name, unless somebody was faster."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    sync(path.absolute().parent)
    return True


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("pragma application_id").fetchone()
    (version,) = connection.execute("pragma user_version").fetchone()
    if application != APPLICATION:
        raise InputError(
            f"{path} is not a store of attention accounts", hint="name another file; this one was not changed"
        )
    if version > FORMAT:
        raise InputError(
            f"{path} was written by a newer aidos (format {version}, this one knows {FORMAT})", hint="update aidos"
        )
    if version < 1:
        raise damaged(path)


def _spoken(path: Path, error: sqlite3.Error) -> InputError | EngineError:
    kept = "nothing was counted, and the store is as it was"
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return EngineError(f"another re-ranker holds the store {path}", hint="wait until it is done, or end it")
        case sqlite3.SQLITE_NOTADB:
            return InputError(f"{path} is not a store of attention accounts", hint="name another file")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:  # the latter when a table is missing
            return damaged(path)
        case sqlite3.SQLITE_FULL:
            return EngineError(f"{path}: the disk is full", hint=f"{kept}; free some space")
        case sqlite3.SQLITE_IOERR:
            return EngineError(f"{path}: the disk is full or does not work", hint=f"{kept}; look at the disk")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return EngineError(f"{path} cannot be written here", hint="the file and its directory must be your own")
        case _:
            return EngineError(f"{path}: the store could not be used ({error.sqlite_errorname})", hint=kept)
