"""SQLite files that last: every change is on the disk when it is done, and errors are told in words.

SQLite's own messages are not passed on: they may hold names of people, and do not say what to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aidos.engine.store import Store
from aidos.errors import EngineError, InputError

__all__ = ["SECONDS_TO_WAIT", "Database"]

SECONDS_TO_WAIT = 60.0
"""How long a turn may have to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database(Store):
    """A kind of SQLite file, or of directories with one in it."""

    busy: str
    """What is said where another process keeps its turn too long; ``{path}`` stands for the place."""
    unchanged: str
    """What people are told of a change that failed."""

    def connect(self, file: Path, *, wait: float = SECONDS_TO_WAIT, read_only: bool = False) -> sqlite3.Connection:
        """The file, which is there; transactions are the caller's, and so is letting one thread in at a time."""
        address = f"{file.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
        connection = sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("pragma synchronous = full")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def spoken(self, path: Path) -> Iterator[None]:
        """Say in words what happened to the file."""
        try:
            yield
        except UnicodeEncodeError as error:
            raise InputError(
                f"{path}: a name holds half of a character and cannot be written",
                hint=f"mend the names; {self.unchanged}",
            ) from error
        except sqlite3.Error as error:
            raise self._spoken(path, error) from error

    def _spoken(self, path: Path, error: sqlite3.Error) -> InputError | EngineError:
        match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return EngineError(self.busy.format(path=path), hint="wait until it is done, or end it")
            case sqlite3.SQLITE_NOTADB:
                return InputError(f"{path} is not {self.noun}, or is damaged", hint=f"name another, or {self.again}")
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_ERROR:  # the latter when a table is missing
                return self.damage(path)
            case sqlite3.SQLITE_FULL:
                reason = "the disk is full"
            case sqlite3.SQLITE_IOERR:
                reason = "the disk is full or does not work"
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
                reason = "it cannot be written here; the file and its directory must be your own"
            case _:
                reason = str(getattr(error, "sqlite_errorname", "SQLite refused"))
        return EngineError(
            f"{path} cannot be used: {reason}", hint=f"{self.unchanged}; look at disk space and permissions"
        )
