"""How long work tells that it goes on, without knowing who listens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

__all__ = ["SILENT", "Progress", "Task"]


class Task(Protocol):
    """One piece of work under way."""

    def advance(self, amount: float) -> None:
        """So much more is done."""
        ...

    def move_to(self, done: float) -> None:
        """So much is done in all."""
        ...


class Progress(Protocol):
    """A listener: a bar in a terminal, or nobody."""

    def task(self, label: str, *, total: float | None, unit: str) -> AbstractContextManager[Task]:
        """Announce work of ``total`` units (unknown when None); leave the context when it is done."""
        ...


class _NoTask:
    def advance(self, amount: float) -> None:
        """Nobody listens."""

    def move_to(self, done: float) -> None:
        """Nobody listens."""


class _Silent:
    @contextmanager
    def task(self, label: str, *, total: float | None, unit: str) -> Iterator[Task]:  # noqa: ARG002
        yield _NoTask()


SILENT: Progress = _Silent()
"""The listener of library users who gave none."""
