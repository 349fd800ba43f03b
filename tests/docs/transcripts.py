"""Plays the ``console`` blocks of the documentation, and writes what came out into the pages when run as a script.

The blocks of a page are one session in one empty directory. A line that begins with ``$`` is a command; what follows is
its output, stdout and stderr as a terminal shows them. Commands of aidos run in this process, others in a shell.
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

from aidos.app.cli import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
BLOCK = re.compile(r"(?ms)^```console\n(.*?)^```$")


def commands(page):
    """Every command of a page, in order, with the output that the page shows."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in found]


def play(command):
    """Run a command in the working directory; give all that it printed."""
    if not command.startswith("aidos "):
        done = subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        run(shlex.split(command)[1:])
    return "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())


def rewrite(page):
    """Put the output of this version into a page."""

    def played(block):
        lines = [line for line in block[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{_ended(play(line[2:]))}" for line in lines) + "```"

    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        page.write_text(BLOCK.sub(played, page.read_text(encoding="utf-8")), encoding="utf-8")


def _ended(text):
    return text.rstrip("\n") + "\n" if text.strip() else ""


if __name__ == "__main__":
    os.environ["COLUMNS"] = "120"
    for shown_page in PAGES:
        rewrite(shown_page)
        print(shown_page.relative_to(ROOT), file=sys.stderr)
