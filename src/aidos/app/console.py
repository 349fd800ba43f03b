"""What a command shows and where: results on stdout, everything else on stderr.

Progress appears after a second, only in a terminal, and vanishes when the work is done. `--json` gives machines the
same facts; `--quiet` silences stderr except for errors.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as RichProgress

    from aidos.core.progress import Task
    from aidos.engine.embedded import EmbeddedEngine

__all__ = ["Common", "TerminalProgress", "open_engine", "remark_if_slow", "show", "show_json", "tell"]

SECONDS_BEFORE_BAR = 1.0
SECONDS_BEFORE_REMARK = 3.0


@Parameter(name="*", group="Every command")
@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Options of every command."""

    json: bool = False
    """Print the result as JSON, for machines."""

    quiet: bool = False
    """No progress and no remarks on stderr."""

    memory: str = ""
    """Most memory the engine may take, for example 1GB; what is larger spills to disk."""

    threads: int | None = None
    """Threads the engine may use; all cores unless given."""

    debug: bool = False
    """Show the traceback when something fails (it may quote data)."""


class TerminalProgress:
    """Bars on stderr with rate and time left; silent when stderr is no terminal or ``quiet`` is set."""

    def __init__(self, *, quiet: bool) -> None:
        self.silent = quiet or not sys.stderr.isatty()

    @contextmanager
    def task(self, label: str, *, total: float | None, unit: str) -> Iterator[Task]:
        """Show a bar for work that takes longer than a second."""
        bar = _Bar(label, total, unit, silent=self.silent)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    """A bar that appears late, so that short work leaves no trace."""

    def __init__(self, label: str, total: float | None, unit: str, *, silent: bool) -> None:
        self.label, self.total, self.unit, self.silent = label, total, unit, silent
        self.done = 0.0
        self.started = time.monotonic()
        self.shown: RichProgress | None = None

    def advance(self, amount: float) -> None:
        self.move_to(self.done + amount)

    def move_to(self, done: float) -> None:
        self.done = done
        if self.silent or time.monotonic() - self.started < SECONDS_BEFORE_BAR:
            return
        if self.shown is None:
            self.shown = _rich_progress()
            self.shown.start()
            self.shown.add_task(self.label, total=self.total, rate="")
        elapsed = time.monotonic() - self.started
        self.shown.update(self.shown.task_ids[0], completed=done, rate=_rate(done / elapsed, self.unit))

    def close(self) -> None:
        if self.shown is not None:
            self.shown.stop()


def _rich_progress() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), rate, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _rate(per_second: float, unit: str) -> str:
    if unit == "bytes":
        return f"{per_second / 1e6:,.0f} MB/s"
    return f"{per_second:,.0f} {unit}/s"


def show(renderable: RenderableType) -> None:
    """A result, for people, on stdout."""
    from rich.console import Console

    from aidos.report.terminal import write

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # main() knows what to do; rich would exit with 1

    # A table piped into a file keeps a width that a terminal would show.
    write(Pipe(highlight=False, width=None if sys.stdout.isatty() else 120), renderable)


def show_json(result: Mapping[str, object]) -> None:
    """A result, for machines, on stdout."""
    print(json.dumps(result, indent=2, default=str, ensure_ascii=False))


def tell(remark: str, *, quiet: bool = False) -> None:
    """A remark on stderr."""
    if not quiet:
        print(f"aidos: {remark}", file=sys.stderr)


@contextmanager
def remark_if_slow(remark: str, *, quiet: bool) -> Iterator[None]:
    """Say why nothing happens, once it has taken longer than anybody expects."""
    waiting = Timer(SECONDS_BEFORE_REMARK, tell, args=(remark,), kwargs={"quiet": quiet})
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


@contextmanager
def open_engine(common: Common) -> Iterator[EmbeddedEngine]:
    """The embedded engine with the command's memory, threads and progress."""
    from aidos.engine.embedded import EmbeddedEngine

    progress = TerminalProgress(quiet=common.quiet)
    with EmbeddedEngine(memory=common.memory, threads=common.threads, progress=progress) as engine:
        yield engine
