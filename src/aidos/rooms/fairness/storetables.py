"""What stands in a store, and how rankings and accounts become rows.

A served ranking is one row of the journal: whose accounts it touched and by how much. Now and then the journal is
folded into the balances, which are kept in pages of many accounts, since a page is written as fast as one account.
Whoever opens a store reads the balances and counts the journal again in its order; all numbers are kept as the 64 bits
that they were, so that the outcome is that of one process which never stopped, bit for bit.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from aidos.core.jsontext import parse_json
from aidos.engine.database import Database
from aidos.errors import InputError
from aidos.rooms.fairness.accounts import Accounts, Answer, Searcher, Served
from aidos.rooms.fairness.rankings import Floats

__all__ = ["SCHEMA", "STORE", "StoreTables", "decode", "encode"]

STORE = Database(
    noun="a store of attention accounts",
    version=1,
    absent="there is no store {path}",
    first="check the name; a store is made by the first ranking",
    again="bring it back from a backup, or start a new store from an export: attention counted since is lost",
    busy="another re-ranker holds the store {path}",
    unchanged="nothing was counted, and the store is as it was",
)
SCHEMA = """
create table facts (name text primary key, value text not null) without rowid;
create table state (
    folded integer not null, scale real not null, unfairness real not null, half_life real
);
create table subjects (slot integer primary key, name text not null);
create table balances (page integer primary key, received blob not null, earned blob not null);
create table searchers (name text primary key, rankings integer not null, quality real not null) without rowid;
create table journal (
    sequence integer primary key, searcher text not null, quality real not null, payload blob not null
);
create table answers (
    ranking_id text primary key, content text not null, placed text not null, quality real not null,
    unfairness real not null
) without rowid;
"""
ACCOUNTS_PER_PAGE = 4096
MOST_RANKINGS = 1 << 62
HEAD = struct.Struct("<II")


def encode(served: Served) -> bytes:
    """What of a ranking changes accounts: slots, relevance, placed, attention."""
    if len(served.slots) and int(served.slots.max()) >= 1 << 32:
        raise InputError("a store holds no more than 4 294 967 296 accounts")
    return b"".join(
        (
            HEAD.pack(len(served.slots), len(served.placed)),
            served.slots.astype("<u4").tobytes(),
            served.relevance.astype("<f8", copy=False).tobytes(),
            served.placed.astype("<u4").tobytes(),
            served.attention.astype("<f8", copy=False).tobytes(),
        )
    )


def decode(payload: bytes, *, searcher: str, quality: float) -> Served:
    """The ranking as it is counted again; ValueError when the bytes are not what `encode` made."""
    if len(payload) < HEAD.size:
        raise ValueError("too short")
    subjects, positions = HEAD.unpack_from(payload)
    if len(payload) != HEAD.size + 12 * (subjects + positions):
        raise ValueError("not the length that it says")
    ends = np.cumsum([HEAD.size, 4 * subjects, 8 * subjects, 4 * positions]).tolist()
    return Served(
        ranking_id="",
        content="",
        slots=np.frombuffer(payload, "<u4", subjects, ends[0]).astype(np.int64),
        relevance=np.frombuffer(payload, "<f8", subjects, ends[1]).astype(np.float64),
        placed=np.frombuffer(payload, "<u4", positions, ends[2]).astype(np.int64),
        attention=np.frombuffer(payload, "<f8", positions, ends[3]).astype(np.float64),
        placed_ids=(),
        searcher_id=searcher,
        quality=quality,
    )


class StoreTables:
    """The rows of one store. Transactions are the caller's."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._execute = connection.execute
        self._execute_many = connection.executemany

    def begin(self, settings: Mapping[str, str], half_life: float | None) -> None:
        """Write down what a new store is bound to."""
        self._execute_many("insert into facts values (?, ?)", sorted(settings.items()))
        self._execute("insert into state values (0, 1.0, 0.0, ?)", (half_life,))

    def settings(self) -> dict[str, str]:
        """What the store is bound to."""
        return dict(self._execute("select name, value from facts order by name"))

    def half_life(self) -> float | None:
        """Rankings after which an account has faded to half."""
        return self._state()[3]

    def folded(self) -> int:
        """How many rankings are in the balances; those that follow are in the journal."""
        return self._state()[0]

    def journal_size(self) -> tuple[int, int]:
        """Rankings in the journal, and the bytes they take."""
        rows, size = self._execute("select count(*), coalesce(sum(length(payload)), 0) from journal").fetchone()
        return rows, size

    def load(self, accounts: Accounts, known: Sequence[str] = ()) -> None:
        """Read everything; ``known`` are names that were read before, which never change."""
        folded, scale, unfairness, _ = self._state()
        names = [*known, *self._names(len(known))]
        received, earned = self._balances(len(names))
        told = self._execute("select name, rankings, quality from searchers").fetchall()
        if not all(
            _are(str, name) and _are(int, rankings) and _are(float, quality) for name, rankings, quality in told
        ):
            raise STORE.damage(self.path, "what it says of searchers is no number")
        searchers = {name: Searcher(rankings, quality) for name, rankings, quality in told}
        try:
            accounts.load(names, received, earned, rankings=folded)
        except ValueError as error:
            raise STORE.damage(self.path, "two accounts have one name") from error
        accounts.resume(scale=scale, unfairness=unfairness, searchers=searchers)
        self._replay(accounts)

    def catch_up(self, accounts: Accounts) -> None:
        """Count what others wrote since the accounts were read; nothing of that may be folded yet."""
        accounts.slots(self._names(len(accounts)))
        self._replay(accounts)

    def open_subjects(self, names: Sequence[str], *, first: int) -> None:
        """Give names their slots."""
        self._execute_many("insert into subjects values (?, ?)", enumerate(names, first))

    def append(self, sequence: int, served: Served, payload: bytes) -> None:
        """Write one ranking into the journal."""
        row = (sequence, served.searcher_id, served.quality, payload)
        self._execute("insert into journal values (?, ?, ?, ?)", row)

    def remember(self, ranking_id: str, answer: Answer) -> None:
        """Keep an answer for ever."""
        placed = json.dumps(answer.placed_ids, ensure_ascii=False)
        row = (ranking_id, answer.content, placed, answer.quality, answer.unfairness)
        self._execute("insert into answers values (?, ?, ?, ?, ?)", row)

    def answer(self, ranking_id: str) -> Answer | None:
        """What was served under that name."""
        asked = "select content, placed, quality, unfairness from answers where ranking_id = ?"
        row = self._execute(asked, (ranking_id,)).fetchone()
        if row is None:
            return None
        try:
            placed = parse_json(row[1])
        except (TypeError, ValueError) as error:
            raise STORE.damage(self.path, "an answer cannot be read") from error
        if not isinstance(placed, list) or not _are(str, row[0], *placed) or not _are(float, *row[2:]):
            raise STORE.damage(self.path, "an answer cannot be read")
        return Answer(content=row[0], placed_ids=tuple(placed), quality=row[2], unfairness=row[3])

    def fold(self, accounts: Accounts) -> None:
        """Write all balances and empty the journal."""
        received, earned, scale = accounts.kept()
        changed = [name for (name,) in self._execute("select distinct searcher from journal where searcher != ''")]
        self._execute_many(
            "insert or replace into searchers values (?, ?, ?)",
            ((name, accounts.searchers[name].rankings, accounts.searchers[name].quality) for name in changed),
        )
        starts = range(0, len(accounts), ACCOUNTS_PER_PAGE)
        self._execute_many(
            "insert or replace into balances values (?, ?, ?)",
            (
                (start // ACCOUNTS_PER_PAGE, *(_page(numbers, start) for numbers in (received, earned)))
                for start in starts
            ),
        )
        self._execute("delete from journal")
        state = (accounts.rankings, scale, accounts.unfairness)
        self._execute("update state set folded = ?, scale = ?, unfairness = ?", state)

    def _state(self) -> tuple[int, float, float, float | None]:
        rows = self._execute("select folded, scale, unfairness, half_life from state").fetchall()
        if len(rows) != 1:
            raise STORE.damage(self.path)
        state: tuple[int, float, float, float | None] = rows[0]
        folded, scale, unfairness, half_life = state
        numbers = (scale, unfairness, *(() if half_life is None else (half_life,)))
        if not _are(int, folded) or not _are(float, *numbers) or not (scale > 0 and 0 <= folded < MOST_RANKINGS):
            raise STORE.damage(self.path, "what it has counted is no number")
        return state

    def _names(self, first: int) -> list[str]:
        rows = self._execute("select slot, name from subjects where slot >= ? order by slot", (first,)).fetchall()
        if (rows and rows[-1][0] != first + len(rows) - 1) or not _are(str, *(name for _, name in rows)):
            raise STORE.damage(self.path, "accounts are missing")
        return [name for _, name in rows]

    def _balances(self, size: int) -> tuple[Floats, Floats]:
        """All numbers; accounts opened after the last folding have nothing yet."""
        both = np.zeros(size), np.zeros(size)
        for page, *blobs in self._execute("select page, received, earned from balances order by page"):
            start = page * ACCOUNTS_PER_PAGE
            for numbers, blob in zip(both, blobs, strict=True):
                if (
                    not _are(bytes, blob)
                    or page < 0
                    or len(blob) % 8
                    or not 0 < len(blob) // 8 <= min(ACCOUNTS_PER_PAGE, size - start)
                ):
                    raise STORE.damage(self.path, "balances have no account")
                numbers[start : start + len(blob) // 8] = np.frombuffer(blob, "<f8")
        if not all(np.isfinite(numbers).all() and (numbers >= 0).all() for numbers in both):
            raise STORE.damage(self.path, "balances are no numbers")
        return both

    def _replay(self, accounts: Accounts) -> None:
        asked = "select sequence, searcher, quality, payload from journal where sequence > ? order by sequence"
        for sequence, searcher, quality, payload in self._execute(asked, (accounts.rankings,)):
            if sequence != accounts.rankings + 1:
                raise STORE.damage(self.path, "rankings are missing")
            if not _are(str, searcher) or not _are(float, quality) or not _are(bytes, payload):
                raise STORE.damage(self.path, f"ranking {sequence} cannot be read")
            try:
                accounts.count(decode(payload, searcher=searcher, quality=quality))
            except (ValueError, IndexError) as error:
                raise STORE.damage(self.path, f"ranking {sequence} cannot be read") from error


def _are(kind: type, *values: object) -> bool:
    """Whether values are of the kind that the tables say, which SQLite does not enforce; numbers are finite."""
    if kind is float:
        return all(isinstance(value, float | int) and isfinite(value) for value in values)
    return all(isinstance(value, kind) for value in values)


def _page(numbers: Floats, start: int) -> bytes:
    return numbers[start : start + ACCOUNTS_PER_PAGE].astype("<f8", copy=False).tobytes()
