"""How long work tells that it goes on, without knowing who listens; and where its time goes.

A `Stopwatch` listens where work reports progress, so nothing has to be measured inside of it. Phases do not overlap:
while one is inside another, the time is the inner one's, and all of them add up. Times depend on the data and carry no
noise: they are for the owner of the data, and stand in no release.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

__all__ = ["SILENT", "Progress", "Stopwatch", "Task"]


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


class Stopwatch:
    """Wall and processor seconds by phase; a listener to progress that passes it on to another."""

    def __init__(self, progress: Progress = SILENT, *, inside: Mapping[str, str] | None = None) -> None:
        """``inside`` names the phase of work that is reported during a phase, where that is another one."""
        self.progress = progress
        self._inside = inside or {}
        self._spent: dict[str, list[float]] = {}
        self._phases: list[str] = []
        self._mark = _now()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time that is spent inside belongs to this phase, except what belongs to phases within."""
        self._book()
        self._phases.append(name)
        try:
            yield
        finally:
            self._book()
            self._phases.pop()

    @contextmanager
    def task(self, label: str, *, total: float | None, unit: str) -> Iterator[Task]:
        """Work that is reported belongs to the phase it is reported in, or to the one that stands for it."""
        phase = self._phases[-1] if self._phases else label
        with self.phase(self._inside.get(phase, phase)), self.progress.task(label, total=total, unit=unit) as task:
            yield task

    def seconds(self) -> Mapping[str, Mapping[str, float]]:
        """The split: for each phase its seconds on the wall and those of all processors."""
        return {name: {"wall": round(wall, 3), "processor": round(cpu, 3)} for name, (wall, cpu) in self._spent.items()}

    def _book(self) -> None:
        now = _now()
        if self._phases:
            spent = self._spent.setdefault(self._phases[-1], [0.0, 0.0])
            spent[0] += now[0] - self._mark[0]
            spent[1] += now[1] - self._mark[1]
        self._mark = now


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()
