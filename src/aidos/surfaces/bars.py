"""Progress in a terminal: bars on stderr with rate and time left, for work that takes longer than a second.

Any thread may move any bar, several bars share the one live display that a terminal can have, and bars vanish when
their work is done. A bar is decoration: whatever goes wrong while one is drawn (a closed terminal, a strange size)
turns bars off for the rest of the process and never reaches the work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, TextIO

from aidos.core.plaintext import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from aidos.core.progress import Task

__all__ = ["TerminalProgress"]

SECONDS_BEFORE_BAR = 1.0
SECONDS_BETWEEN_DRAWINGS = 0.1


class TerminalProgress:
    """Bars on stderr; silent when stderr is no terminal or ``quiet`` is set."""

    def __init__(self, *, quiet: bool) -> None:
        self.silent = quiet or not _is_terminal(sys.stderr)

    @contextmanager
    def task(self, label: str, *, total: float | None, unit: str) -> Iterator[Task]:
        """Show a bar for work that takes longer than a second."""
        bar = _Bar(label, total, unit, None if self.silent else _DISPLAY)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    """How far one piece of work is; it is drawn late, so that short work leaves no trace."""

    def __init__(self, label: str, total: float | None, unit: str, display: _Display | None) -> None:
        self.label, self.total, self.unit, self.display = label, total, unit, display
        self.done = 0.0
        self.started = time.monotonic()
        self.due = self.started + SECONDS_BEFORE_BAR
        self.lock = RLock()

    def advance(self, amount: float) -> None:
        with self.lock:
            self.done += amount
        self._draw()

    def move_to(self, done: float) -> None:
        with self.lock:
            self.done = done
        self._draw()

    def _draw(self) -> None:
        if self.display is not None and time.monotonic() >= self.due:
            self.display.draw(self)

    def close(self) -> None:
        display, self.display = self.display, None
        if display is not None:
            display.remove(self)


class _Display:
    """All bars that can be seen, drawn by whichever thread moves one; there is no thread of its own that could die."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.bars: dict[_Bar, TaskID] = {}
        self.live: RichProgress | None = None
        self.broken = False

    def draw(self, bar: _Bar) -> None:
        """Show the bar where it is now; not if another thread is at it, for then the next move will."""
        if self.broken or not self.lock.acquire(blocking=False):
            return
        try:
            # Looked at again under the lock: a bar that was closed meanwhile must not come back.
            if bar.display is self:
                self._show(bar)
        except Exception:  # whatever it is, the work goes on
            self._give_up()
        finally:
            self.lock.release()

    def remove(self, bar: _Bar) -> None:
        """Take the bar away; the display ends with its last bar."""
        with self.lock:
            shown = self.bars.pop(bar, None)
            try:
                if self.live is not None and not self.bars:
                    self.live.stop()
                    self.live = None
                elif self.live is not None and shown is not None:
                    self.live.remove_task(shown)
                    self.live.refresh()
            except Exception:
                self._give_up()

    def _show(self, bar: _Bar) -> None:
        if self.live is None:
            self.live = _live_display()
            self.live.start()
        if bar not in self.bars:
            self.bars[bar] = self.live.add_task(one_line(bar.label), total=bar.total, rate="")
        now = time.monotonic()
        bar.due = now + SECONDS_BETWEEN_DRAWINGS
        rate = _rate(bar.done / max(now - bar.started, 1e-9), bar.unit)
        self.live.update(self.bars[bar], completed=bar.done, rate=rate, refresh=True)

    def _give_up(self) -> None:
        live, self.live, self.broken = self.live, None, True
        self.bars.clear()
        if live is not None:
            with suppress(Exception):
                live.stop()  # gives stderr back even where it cannot clear the line


_DISPLAY = _Display()
"""One for the process, as its terminal is: two live displays would write over each other."""


def _live_display() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process

        def show_cursor(self, show: bool = True) -> bool:  # noqa: ARG002, FBT001, FBT002
            return False  # a process that is killed or stopped must not leave a terminal without a cursor

    # Labels name files: brackets in them are no markup.
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    return Progress(
        *columns,
        console=Terminal(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=False,  # results on stdout may go into a file
    )


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether people look at it; a process may have been started with it closed."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _rate(per_second: float, unit: str) -> str:
    if unit == "%":
        return ""
    if unit == "B":
        return f"{per_second / 1e6:,.0f} MB/s"
    return f"{per_second:,.0f} {unit}/s" if per_second >= 1 else f"{per_second * 60:,.0f} {unit}/min"
