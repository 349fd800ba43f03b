"""Full text in one SQLite file (FTS5): no server, nothing to install.

A document matches when it holds any word of the query; BM25 puts those with more and rarer words first, title and text
count alike, equal scores stay in the order in which documents were added. Words of the query are only ever words: every
one is quoted, so that what a person types can never be an operator of FTS5. A word with a hyphen or a dot in it is a
phrase. Letters match without regard to case and accents; there is no stemming.

The file holds the texts themselves. It is made for its owner alone to read; who opens it to others is not stopped.
A service is used in the thread that opened it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aidos.errors import EngineError, InputError, ParameterError, ServiceError
from aidos.service.base import Result, SearchService, check_request

__all__ = ["SqliteFts"]

Row = tuple[str, str, str]

OWNER_ONLY = 0o600
SECONDS_TO_WAIT = 5.0
MARK = 0x41494653
"""Stands in the header of the file, so that a foreign database is recognised."""
VERSION = 1
SNIPPET_WORDS = 24
SCHEMA = (
    "CREATE TABLE objects (number INTEGER PRIMARY KEY AUTOINCREMENT, object_id TEXT NOT NULL UNIQUE)",
    "CREATE VIRTUAL TABLE words USING fts5(title, text, tokenize = 'unicode61 remove_diacritics 2')",
    f"PRAGMA application_id = {MARK}",
    f"PRAGMA user_version = {VERSION}",
)
SEARCH = f"""
    SELECT object_id, title, snippet(words, 1, '', '', '…', {SNIPPET_WORDS}), -rank
    FROM words JOIN objects ON objects.number = words.rowid
    WHERE words MATCH ? ORDER BY rank, words.rowid LIMIT ?
"""


class SqliteFts(SearchService):
    """A full-text index in a file, or in memory."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        """Use `build` or `open` instead."""
        self._connection = connection
        self._place = place

    @classmethod
    def build(cls, rows: Iterable[Row], path: Path | None = None) -> SqliteFts:
        """Index (id, title, text) rows in a new file that only its owner can read, or in memory without a path."""
        if path is not None:
            _claim(path)
        service = cls(_connect(path), str(path or ":memory:"))
        try:
            service._make_tables()
            service.add(rows)
        except BaseException:
            service.close()
            if path is not None:
                path.unlink(missing_ok=True)
            raise
        return service

    @classmethod
    def open(cls, path: Path) -> SqliteFts:
        """Open a file that `build` wrote."""
        if not path.is_file():
            raise InputError(f"there is no search index {path}", hint="build one with SqliteFts.build")
        connection = _connect(path)
        try:
            _recognise(connection, path)
        except BaseException:
            connection.close()
            raise
        return cls(connection, str(path))

    @property
    def name(self) -> str:
        """The kind of service and the file."""
        return f"sqlite:{self._place}"

    def __len__(self) -> int:
        with self._said_clearly():
            return int(self._connection.execute("SELECT count(*) FROM objects").fetchone()[0])

    def search(self, query: str, size: int = 10) -> list[Result]:
        """The documents with any of the words, by BM25."""
        words = check_request(query, size)
        with self._said_clearly():
            rows = self._connection.execute(SEARCH, (_quote(words), size)).fetchall()
        return [
            Result(object_id=object_id, title=title, snippet=snippet, url="", score=score, position=position)
            for position, (object_id, title, snippet, score) in enumerate(rows, start=1)
        ]

    def add(self, rows: Iterable[Row]) -> int:
        """Add (id, title, text) rows, all or none; give their number. An id that is there already is refused."""
        number = 0
        with self._said_clearly(), self._connection:
            for number, (object_id, title, text) in enumerate(rows, start=1):
                try:
                    added = self._connection.execute("INSERT INTO objects (object_id) VALUES (?)", (object_id,))
                    content = (added.lastrowid, title, text)
                    self._connection.execute("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", content)
                except sqlite3.IntegrityError:
                    raise InputError(
                        f"row {number}: the index has a document with this id, or the id is missing",
                        hint="delete the old document first; nothing was added",
                    ) from None
                except UnicodeEncodeError:
                    raise InputError(
                        f"row {number} holds half of a character", hint="check how it was decoded; nothing was added"
                    ) from None
        return number

    def delete(self, object_ids: Iterable[str]) -> int:
        """Delete documents by id and give how many there were; ids that are not there are passed over."""
        gone = 0
        with self._said_clearly(), self._connection:
            for object_id in object_ids:
                found = self._connection.execute(
                    "DELETE FROM objects WHERE object_id = ? RETURNING number", (object_id,)
                ).fetchall()
                self._connection.executemany("DELETE FROM words WHERE rowid = ?", found)
                gone += len(found)
        return gone

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _make_tables(self) -> None:
        try:
            for statement in SCHEMA:
                self._connection.execute(statement)
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                raise EngineError(
                    "the SQLite of this Python was built without full-text search (FTS5)",
                    hint="use another Python, or another search service such as index:DIR",
                ) from None
            raise EngineError(f"{self._place} cannot be written", hint="is the disk full?") from None

    @contextmanager
    def _said_clearly(self) -> Iterator[None]:
        """Say what SQLite's errors mean; their own texts may quote what was searched."""
        try:
            yield
        except sqlite3.OperationalError as error:
            locked = "locked" in str(error)
            reason = f"is locked by another process for more than {SECONDS_TO_WAIT:g} s" if locked else "failed"
            raise ServiceError(f"{self.name} {reason} (tried once)", hint="wait, or check the disk") from None
        except sqlite3.ProgrammingError:
            raise ServiceError(
                f"{self.name} is closed, or was opened in another thread", hint="open it where it is used"
            ) from None
        except sqlite3.DatabaseError:
            raise ServiceError(f"{self.name} is damaged", hint="build the index again") from None


def _quote(words: str) -> str:
    """Any of the words, each as a text of FTS5: between quotes, with the quotes inside doubled."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words.split())


def _claim(path: Path) -> None:
    """Make the empty file with the right permissions, since SQLite would ask the umask."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY))
    except FileExistsError:
        raise ParameterError(f"{path} exists", hint="choose another name, or open it and add to it") from None
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {error.strerror}") from None


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return sqlite3.connect(":memory:")
    try:
        # mode=rw: a name that is mistyped must not become a new, empty file.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=SECONDS_TO_WAIT)
    except sqlite3.OperationalError as error:
        raise _unreadable(path, error) from None


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what is no index of this version; damage further inside shows when it is read."""
    try:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from None
    if mark != MARK or not {"objects", "words"} <= tables:
        raise InputError(f"{path} is a database, but no search index of aidos", hint="name another file")
    if version != VERSION:
        raise InputError(f"{path} was written by another version of aidos", hint="build the index again")


def _unreadable(path: Path, error: sqlite3.DatabaseError) -> InputError:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return InputError(f"{path} is no SQLite file", hint="name a file that SqliteFts.build wrote")
    if isinstance(error, sqlite3.OperationalError):
        return InputError(f"{path} cannot be opened", hint="is it your file, and is no other process writing to it?")
    return InputError(f"{path} is damaged", hint="build the index again")
