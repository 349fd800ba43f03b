"""The directory of a risk state: for its owner alone, written by one process at a time, errors in words."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aidos.errors import EngineError, InputError

__all__ = ["AGAIN", "FILE", "PARTIAL", "connect", "hold", "make_directory", "spoken_errors"]

FILE = "state.sqlite"
PARTIAL = ".state.partial"
"""The file while it is made."""
AGAIN = "make it again from the entries"
SECONDS_TO_WAIT = 30.0


def connect(file: Path) -> sqlite3.Connection:
    """The file, with every change on the disk when it is done, and zeros where something was."""
    connection = sqlite3.connect(file, isolation_level=None, timeout=SECONDS_TO_WAIT)
    connection.execute("pragma synchronous = full")
    connection.execute("pragma secure_delete = on")
    return connection


def make_directory(path: Path) -> None:
    """A directory that only its owner may read, or a word why there can be none."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, a directory was expected", hint="choose another name")
    if not path.absolute().parent.is_dir():
        raise InputError(f"the directory of {path} does not exist", hint=f"make it first: mkdir -p {path.parent}")
    if path.is_dir() and (others := [entry.name for entry in path.iterdir() if not entry.name.startswith(PARTIAL)]):
        what = "a risk state" if FILE in others else "other files"
        raise InputError(f"{path} holds {what} already", hint="choose another directory, or remove this one")
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise EngineError(f"{path} cannot be made: {error.strerror}", hint="choose another place") from error


def hold(path: Path) -> int:
    """Hold the directory so that nobody else writes to it; refused at once when somebody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"there is no risk state in {path}", hint="make one from posts or queries first") from error
    except OSError as error:
        raise EngineError(f"{path} cannot be opened: {error.strerror}", hint="only its owner may read it") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise EngineError(f"somebody else is writing to {path}", hint="wait until they are done") from error
    return descriptor


@contextmanager
def spoken_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite in words."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise EngineError(f"{path} cannot be used: {error}", hint="look at disk space and permissions") from error
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path} is damaged: {error}", hint=AGAIN) from error
