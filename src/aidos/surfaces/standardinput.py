"""Private text that is not said on the command line: ``-`` reads it from the standard input.

Arguments are seen by everybody who lists processes, and stay in the history of the shell. So whatever names a person or
quotes her (queries, drafts, ids, topics) may be given as ``-``: a name is the next line, names are lines, a text is all
that is left. In a terminal a prompt says what to type.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import Token

from aidos.errors import InputError, ParameterError

__all__ = ["CONVERTERS", "read_name", "read_names", "read_text"]

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
