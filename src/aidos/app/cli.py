"""The command line.

Modules of commands import what is heavy inside their functions, so that ``--help`` answers at once. Exit codes: 0 fine;
1 a requested threshold failed; 2 the input or an option is wrong; 3 the privacy budget does not allow it; 4 a bug in
aidos; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType

from cyclopts import App, CycloptsError, Parameter

from aidos import __version__
from aidos.errors import AidosError, BrokenPromiseError, BudgetError, InputError

__all__ = ["app", "main", "run"]

COMMANDS = (
    "check",
    "ingest",
    "publish",
    "verify",
    "suggest",
    "rank",
    "calibrate",
    "ledger",
    "explain",
    "attack",
    "mediate",
    "expose",
    "risk",
    "fair",
    "taxonomy",
    "shield",
    "audit",
    "evaluate",
    "sample",
    "demo",
    "doctor",
)

app = App(
    name="aidos",
    help="Privacy and fairness for search systems. Start with: aidos demo",
    version=__version__,
    default_parameter=Parameter(negative="", show_default=False),
    exit_on_error=False,
    print_error=False,
    help_on_error=False,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)


def _register(command: str) -> None:
    """A command is the function of its module's name; one with parts (`ledger open`) lists them in PARTS."""
    module = import_module(f"aidos.app.commands.{command}")
    if getattr(module, "PARTS", {}):
        app.command(_group(command, module))
    else:
        app.command(getattr(module, command), name=command)


def _group(name: str, module: ModuleType) -> App:
    """A command with parts; a part that is a module has parts of its own (`shield profile build`)."""
    group = App(name=name)
    group.default(getattr(module, name))
    for part_name, part in module.PARTS.items():
        if isinstance(part, ModuleType):
            group.command(_group(part_name, part))
        else:
            group.command(part, name=part_name)
    return group


for command in COMMANDS:
    _register(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of the house."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (`aidos check ... | head`): nothing is wrong, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; give its exit code. Errors become one line and a hint."""
    try:
        result = app(list(arguments))
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
            traceback.print_exc()
        return _complain_about(error)
    return result if isinstance(result, int) else 0


def _complain_about(error: Exception) -> int:
    match error:
        case BudgetError():
            return _complain(error.message, hint=error.hint, code=3)
        case BrokenPromiseError():
            return _complain(error.message, hint=error.hint, code=4)
        case InputError(problems=problems) if problems:
            for problem in problems:
                remedy = problem.remedy + (f": {problem.option}" if problem.option else "")
                _complain(str(problem), hint=remedy, code=2)
            return 2
        case AidosError():
            return _complain(error.message, hint=error.hint, code=2)
        case _:
            return _complain(f"a bug in aidos: {_where(error)}", hint="run it again with --debug and report it", code=4)


def _where(error: Exception) -> str:
    """The kind of exception and the line it came from; its text may quote data and stays out."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "aidos" in frame.filename]
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return type(error).__name__ + place


def _complain(message: str, *, hint: str, code: int) -> int:
    print(f"aidos: {message}", file=sys.stderr)
    if hint:
        print(f"  hint: {hint}", file=sys.stderr)
    return code


def _unknown_part(arguments: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong and what was meant, where a command with parts was given a word that is none of them."""
    words, known = ["aidos"], app
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
    known = app
    for word in arguments:
        if word.startswith("-") or word not in known:
            break
        words.append(word)
        known = known[word]
    return " ".join(["aidos", *words, "--help"])
