"""What has been spent, in order, and what is left.

`Ledger` is the shape that the one door needs. `MemoryLedger` forgets when the process ends, so it fits notebooks, tests
and synthetic data. `FileLedger` outlives it: one file per source of data, append-only, locked, flushed to disk.

A charge is written and flushed before data are read; whether it led to a publication is a remark that follows. A crash
in between leaves a charge without a remark, and that counts as spent. A line that a crash cut short counts as well:
with its cost where that can be read, otherwise with everything that was left. Two processes cannot spend the same
budget, since reading the state, deciding and writing happen under one lock. A ledger that is older than its witness
(see `witness`) is refused.

A ledger belongs to a source, a log with all its states; `lineage` says how those are recognised, and what is not. A
ledger keeps honest people from mistakes; it does not bind its owner, who can delete it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from aidos.account.budget import Accountant, Budget, Spend
from aidos.account.composition import GaussianPart
from aidos.account.ledgerstate import LedgerState, digest, read_state, seal, write_spend
from aidos.account.lineage import DataSet, fingerprint_files
from aidos.account.witness import Witness, held, prepare, refuse_older
from aidos.core.guarantee import PERSON, Guarantee, Neighbours, Unit
from aidos.engine.inputs import LARGEST
from aidos.engine.store import append
from aidos.errors import BudgetError, EngineError, InputError, ParameterError

__all__ = ["Booking", "Charged", "FileLedger", "Ledger", "MemoryLedger", "now", "write_line"]

SECONDS_TO_WAIT = 10.0
MOST_OF_THE_LINES = 0.5
"""Data that share more lines than this with a known state are a later state of the same source."""


class Ledger(Protocol):
    """Keeps the sum of what was promised below what the owner allows."""

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        ...

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        ...


@dataclass(slots=True)
class MemoryLedger:
    """A ledger for one process; epsilons and deltas add up."""

    epsilon: float
    delta: float
    unit: Unit = PERSON
    neighbours: Neighbours = Neighbours.ADD_OR_REMOVE_ONE
    entries: list[Guarantee] = field(default_factory=list, init=False)
    budget: Budget = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.budget = Budget(
            epsilon=self.epsilon,
            delta=self.delta,
            unit=self.unit,
            neighbours=self.neighbours,
            accountant=Accountant.BASIC,
        )

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.budget.spent(self._spends())

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        self.budget.admit(self._spends(), Spend(guarantee))
        self.entries.append(guarantee)

    def _spends(self) -> list[Spend]:
        return [Spend(entry) for entry in self.entries]


@dataclass(frozen=True, slots=True)
class Charged:
    """A charge that is on disk."""

    ledger: str
    """The ledger's id."""
    number: int
    """The line, under which `settle` remarks what became of it."""
    head: str
    """The hash of the line and, through it, of all lines before."""


