"""What a command shows and where: results on stdout, everything else on stderr.

`--json` gives machines the same facts; `--quiet` silences stderr except for errors. `bars` shows progress.

Private text that is not said on the command line: ``-`` reads it from the standard input. Arguments are seen by
everybody who lists processes, and stay in the history of the shell. So whatever names a person or quotes her (queries,
drafts, ids, topics) may be given as ``-``: a name is the next line, names are lines, a text is all that is left. In a
terminal a prompt says what to type.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclopts import Group, Parameter, Token

from aidos.core.plaintext import harmless
from aidos.errors import InputError, ParameterError
from aidos.jobs.answer import json_text
from aidos.surfaces.bars import TerminalProgress

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "CONVERTERS",
    "Common",
    "TerminalProgress",
    "ask",
    "read_name",
    "read_names",
    "read_text",
    "show",
    "show_json",
    "tell",
]


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


MARK = "-"
LARGEST = 1 << 24
"""Characters that are read at most."""


def read_text(given: str, what: str = "the text") -> str:
    """What was given, or all that is left of the standard input where that is ``-``."""
    if given != MARK:
        return given
    return _read(f"{what}, then Ctrl-D", lambda: sys.stdin.read(LARGEST + 1)).rstrip("\r\n")


def read_name(given: str, what: str = "one line") -> str:
    """What was given, or the next line of the standard input where that is ``-``."""
    return _read(what, lambda: sys.stdin.readline(LARGEST + 1)).strip() if given == MARK else given


def read_names(given: Sequence[str], what: str = "one a line") -> list[str]:
    """What was given, with the lines of the standard input in place of ``-``."""
    found: list[str] = []
    for name in given:
        found += (
            [line.strip() for line in read_text(name, what).splitlines() if line.strip()] if name == MARK else [name]
        )
    return found


def _read(what: str, read: Callable[[], str]) -> str:
    if sys.stdin is None:
        raise InputError("there is no standard input to read from", hint="pipe the text in, or name it in place of -")
    if sys.stdin.isatty():
        print(f"{what}: ", end="", file=sys.stderr, flush=True)
    try:
        text = read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("the standard input cannot be read as text", hint="give text in utf-8") from error
    if len(text) > LARGEST:
        raise InputError(f"the standard input holds more than {LARGEST:,} characters", hint="give less")
    if not text.strip():
        raise InputError("nothing was read from the standard input", hint="- takes what is there: pipe the text in")
    return text


def _values(tokens: Sequence[Token]) -> list[str]:
    """What was typed; arguments that may begin with a hyphen would take mistyped options for themselves."""
    values = [token.value for token in tokens]
    for value in values:
        if value.startswith("--") and len(value.split()) == 1:
            raise ParameterError(f"there is no option {value}", hint="a text that begins so can be read with -")
    return values


def _one(kind: Any, tokens: Sequence[Token]) -> str:  # noqa: ARG001 (as cyclopts calls it)
    return read_name(_values(tokens)[0])


def _many(kind: Any, tokens: Sequence[Token]) -> list[str]:  # noqa: ARG001
    return read_names(_values(tokens))


def _unread(kind: Any, tokens: Sequence[Token]) -> str:  # noqa: ARG001
    return _values(tokens)[0]


CONVERTERS = {"text": _unread, "name": _one, "names": _many}
"""By the kind of `aidos.jobs.job.Private`; a text is read when all names before it are."""
