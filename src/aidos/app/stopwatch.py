"""Where the time of a release goes: a split of seconds by phase, for the owner of the data.

It listens where the engine reports progress, so nothing has to be measured inside the mechanisms. Phases do not
overlap: while one is inside another, the time is the inner one's, and all of them add up.

Times depend on the data and carry no noise. They are printed for the owner and written into no release.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aidos.core.progress import SILENT, Progress, Task

__all__ = ["COUNTING", "NOISE", "READING", "REHEARSING", "WRITING", "Stopwatch"]

READING = "reading"
REHEARSING = "rehearsing"
COUNTING = "bounding and counting"
NOISE = "noise and choosing"
WRITING = "writing"


class Stopwatch:
    """Wall and processor seconds by phase; a listener to progress that passes it on to another."""

    def __init__(self, progress: Progress = SILENT) -> None:
        self.progress = progress
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
        """Work that the engine reports while a mechanism runs is bounding and counting."""
        name = COUNTING if self._phases[-1:] == [NOISE] else next(reversed(self._phases), label)
        with self.phase(name), self.progress.task(label, total=total, unit=unit) as task:
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
