"""Progress bars in a real pseudo-terminal: a child process draws, the test looks at what arrives."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from textwrap import dedent
from threading import Thread

import pytest

from aidos.surfaces.bars import _rate

PRELUDE = """
import io, json, os, sys, threading, time
from aidos.surfaces import console
from aidos.surfaces.console import TerminalProgress
sys.setswitchinterval(1e-6)
progress = TerminalProgress(quiet=False)

def at_once(*works):
    failures = []
    gate = threading.Barrier(len(works))
    def run(work):
        gate.wait()
        try:
            work()
        except BaseException as error:
            failures.append(repr(error))
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for each in threads: each.start()
    for each in threads: each.join()
    return failures

def many(bar, times=400):
    return lambda: [bar.advance(1) for _ in range(times)]
"""


class Terminal:
    """A pseudo-terminal whose far end is the child's stderr."""

    def __init__(self, columns: int = 100) -> None:
        self.near, self.far = pty.openpty()
        self.resize(columns)
        self.seen = b""

    def resize(self, columns: int, rows: int = 24) -> None:
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def start(self, code: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
        child = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + dedent(code)],
            stderr=self.far,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        os.close(self.far)
        return child

    def read(self) -> None:
        try:
            while piece := os.read(self.near, 65536):
                self.seen += piece
        except OSError:  # what Linux says at the end
            pass

    def run(self, code: str) -> str:
        """What the child says on stdout; ``seen`` is what the terminal got."""
        child = self.start(code)
        reader = Thread(target=self.read)
        reader.start()
        said, _ = child.communicate(timeout=60)
        reader.join()
        os.close(self.near)
        assert child.returncode == 0, self.seen
        return said


def test_four_threads_move_one_bar() -> None:
    terminal = Terminal()
    said = terminal.run(
        """
        with progress.task("counting", total=1600, unit="rows") as bar:
            time.sleep(1.05)
            print(at_once(*[many(bar)] * 4), bar.done)
        """
    )
    assert said == "[] 1600.0\n"
    assert b"counting" in terminal.seen
    assert b"Traceback" not in terminal.seen


def test_bars_side_by_side_and_nested_share_one_display() -> None:
    terminal = Terminal()
    said = terminal.run(
        """
        def work(name):
            def run():
                with TerminalProgress(quiet=False).task(name, total=400, unit="rows") as outer:
                    time.sleep(1.05)
                    outer.advance(200)
                    with progress.task(name + "-inner", total=10, unit="rows") as inner:
                        time.sleep(1.05)
                        many(inner)()
                        outer.advance(200)
            return run
        print(at_once(work("left"), work("right")))
        print(sys.stderr.isatty(), type(sys.stderr) is io.TextIOWrapper)
        """
    )
    assert said == "[]\nTrue True\n", "stderr is what it was before"
    for label in (b"left", b"right", b"left-inner", b"right-inner"):
        assert label in terminal.seen


def test_a_bar_may_be_closed_while_others_move_it_and_closed_again() -> None:
    said = Terminal().run(
        """
        bars, failures = [], []
        for _ in range(20):
            with progress.task("short", total=None, unit="rows") as bar:
                bar.due = 0.0
                failures += at_once(many(bar, 50), many(bar, 50), bar.close, bar.close)
            bar.advance(1)
            bars.append(bar)
        print(failures, {bar.done for bar in bars})
        from aidos.surfaces import bars
        print(bars._DISPLAY.live, len(bars._DISPLAY.bars), bars._DISPLAY.broken)
        """
    )
    assert said == "[] {101.0}\nNone 0 False\n"


def test_the_bar_vanishes_and_remarks_stand_above_it() -> None:
    terminal = Terminal()
    terminal.run(
        """
        with progress.task("counting", total=10, unit="rows") as bar:
            time.sleep(1.05)
            bar.advance(1)
            console.tell("something was found")
            time.sleep(0.11)
            bar.advance(1)
        """
    )
    remark = terminal.seen.index(b"something was found")
    assert terminal.seen.index(b"counting") < remark < terminal.seen.rindex(b"counting")
    erase_line = b"\x1b[2K"
    assert erase_line in terminal.seen[terminal.seen.rindex(b"counting") :]
    assert b"\x1b[?25l" not in terminal.seen, "a hidden cursor stays hidden when the process is killed"


@pytest.mark.parametrize("label", ["[/x].csv", "[bold]", "x" * 5000, "two\nlines", "{0}"])
def test_any_label_can_be_shown(label: str) -> None:
    terminal = Terminal()
    said = terminal.run(
        f"""
        with progress.task({label!r}, total=10, unit="B") as bar:
            bar.due = 0.0
            bar.advance(1)
        from aidos.surfaces import bars
        print(bars._DISPLAY.broken)
        """
    )
    assert said == "False\n"
    assert label[:3].encode() in terminal.seen


def test_a_label_cannot_command_the_terminal() -> None:
    terminal = Terminal()
    terminal.run(
        r"""
        with progress.task("\x1b]0;renamed\x07 \u202etxt", total=10, unit="B") as bar:
            bar.due = 0.0
            bar.advance(1)
        """
    )
    assert b"\\x1b]0;renamed\\x07 \\u202etxt" in terminal.seen


