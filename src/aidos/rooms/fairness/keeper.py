"""Accounts that outlive the process: one SQLite file, shared by any number of re-rankers, one turn at a time.

A ranking is counted when its turn ends: its row, its answer and the accounts it opened are one transaction that is on
the disk before the turn is over. Killed at any moment, a process leaves the ranking either counted with its answer or
not counted at all; whoever asks again under the same ranking id gets the same answer and counts nothing. Rankings
without an id cannot be recognised: asked again, they count again. Numbers read back are those that one `MemoryKeeper`
would hold after the same rankings, bit for bit.

A store is bound to the attention model and other settings that it was made with. It must live on a local disk (the
locks of network file systems cannot be trusted), and a copy of it is made with an export, not with cp while in use.

A store is opened for a re-ranker so that the two agree: what accounts mean depends on a few of its parameters.

The file is recognised by its own marks. A new store is built beside its place and gets its name when it is complete, so
that a crash leaves no half of one and two processes that start at once agree on one. Only its owner may read it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from aidos.engine.database import SECONDS_TO_WAIT
from aidos.engine.files import partial_file, publish_new, sweep_leftovers
from aidos.errors import EngineError, InputError, ParameterError
from aidos.rooms.fairness.accounts import Accounts, Answer, Served
from aidos.rooms.fairness.storetables import SCHEMA, STORE, StoreTables, encode

if TYPE_CHECKING:
    from aidos.rooms.fairness.equity import Attending

__all__ = ["StoreKeeper", "connect", "make_store", "open_store", "read_store", "store_facts", "store_settings"]

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


RANKINGS_BEFORE_FOLDING = 2000
BYTES_BEFORE_FOLDING = 4 << 20
BYTES_PER_ACCOUNT = 16
"""Folding writes so much for each account; the journal grows to as much before it is worth it."""


class StoreKeeper:
    """Keeps accounts in a file. Make one with `StoreKeeper.open`; a process that forks opens its own."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, half_life: float | None) -> None:
        self.path = path
        self._connection = connection
        self._tables = StoreTables(connection, path)
        self._accounts = Accounts(half_life=half_life)
        self._lock = RLock()
        self._process = os.getpid()
        self._place = path.absolute()  # the process may change its directory
        self._inode = self._place.stat().st_ino
        self._in_turn = False
        self._recorded_whole = True
        self._written = 0
        """Accounts of ours that have a row."""
        self._synced = False
        """Whether the accounts in memory are those of the file at `_version`."""
        self._version = 0
        self._journal = (0, 0)
        """Rankings and bytes in the journal."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        settings: Mapping[str, str],
        half_life: float | None = None,
        create: bool = True,
        wait: float = SECONDS_TO_WAIT,
    ) -> Self:
        """Open a store, or make it when it is not there; ``wait`` is how many seconds a turn may have to wait."""
        Accounts(half_life=half_life)  # refuses what is no half-life before a file is made
        sweep_leftovers(path)
        if create and not path.exists():
            make_store(path, settings, half_life)
        connection = connect(path, wait=wait)
        try:
            with STORE.spoken(path):
                _refuse_other_settings(StoreTables(connection, path), settings, half_life)
            keeper = cls(path, connection, half_life=half_life)
            with keeper.turn():
                pass  # reads everything now, so that damage is found before the first ranking
        except BaseException:
            connection.close()
            raise
        return keeper

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. What was recorded is on the disk already."""
        if os.getpid() == self._process:
            self._connection.close()

    @contextmanager
    def turn(self) -> Iterator[Accounts]:
        """Accounts as they are now, for this caller alone; an exception takes everything of the turn back."""
        with self._lock:
            self._refuse_misuse()
            self._in_turn = True
            try:
                self._begin()
                yield self._accounts
                self._finish()
            except BaseException:
                self._take_back()
                raise
            finally:
                self._in_turn = False

    def answer(self, ranking_id: str) -> Answer | None:
        """What was served under that name before; only within a turn."""
        self._refuse_outside_turn()
        with STORE.spoken(self.path):
            return self._tables.answer(ranking_id) if ranking_id else None

    def record(self, served: Served) -> None:
        """Count a ranking; only within a turn."""
        self._refuse_outside_turn()
        self._recorded_whole = False
        if self.answer(served.ranking_id) is not None:
            raise RuntimeError("a ranking of that name was counted before: ask for its answer first")
        payload = encode(served)
        self._synced = False  # until it is on the disk
        self._accounts.count(served)
        with STORE.spoken(self.path):
            self._tables.append(self._accounts.rankings, served, payload)
            if served.ranking_id:
                self._tables.remember(served.ranking_id, served.answer(self._accounts.unfairness))
        self._journal = (self._journal[0] + 1, self._journal[1] + len(payload))
        self._recorded_whole = True

    def _begin(self) -> None:
        self._recorded_whole = True
        with STORE.spoken(self.path):
            self._connection.execute("begin immediate")
            (version,) = self._connection.execute("pragma data_version").fetchone()
            if self._synced and version == self._version:
                return
            known, self._synced = self._synced, False
            if known and self._tables.folded() <= self._accounts.rankings:
                self._tables.catch_up(self._accounts)
            else:
                self._tables.load(self._accounts, self._accounts.names[: self._written])
            self._journal = self._tables.journal_size()
        self._written, self._version, self._synced = len(self._accounts), version, True

    def _finish(self) -> None:
        if not self._recorded_whole:
            raise RuntimeError("a ranking of this turn could not be recorded, so that none of it is counted")
        names = self._accounts.names
        with STORE.spoken(self.path):
            if len(names) > self._written:
                self._tables.open_subjects(names[self._written :], first=self._written)
            rankings, size = self._journal
            if fold := rankings >= self._folding_rankings() or size >= self._folding_bytes():
                self._tables.fold(self._accounts)
            self._connection.execute("commit")
        self._journal = (0, 0) if fold else self._journal
        self._written, self._synced = len(names), True

    def _folding_rankings(self) -> int:
        # A hundredth: folding a million accounts takes as long as counting ten thousand small rankings again.
        return max(RANKINGS_BEFORE_FOLDING, len(self._accounts) // 100)

    def _folding_bytes(self) -> int:
        return max(BYTES_BEFORE_FOLDING, BYTES_PER_ACCOUNT * len(self._accounts))

    def _take_back(self) -> None:
        """Undo on the disk; memory follows when the next turn begins, should it be ahead of the disk."""
        self._synced = self._synced and len(self._accounts) == self._written
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("rollback")

    def _refuse_misuse(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError("this store was opened before the process forked: open it again in each process")
        if self._in_turn:
            raise RuntimeError("a turn is under way already")
        with suppress(OSError):
            if self._place.stat().st_ino == self._inode:
                return
        raise EngineError(
            f"{self.path} was moved, deleted or replaced while it was in use",
            hint="put it back and start again: what would be counted now would be lost",
        )

    def _refuse_outside_turn(self) -> None:
        if not self._in_turn:
            raise RuntimeError("answer and record belong within a turn")


def read_store(path: Path) -> tuple[dict[str, str], float | None, Accounts]:
    """Settings, half-life and accounts of a store as it is now, without a turn and without changing it."""
    connection = connect(path, read_only=True)
    try:
        with STORE.spoken(path):
            connection.execute("begin")
            tables = StoreTables(connection, path)
            settings, half_life = tables.settings(), tables.half_life()
            accounts = Accounts(half_life=half_life)
            tables.load(accounts)
    finally:
        connection.close()
    return settings, half_life, accounts


def store_facts(path: Path) -> dict[str, Any]:
    """What a person wants to know of a store, ready to print or to write as JSON."""
    settings, half_life, accounts = read_store(path)
    return {
        "path": str(path),
        "format": STORE.version,
        "settings": settings,
        "half_life": half_life,
        "subjects": len(accounts),
        "rankings": accounts.rankings,
        "searchers": len(accounts.searchers),
        "unfairness": accounts.unfairness,
        "bytes": path.stat().st_size,
    }


def _refuse_other_settings(tables: StoreTables, settings: Mapping[str, str], half_life: float | None) -> None:
    stored, made_with = tables.settings(), tables.half_life()
    differing: dict[str, tuple[object, object]] = {
        name: (stored.get(name, "not set"), settings.get(name, "not set"))
        for name in sorted(stored.keys() | settings.keys())
        if stored.get(name) != settings.get(name)
    }
    if half_life != made_with:
        differing.setdefault("half_life", (made_with or "not set", half_life or "not set"))
    if differing:
        listed = "; ".join(
            f"{name} is {has} in the store, {asked} was asked" for name, (has, asked) in differing.items()
        )
        raise ParameterError(
            f"{tables.path} was made with other settings: {listed}",
            hint="ask for what the store has, or start a new store under another name",
        )


def store_settings(equity: Attending) -> dict[str, str]:
    """What a store is bound to: accounts kept under another of these would not add up."""
    return {"attention": equity.attention, "level": equity.level}


def open_store(equity: Attending, path: Path, *, create: bool = True) -> StoreKeeper:
    """The store at that path, made when it is not there; one of other settings is refused."""
    return StoreKeeper.open(path, settings=store_settings(equity), half_life=equity.half_life, create=create)
