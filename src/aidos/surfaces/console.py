"""What a command shows and where: results on stdout, everything else on stderr.

`--json` gives machines the same facts; `--quiet` silences stderr except for errors. `bars` shows progress.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclopts import Group, Parameter

from aidos.core.plaintext import harmless
from aidos.jobs.answer import json_text
from aidos.surfaces.bars import TerminalProgress

if TYPE_CHECKING:
    from rich.console import RenderableType


__all__ = ["Common", "TerminalProgress", "ask", "show", "show_json", "tell"]


@Parameter(name="*", group=Group("Every command", sort_key=3))
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


def show(renderable: RenderableType) -> None:
    """A result, for people, on stdout."""
    from rich.console import Console

    from aidos.report.terminal import write

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # main() knows what to do; rich would exit with 1

    # Names of files may have brackets and colons. A table piped into a file keeps a width that a terminal would show.
    console = Pipe(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)
    with _reader_may_leave():
        write(console, renderable)


def show_json(result: Mapping[str, object]) -> None:
    """A result, for machines, on stdout."""
    with _reader_may_leave():
        print(json_text(result))


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """A terminal that was closed is a reader that went away, like the far end of a pipe."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EIO:
            raise BrokenPipeError from error
        raise


def tell(remark: str, *, quiet: bool = False) -> None:
    """A remark on stderr. Work that is done is not undone because nobody can read about it."""
    if not quiet and sys.stderr is not None:
        with suppress(OSError):
            print(f"aidos: {harmless(remark)}", file=sys.stderr)


def ask(question: str) -> str | None:
    """One line of the standard input; the question is a remark, so that results can be piped."""
    print(harmless(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline() or None
