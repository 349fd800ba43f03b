"""Plays the ``console`` blocks of the documentation, and writes what came out into the pages when run as a script.

    python tests/docs/transcripts.py [PAGE ...]

The blocks of a page are one session in one empty directory. A line that begins with ``$`` is a command; what follows is
its output, stdout and stderr as a terminal shows them. Commands of aidos run in this process, others in a shell.

Numbers count. Where a run does not give the same ones again, a comment above the block, which readers do not see, says
why, and which: those of lines that begin with one of some words, or the last digits.

    <!-- differs (noise of a release): queries, clicks -->
    <!-- differs (kind of processor): last digits -->
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from aidos.jobs import desk
from aidos.rooms.fairness.solver import warm_up
from aidos.surfaces.cli import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"(?ms)(^<!-- differs \(([^)\n]+)\): ([^\n]+) -->\n)?^```console\n(.*?)^```$")
REASONS = ("noise of a release", "time of day", "kind of processor")
LAST_DIGITS = ["last digits"]
NUMBER = re.compile(r"\d[\d,.:]*")


def commands(page):
    """Every command of a page, in order, with the output that the page shows and what of it may differ."""
    found = []
    for _, why, differs, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if differs and why not in REASONS:
            raise ValueError(f"{page.name}: {why} is no reason to differ")
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], [], differs.split(", ") if differs else []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(shown), differs) for command, shown, differs in found]


def same(played, shown, differs):
    """Whether this was printed, but for what may differ and with it the width of columns."""
    if not differs:
        return played.rstrip().splitlines() == shown.rstrip().splitlines()
    if differs == LAST_DIGITS:
        near = all(map(_close, NUMBER.findall(played), NUMBER.findall(shown)))
        return near and _without_numbers(played) == _without_numbers(shown)
    return _without_numbers(played, *differs) == _without_numbers(shown, *differs)


def _without_numbers(text, *beginnings):
    """The words of every line, without numbers in lines that begin so."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [NUMBER.sub("N", line) if line.startswith(beginnings or "") else line for line in lines]


def _close(one, other):
    """Whether two numbers are the same, or fractions that differ by one in the last digit."""
    digits = [len(number.partition(".")[2]) for number in (one, other)]
    return one == other or (min(digits) > 0 and abs(float(one) - float(other)) < 1.5 * 10 ** -min(digits))


def play(command):
    """Run a command in the working directory; give all that it printed, as on a machine that is quick."""
    warm_up()  # a solver that has to be compiled says so
    desk.SECONDS_BEFORE_REMARK = 3600
    if not command.startswith("aidos "):
        done = subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode()
    printed = io.StringIO()
    command, _, source = command.partition(" < ")
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        if source:
            before, sys.stdin = sys.stdin, stack.enter_context(Path(source).open(encoding="utf-8"))
            stack.callback(setattr, sys, "stdin", before)
        run(shlex.split(command)[1:])
    return "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())


def rewrite(page):
    """Put the output of this version into a page."""

    def played(block):
        lines = [line for line in block[4].splitlines() if line.startswith("$ ")]
        told = "".join(f"{line}\n{_ended(play(line[2:]))}" for line in lines)
        return f"{block[1] or ''}```console\n{told}```"

    temporary = tempfile.TemporaryDirectory
    with temporary() as directory, temporary() as registry, contextlib.chdir(directory):
        os.environ["AIDOS_REGISTRY"] = registry
        page.write_text(BLOCK.sub(played, page.read_text(encoding="utf-8")), encoding="utf-8")


def _ended(text):
    return text.rstrip("\n") + "\n" if text.strip() else ""


if __name__ == "__main__":
    os.environ["COLUMNS"] = "120"
    for shown_page in map(Path.resolve, map(Path, sys.argv[1:])) if sys.argv[1:] else PAGES:
        rewrite(shown_page)
        print(shown_page.relative_to(ROOT), file=sys.stderr)
