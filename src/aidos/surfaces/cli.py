"""The command line.

Modules of commands import what is heavy inside their functions, so that ``--help`` answers at once. Exit codes: 0 fine;
1 a requested threshold failed; 2 the input or an option is wrong; 3 the privacy budget does not allow it; 4 a bug in
aidos; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TextIO

from cyclopts import App, CycloptsError, Parameter

from aidos import __version__
from aidos.core.plaintext import harmless, one_line
from aidos.engine.inputs import refuse_special
from aidos.errors import AidosError, BrokenPromiseError, BudgetError, InputError, ParameterError
from aidos.jobs.extras import checked
from aidos.surfaces.grown import TYPED, grow_command, in_options
from aidos.surfaces.registry import GROUPS, Group, find_job, first_words, parts_of, places

__all__ = ["grow", "main", "run"]


def _refuse_special(_kind: object, value: object) -> None:
    """No path of any command leads to a pipe or a device: reading may block, and writing would replace it."""
    if isinstance(value, Path):
        refuse_special(value)
    elif isinstance(value, list | tuple):
        for one in value:
            _refuse_special(_kind, one)
    elif is_dataclass(value):
        for name in (field.name for field in fields(value)):
            _refuse_special(_kind, getattr(value, name))


DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What disks say when they are full, or fail."""


def grow(names: Iterable[str] = (), *, parts: bool = True) -> App:
    """The command line with these commands, or all; without parts where only the commands themselves are looked at."""
    app = App(
        name="aidos",
        help="Privacy and fairness for search systems. Start with: aidos demo",
        version=__version__,
        default_parameter=Parameter(negative="", show_default=False, validator=_refuse_special),
        exit_on_error=False,
        print_error=False,
        help_on_error=False,
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name in names or first_words():
        _register(app, (name,), parts=parts)
    return app


def _grown(arguments: Sequence[str]) -> App:
    """What these arguments need: the command they name alone, so that nothing else loads, or a list of them all."""
    return _grown_for(arguments[0] if arguments and arguments[0] in first_words() else "")


@cache
def _grown_for(command: str) -> App:
    return grow([command]) if command else grow(parts=False)


def _register(parent: App, words: tuple[str, ...], *, parts: bool = True) -> None:
    """The command of a job, or of a group with all its jobs."""
    line = " ".join(words)
    if line in places():
        job = find_job(line)
        parent.command(checked(line, grow_command(job)) if parts else _listed(job), name=words[-1])
    else:
        group = App(name=words[-1])
        group.default(_asking_for_a_part(line))
        for name in parts_of(line) if parts else ():
            _register(group, (*words, name))
        parent.command(group)


def _listed(job: type) -> Callable[[], None]:
    """A command in a list, which needs its words alone: its options are grown when it is asked."""

    def command() -> None:
        """Nothing: a list is looked at."""

    command.__doc__ = job.__doc__
    return command


def _asking_for_a_part(line: str) -> Callable[[], None]:
    """What a group does by itself: say what is missing."""
    group = GROUPS.get(line, Group(help=f"Jobs that begin with {line}."))

    def ask() -> None:
        *others, last = parts_of(line)
        choice = f"{', '.join(others)} or {last}" if others else last
        raise ParameterError(f"{group.missing}: {choice}", hint=f"see: aidos {line} --help")

    ask.__doc__ = group.help
    return ask


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of the house."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = run(arguments)
    except BrokenPipeError:
        code = 0  # the reader went away (`aidos check ... | head`): nothing is wrong, and nothing more can be said
    for stream in (sys.stdout, sys.stderr):
        code = _flushed(stream, code) if stream is not None else code
    sys.exit(code)


def _flushed(stream: TextIO, code: int) -> int:
    """The exit code once all is written; what cannot be is dropped, or Python would end with a code of its own."""
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        # EIO is a terminal that was closed.
        return code if error.errno in {errno.EPIPE, errno.EIO} else _complain_about(error)
    return code


def run(arguments: Sequence[str]) -> int:
    """Run one command; give its exit code. Errors become one line and a hint."""
    TYPED.set(tuple(arguments))
    try:
        result = _grown(arguments)(list(arguments))
    except KeyboardInterrupt:
        print("aidos: interrupted, no output was written", file=sys.stderr)
        return 130
    except CycloptsError as error:
        unknown = _unknown_part(arguments)
        return _complain(
            unknown[0] if unknown else " ".join(str(error).split()),
            hint=unknown[1] if unknown else f"see: {_help_for(arguments)}",
            code=2,
        )
    except BrokenPipeError:
        raise
    except Exception as error:
        if "--debug" in arguments:
            print(harmless(traceback.format_exc()), file=sys.stderr)
        return _complain_about(error, arguments)
    return result if isinstance(result, int) else 0


def _complain_about(error: Exception, arguments: Sequence[str] = ()) -> int:
    match error:
        case BudgetError():
            return _complain(error.message, hint=error.hint, code=3)
        case BrokenPromiseError():
            return _complain(error.message, hint=error.hint, code=4)
        case OSError(errno=number) if number in DISK:
            # Not worth words at each of the many places that write temporary files.
            reason = "the disk is full" if number in DISK[:3] else f"a disk does not work: {error.strerror}"
            return _complain(reason, hint="free some space, or choose another place with TMPDIR", code=2)
        case InputError(problems=problems) if problems:
            for problem in problems:
                remedy = problem.remedy + (f": {problem.option}" if problem.option else "")
                _complain(str(problem), hint=remedy, code=2)
            return 2
        case ParameterError():
            return _complain(in_options(error), hint=error.hint or f"see: {_help_for(arguments)}", code=2)
        case AidosError():
            return _complain(error.message, hint=error.hint, code=2)
        case ModuleNotFoundError(name=str(package)) if not package.startswith("aidos"):
            return _complain(f"the package {package} is not installed", hint="see: aidos doctor", code=2)
        case _:
            return _complain(f"a bug in aidos: {_where(error)}", hint="run it again with --debug and report it", code=4)


def _where(error: Exception) -> str:
    """The kind of exception and the line it came from; its text may quote data and stays out."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "aidos" in frame.filename]
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place


def _complain(message: str, *, hint: str, code: int) -> int:
    with suppress(OSError):  # the code tells the rest where nobody can read
        print(f"aidos: {one_line(message)}", file=sys.stderr)
        if hint:
            print(f"  hint: {one_line(hint)}", file=sys.stderr)
    return code


def _unknown_part(arguments: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong and what was meant, where a command with parts was given a word that is none of them."""
    words, known = ["aidos"], _grown(arguments)
    for word in arguments:
        parts = [name for name in known if not name.startswith("-")]
        if word.startswith("-") or not parts:
            return None
        if word not in parts:
            said = " ".join(words)
            close = get_close_matches(word, parts, n=1)
            hint = f"did you mean: {said} {close[0]}" if close else f"there are {', '.join(parts)}"
            return f"{said} has no part called {word!r}", hint
        words.append(word)
        known = known[word]
    return None


def _help_for(arguments: Sequence[str]) -> str:
    words: list[str] = []
    known = _grown(arguments)
    for word in arguments:
        if word.startswith("-") or word not in known:
            break
        words.append(word)
        known = known[word]
    return " ".join(["aidos", *words, "--help"])