def test_work_goes_on_when_the_terminal_is_closed() -> None:
    terminal = Terminal()
    child = terminal.start(
        """
        with progress.task("counting", total=400, unit="rows") as bar:
            time.sleep(1.05)
            bar.advance(1)
            print("drawn", flush=True)
            time.sleep(0.5)
            print(at_once(*[many(bar)] * 4), bar.done, flush=True)
            console.tell("nobody hears this")
        with progress.task("more", total=400, unit="rows") as bar:
            bar.due = 0.0
            bar.advance(1)
        print("done", type(sys.stderr) is io.TextIOWrapper, flush=True)
        os._exit(0)  # Python itself would complain that stderr cannot be flushed
        """
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "drawn\n"
    os.close(terminal.near)
    said, _ = child.communicate(timeout=60)
    assert (child.returncode, said) == (0, "[] 1601.0\ndone True\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("arguments", "code"), [(["doctor"], 0), (["doctor", "--json"], 0), (["verify", "no-such-release"], 2)]
)
def test_a_closed_terminal_is_a_reader_that_went_away(arguments: list[str], code: int, unbuffered: str) -> None:
    near, far = pty.openpty()
    os.close(near)
    asked, buffering = [sys.executable, "-m", "aidos", *arguments], os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(asked, stdout=far, stderr=far, env=buffering, check=False, timeout=60)
    os.close(far)
    assert done.returncode == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_result_that_does_not_fit_on_the_disk_is_told(unbuffered: str) -> None:
    asked, buffering = [sys.executable, "-m", "aidos", "doctor", "--json"], {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            asked, stdout=full, stderr=subprocess.PIPE, text=True, env=os.environ | buffering, check=False, timeout=60
        )
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "aidos: the disk is full")


@pytest.mark.parametrize(
    ("rate", "unit", "words"),
    [(2.4e6, "B", "2 MB/s"), (1200.4, "rows", "1,200 rows/s"), (0.25, "settings", "15 settings/min"), (7.0, "%", "")],
)
def test_rates_can_be_read(rate: float, unit: str, words: str) -> None:
    assert _rate(rate, unit) == words


def test_work_goes_on_while_the_terminal_is_resized() -> None:
    terminal = Terminal()
    child = terminal.start(
        """
        failures = []
        with progress.task("counting", total=40, unit="rows") as bar:
            time.sleep(1.05)
            for _ in range(40):
                bar.due = 0.0
                failures += at_once(many(bar, 1), many(bar, 1))
                time.sleep(0.01)
        from aidos.surfaces import bars
        print(failures, bars._DISPLAY.broken)
        """
    )
    reader = Thread(target=terminal.read)
    reader.start()
    while child.poll() is None:
        for columns, rows in ((1, 1), (80, 24), (0, 0), (500, 2), (7, 3)):
            terminal.resize(columns, rows)
    said, _ = child.communicate(timeout=60)
    reader.join()
    os.close(terminal.near)
    assert (child.returncode, said) == (0, "[] False\n")


def test_a_display_that_fails_is_given_up_and_not_tried_again() -> None:
    said = Terminal().run(
        """
        from aidos.surfaces import bars
        made = []
        def failing():
            made.append(1)
            raise RuntimeError("no display")
        bars._live_display = failing
        with progress.task("counting", total=None, unit="rows") as bar:
            bar.due = 0.0
            bar.advance(1)
            bar.due = 0.0
            bar.advance(1)
        print(bar.done, made)
        """
    )
    assert said == "2.0 [1]\n"


def test_results_on_stdout_never_go_to_the_terminal_of_the_bar() -> None:
    terminal = Terminal()
    said = terminal.run(
        """
        with progress.task("counting", total=10, unit="rows") as bar:
            bar.due = 0.0
            bar.advance(1)
            print("a result")
        """
    )
    assert said == "a result\n"
    assert b"a result" not in terminal.seen


@pytest.mark.parametrize("stderr", ["None", "open(os.devnull, 'w')", "closed"])
def test_without_a_terminal_there_is_silence(stderr: str) -> None:
    terminal = Terminal()
    said = terminal.run(
        f"""
        closed = open(os.devnull, "w"); closed.close()
        sys.stderr = {stderr}
        with TerminalProgress(quiet=False).task("counting", total=10, unit="rows") as bar:
            bar.due = 0.0
            bar.advance(1)
        print(bar.done)
        """
    )
    assert (said, terminal.seen) == ("1.0\n", b"")


@pytest.mark.slow
def test_the_demo_in_a_terminal_shows_bars_from_the_first_moment(tmp_path: Path) -> None:
    terminal = Terminal()
    said = terminal.run(
        f"""
        from aidos.jobs import extras
        from aidos.surfaces import bars
        from aidos.surfaces.cli import run
        bars.SECONDS_BEFORE_BAR = bars.SECONDS_BETWEEN_DRAWINGS = 0.0
        # Rooms that compile would take minutes the first time.
        sys.modules.update({{name: None for extra in extras.EXTRAS.values() for name in extra.packages}})
        print(run(["demo", "--size", "tiny", "-o", {str(tmp_path)!r}]), bars._DISPLAY.broken)
        """
    )
    assert said.splitlines()[-1] == "0 False"
    assert all(words in terminal.seen for words in (b"making log", b"looking at", b"to see all of it"))
    assert b"Traceback" not in terminal.seen
