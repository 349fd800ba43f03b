"""Making and opening the file of a store: SQLite, recognised by its own marks, whole or not there.

A new store is built beside its place and gets its name when it is complete, so that a crash leaves no half of one and
two processes that start at once agree on one. Only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from aidos.engine.database import SECONDS_TO_WAIT
from aidos.engine.files import partial_file, publish_new
from aidos.errors import InputError
from aidos.rooms.fairness.storage.tables import SCHEMA, STORE, StoreTables

__all__ = ["connect", "make_store"]

APPLICATION = 0x61694561
"""Marks the file as a store of attention ("aiEa")."""
PAGES_BEFORE_WRITING_BACK = 4000
"""SQLite moves its log into the file after so many pages (16 MB)."""


def connect(path: Path, *, wait: float = SECONDS_TO_WAIT, read_only: bool = False) -> sqlite3.Connection:
    """Open a store that exists, or say why the file is none."""
    if not path.exists():
        raise STORE.missing(path)
    if not path.is_file():
        raise InputError(f"{path} is no file", hint="a store is one file")
    with STORE.spoken(path):
        # Even a reader opens for writing where it may, since the last to close tidies up what SQLite keeps beside.
        connection = STORE.connect(path, wait=wait, read_only=read_only and not os.access(path, os.W_OK))
        try:
            _recognise(connection, path)
            connection.execute(f"pragma query_only = {int(read_only)}")
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
        with STORE.spoken(path), closing(STORE.connect(partial)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute("begin immediate")
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            tables = StoreTables(connection, path)
            tables.begin(settings, half_life)
            if fill is not None:
                fill(tables)
            connection.execute(f"pragma application_id = {APPLICATION}")
            connection.execute(f"pragma user_version = {STORE.version}")
            connection.execute("commit")
            # Closing would do it as well, but does not tell when it fails, and the log beside is not published.
            connection.execute("pragma wal_checkpoint(truncate)")
        return publish_new(partial, path)


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("pragma application_id").fetchone()
    (version,) = connection.execute("pragma user_version").fetchone()
    if application != APPLICATION:
        raise InputError(f"{path} is not {STORE.noun}", hint="name another file; this one was not changed")
    if version > STORE.version:
        raise InputError(
            f"{path} was written by a newer aidos (format {version}, this one knows {STORE.version})",
            hint="update aidos",
        )
    if version < 1:
        raise STORE.damage(path)
