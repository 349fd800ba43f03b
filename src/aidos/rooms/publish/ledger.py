"""The ledger of a source of data as one value, for Python."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from aidos.account.ledger import FileLedger
from aidos.core.guarantee import Guarantee
from aidos.jobs.calling import call_job
from aidos.jobs.desk import Desk
from aidos.jobs.inputs import Data, as_files
from aidos.rooms.publish.jobs.ledger import (
    CloseLedger,
    ExtendLedger,
    LedgerChanged,
    LedgerShown,
    LedgerVerified,
    OpenLedger,
    ShowLedger,
    VerifyLedger,
)

__all__ = ["Ledger"]


class Ledger(PathLike[str]):
    """The privacy budget of a source of data: a file that every release is charged to.

    ``aidos.Ledger("log.ledger")`` is one that is there, ``aidos.Ledger.open(log, ...)`` makes one. Whatever takes the
    path of a ledger takes this too.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._file = FileLedger(self.path)

    @classmethod
    def open(cls, data: Data, /, *, epsilon: float, delta: float, output: str | PathLike[str], **more: Any) -> Ledger:
        """Open the ledger of these data, once; ``more`` are parameters of `OpenLedger`, such as ``person``."""
        with as_files(data) as files:
            given = {"files": files, "epsilon": epsilon, "delta": delta, "output": Path(output), **more}
            made: LedgerChanged = call_job(OpenLedger, given, called="aidos.Ledger.open")
        return cls(str(made.path))

    def show(self) -> LedgerShown:
        """What was spent, what is left, and every charge."""
        return ShowLedger(self.path).run(Desk())

    def extend(self, data: Data, **more: Any) -> LedgerChanged:
        """Declare that data are a later state of this ledger's source."""
        with as_files(data) as files:
            given = {"file": self.path, "files": files, **more}
            made: LedgerChanged = call_job(ExtendLedger, given, called="aidos.Ledger.extend")
        return made

    def verify(self, *releases: str | PathLike[str]) -> LedgerVerified:
        """Whether it is whole, and no older than its witnesses and these releases."""
        return VerifyLedger(self.path, tuple(map(Path, releases))).run(Desk())

    def close(self) -> LedgerChanged:
        """Allow no more charges, for good."""
        return CloseLedger(self.path).run(Desk())

    def charge(self, guarantee: Guarantee) -> None:
        """Write the spend down, or raise BudgetError and write nothing."""
        self._file.charge(guarantee)

    def spent(self) -> tuple[float, float]:
        """Epsilon and delta spent so far."""
        return self._file.spent()

    def left(self) -> tuple[float, float]:
        """Epsilon and delta that remain, each by itself."""
        return self._file.state().left()

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        spent, left = (f"epsilon {amount[0]:.4g}" for amount in (self.spent(), self.left()))
        return f"<Ledger {self.path}: spent {spent}, left {left}>"
