"""A ledger that outlives the process: one file per data set, append-only, locked, flushed to disk.

A charge is written and flushed before data are read; whether it led to a publication is a remark that follows. A crash
in between leaves a charge without a remark, and that counts as spent. A line that a crash cut short counts as well:
with its cost where that can be read, otherwise with everything that was left. Two processes cannot spend the same
budget, since reading the state, deciding and writing happen under one lock.

The file is named by a keyed hash of the data set's fingerprint (the key is in the file, which only its owner can read):
a listing of the directory does not tell which data sets were released. A data set is recognised by its bytes; whoever
changes one byte and opens a new ledger starts anew, and so does whoever deletes the file. A ledger keeps honest people
from mistakes; it does not bind its owner.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aidos.account.budget import Budget, Spend
from aidos.account.composition import GaussianPart
from aidos.account.ledgerlines import seal, write_spend
from aidos.account.ledgerstate import FORMAT, LedgerState, digest, keyed, read_state
from aidos.core.guarantee import Guarantee
from aidos.errors import BudgetError, EngineError, InputError, ParameterError

__all__ = ["FileLedger", "find_ledger", "fingerprint_files", "open_ledger"]

SUFFIX = ".ledger"
SECONDS_TO_WAIT = 10.0
OWNER_ONLY = 0o600


class FileLedger:
    """The ledger of one data set; every call reads the file anew."""

    def __init__(self, path: Path, *, fingerprint: str = "", wait: float = SECONDS_TO_WAIT) -> None:
        """``fingerprint`` of the data to be released: a ledger that was opened for other data is refused."""
        self.path = path
        self.wait = wait
        state = self.state()
        if fingerprint and not state.belongs_to(fingerprint):
            raise InputError(
                f"{path} is the ledger of another data set",
                hint="name the ledger of these data, or open one: aidos ledger open",
            )

    def state(self) -> LedgerState:
        """What the file says now."""
        with self._locked(fcntl.LOCK_SH) as descriptor:
            return self._read(descriptor)

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.state().spent()

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        self.book(guarantee)

    def book(self, guarantee: Guarantee, *, gaussian: GaussianPart | None = None, about: str = "") -> int:
        """Charge, and give the number under which `settle` remarks what became of it.

        ``gaussian`` is the Gaussian part of the release, for ledgers with the Gaussian accountant.
        """
        asked = Spend(guarantee, gaussian)
        with self._locked(fcntl.LOCK_EX) as descriptor:
            state = self._read(descriptor)
            self._refuse_when_over(state)
            state.budget.admit(state.spends, asked)
            line = {"kind": "charged", **write_spend(asked), "about": about, "time": _now()}
            return self._append(descriptor, state, line)

    def settle(self, number: int, outcome: str) -> None:
        """Remark that a charge was "published" or "abandoned". It is spent either way."""
        if outcome not in {"published", "abandoned"}:
            raise ParameterError(f"a charge is published or abandoned, not {outcome}")
        with self._locked(fcntl.LOCK_EX) as descriptor:
            state = self._read(descriptor)
            if number not in {charge.number for charge in state.charges if charge.outcome == "unknown"}:
                raise ParameterError(f"{self.path} has no open charge with number {number}")
            self._append(descriptor, state, {"kind": "settled", "charge": number, "outcome": outcome, "time": _now()})

    def close(self) -> None:
        """Allow no more charges, for good."""
        with self._locked(fcntl.LOCK_EX) as descriptor:
            state = self._read(descriptor)
            if not state.closed:
                self._append(descriptor, state, {"kind": "closed", "time": _now()})

    def _refuse_when_over(self, state: LedgerState) -> None:
        if state.closed:
            raise BudgetError(
                f"{self.path} is closed: nothing more may be released from these data",
                spent=state.spent(),
                asked=(0.0, 0.0),
                left=(0.0, 0.0),
            )
        if any(charge.spend is None for charge in state.charges):
            raise BudgetError(
                f"{self.path}: a crash cut a charge short and its cost cannot be read, so all of the budget is spent",
                spent=state.spent(),
                asked=(0.0, 0.0),
                left=(0.0, 0.0),
                hint="aidos ledger show tells when it happened",
            )

    def _append(self, descriptor: int, state: LedgerState, content: dict[str, Any]) -> int:
        """Write one line (and before it the seal of a torn one), flushed to disk; give its number."""
        payload, number, chain = b"\n" if state.unended else b"", state.lines + 1, state.chain
        if state.torn:
            mark = {"line": number, "kind": "torn", "digest": digest(state.torn), "time": _now()}
            sealed, chain = seal(state.key, chain, mark)
            payload, number = b"\n" + sealed, number + 1
        line, _ = seal(state.key, chain, {"line": number, **content})
        _write(self.path, descriptor, payload + line)
        return number

    @contextmanager
    def _locked(self, kind: int) -> Iterator[int]:
        flags = os.O_RDONLY if kind == fcntl.LOCK_SH else os.O_RDWR | os.O_APPEND
        try:
            descriptor = os.open(self.path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise _unreadable(self.path, error) from error
        try:
            self._lock(descriptor, kind)
            yield descriptor
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int) -> LedgerState:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{self.path} is no file", hint="a ledger is a file: aidos ledger open makes one")
        state = read_state(self.path, _contents(descriptor))
        if os.fstat(descriptor).st_mode & 0o077:
            raise InputError(
                f"{self.path} can be read by others than its owner, and it holds a key",
                hint=f"chmod 600 {self.path}",
            )
        return state

    def _lock(self, descriptor: int, kind: int) -> None:
        deadline = time.monotonic() + self.wait
        while True:
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EngineError(
                        f"{self.path} is locked by another process", hint="wait until the other release is done"
                    ) from None
                time.sleep(0.01)
            else:
                return


def open_ledger(place: Path, budget: Budget, *, fingerprint: str) -> FileLedger:
    """Open the ledger of a data set: the file ``place``, or a file in the directory ``place`` named by a keyed hash."""
    key = secrets.token_bytes(32)
    data = keyed(key, fingerprint)
    directory = place if place.is_dir() else place.parent
    if not directory.is_dir():
        raise ParameterError(f"the directory {directory} does not exist", hint=f"make it first: mkdir -p {directory}")
    if known := find_ledger(directory, fingerprint):
        raise ParameterError(f"these data have a ledger already: {known}", hint=f"aidos ledger show {known}")
    path = place / f"{data[:32]}{SUFFIX}" if place.is_dir() else place
    header = {
        "line": 1,
        "kind": "opened",
        "ledger": FORMAT,
        "key": key.hex(),
        "data": data,
        "budget": asdict(budget),
        "time": _now(),
    }
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY)
    except FileExistsError as error:
        raise ParameterError(f"{path} exists", hint="choose another name; a ledger is never overwritten") from error
    except OSError as error:
        raise EngineError(f"{path} cannot be written: {error.strerror}") from error
    try:
        _write(path, descriptor, seal(key, "", header)[0])
    finally:
        os.close(descriptor)
    _flush_directory(directory)
    return FileLedger(path)


def find_ledger(directory: Path, fingerprint: str) -> Path | None:
    """The ledger of the data set in this directory, if there is one that can be read."""
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        try:
            if FileLedger(path, wait=1.0).state().belongs_to(fingerprint):
                return path
        except InputError:
            continue
    return None


def fingerprint_files(paths: Sequence[Path]) -> str:
    """A fingerprint of the contents of files, whatever their names and order."""
    digests = []
    for path in paths:
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return hashlib.sha256(" ".join(sorted(digests)).encode()).hexdigest()


def _write(path: Path, descriptor: int, payload: bytes) -> None:
    """Append and flush to disk, or leave the file as it was."""
    size = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, payload) != len(payload):
            raise OSError(errno.ENOSPC, "the disk is full")
        os.fsync(descriptor)
    except OSError as error:
        # Nobody has acted on this line yet, so that taking it back gives nothing away.
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise EngineError(f"{path} cannot be written: {error.strerror}", hint="nothing was charged") from error


def _contents(descriptor: int) -> bytes:
    parts = []
    offset = 0
    while part := os.pread(descriptor, 1 << 20, offset):
        parts.append(part)
        offset += len(part)
    return b"".join(parts)


def _unreadable(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no ledger {path}", hint="open one with: aidos ledger open")
    return InputError(f"{path} cannot be opened as a ledger: {error.strerror}", hint="a ledger is a file of your own")


def _flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