class FileLedger:
    """The ledger of one data set; every call reads the file anew."""

    def __init__(self, path: Path, *, wait: float = SECONDS_TO_WAIT) -> None:
        self.path = path
        self.wait = wait
        self.state()

    def state(self) -> LedgerState:
        """What the file says now."""
        with self._held(alone=False) as descriptor:
            return self._read(descriptor)

    def witnessed(self) -> list[str]:
        """What the witnesses say; InputError if the file is older than one of them, or another history."""
        state = self.state()
        return refuse_older(self.path, state.id, state.heads, state.witnesses)

    def recognises(self, data: DataSet) -> bool:
        """Whether the data are a state of the ledger's source, known or new."""
        state = self.state()
        if state.knows(data.contents):
            return True
        if any(not part.spacing for part in state.parts) and state.knows(fingerprint_files(data.paths)):
            return True  # the first format knew compressed files by their bytes
        return any(data.shared_lines(part, state.key) > MOST_OF_THE_LINES for part in state.parts)

    def extend(self, data: DataSet, *, disjoint: tuple[str, ...] = ()) -> bool:
        """Remember a state of the data; tell whether it is new. ``disjoint`` are ids of ledgers of other people."""
        part = data.part(self.state().key)
        with self._held() as descriptor:
            state = self._current(descriptor)
            if any(
                known.data == part.data and known.spacing and len(known.people) >= len(part.people)
                for known in state.parts
            ):
                return False
            line = {"kind": "part", "part": asdict(part), "disjoint": disjoint, "time": now()}
            self._append(descriptor, state, line)
        return True

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.state().spent()

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        self.book(guarantee)

    def book(self, guarantee: Guarantee, *, gaussian: GaussianPart | None = None, about: str = "") -> Charged:
        """Charge, and give the number under which `settle` remarks what became of it.

        ``gaussian`` is the Gaussian part of the release, by which costs add up to less.
        """
        asked = Spend(guarantee, gaussian)
        with self._held() as descriptor:
            state = self._current(descriptor)
            self._refuse_when_over(state)
            state.budget.admit(state.spends, asked)
            line = {"kind": "charged", **write_spend(asked), "about": about, "time": now()}
            return self._append(descriptor, state, line)

    def settle(self, number: int, outcome: str) -> None:
        """Remark that a charge was "published" or "abandoned". It is spent either way."""
        if outcome not in {"published", "abandoned"}:
            raise ParameterError(f"a charge is published or abandoned, not {outcome}")
        with self._held() as descriptor:
            state = self._current(descriptor)
            if number not in {charge.number for charge in state.charges if charge.outcome == "unknown"}:
                raise ParameterError(f"{self.path} has no open charge with number {number}")
            self._append(descriptor, state, {"kind": "settled", "charge": number, "outcome": outcome, "time": now()})

    def close(self) -> None:
        """Allow no more charges, for good."""
        with self._held() as descriptor:
            state = self._current(descriptor)
            if not state.closed:
                self._append(descriptor, state, {"kind": "closed", "time": now()})

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

    def _append(self, descriptor: int, state: LedgerState, content: dict[str, Any]) -> Charged:
        """Write one line (and before it the seal of a torn one), flushed to disk, and its witnesses."""
        payload, number, chain = b"\n" if state.unended else b"", state.lines + 1, state.chain
        if state.torn:
            mark = {"line": number, "kind": "torn", "digest": digest(state.torn), "time": now()}
            sealed, chain = seal(state.key, chain, mark)
            payload, number = b"\n" + sealed, number + 1
        line, head = seal(state.key, chain, {"line": number, **content})
        with prepare(Witness(state.id, number, head, str(self.path.resolve())), state.witnesses):
            write_line(self.path, descriptor, payload + line)
        return Charged(state.id, number, head)

    def _current(self, descriptor: int) -> LedgerState:
        """What the file says, if no witness knows of more."""
        state = self._read(descriptor)
        refuse_older(self.path, state.id, state.heads, state.witnesses)
        return state

    @contextmanager
    def _held(self, *, alone: bool = True) -> Iterator[int]:
        flags = os.O_RDWR | os.O_APPEND if alone else os.O_RDONLY
        with ExitStack() as stack:
            try:
                descriptor = stack.enter_context(held(self.path, flags, alone=alone, wait=self.wait))
            except OSError as error:
                raise _unreadable(self.path, error) from error
            yield descriptor

    def _read(self, descriptor: int) -> LedgerState:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"{self.path} is no file", hint="a ledger is a file: aidos ledger open makes one")
        if os.fstat(descriptor).st_size > LARGEST:
            raise InputError(
                f"{self.path} is larger than any ledger: {os.fstat(descriptor).st_size:,} bytes",
                hint="check the name, or bring it back from a copy",
            )
        state = read_state(self.path, _contents(descriptor))
        if os.fstat(descriptor).st_mode & 0o077:
            raise InputError(
                f"{self.path} can be read by others than its owner, and it holds a key",
                hint=f"chmod 600 {self.path}",
            )
        return state


@dataclass(slots=True)
class Booking:
    """A charge to a ledger file that is settled when the release stands."""

    ledger: FileLedger
    gaussian: GaussianPart | None = None
    about: str = ""
    charged: Charged = Charged(ledger="", number=0, head="")

    def charge(self, guarantee: Guarantee) -> None:
        """Book it, and keep its number for settling."""
        self.charged = self.ledger.book(guarantee, gaussian=self.gaussian, about=self.about)

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self.ledger.spent()

    def settle(self, outcome: str) -> None:
        """Remark that the release is out ("published") or lost ("abandoned")."""
        self.ledger.settle(self.charged.number, outcome)

    def entry(self) -> dict[str, object]:
        """For the manifest: where the release was charged, so that an older copy of the ledger is found out."""
        return {"id": self.charged.ledger, "line": self.charged.number, "head": self.charged.head}


def write_line(path: Path, descriptor: int, payload: bytes) -> None:
    """Append and flush to disk, or leave the file as it was."""
    try:
        # Nobody has acted on this line yet, so that taking it back gives nothing away.
        append(descriptor, payload)
    except OSError as error:
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


def now() -> str:
    """The time as it is written."""
    return datetime.now(UTC).isoformat(timespec="seconds")
