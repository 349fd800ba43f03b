"""Runs one command again and again: each time another call to the file system fails, or is its last.

A script of its own, since the shim (see shim.c) has to be there from the start: ``LD_PRELOAD=SHIM python crashing.py
HOME SCENARIO MODES EVERY``. Every run is a fork that finds the same files. It prints what it tried as JSON.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path

from scenarios import SCENARIOS

SECONDS = 300
"""A run that takes longer hangs."""
MODES = {"count": 0, "kill": 1, "fail": 2, "tear": 3}


class Crashing:
    def __init__(self, home, scenario):
        self.place, self.start, self.said = home / "place", home / "start", home / "said"
        self.scenario = scenario
        self.shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self.shim.crash_calls.restype = ctypes.c_long
        os.environ.update(TMPDIR=str(self.place / "tmp"), AIDOS_REGISTRY=str(self.place / "registry"), COLUMNS="200")
        tempfile.tempdir = None

    def prepare(self):
        sys.modules["vl_convert"] = None  # charts are slow, and touch no file
        with self.said.open("w") as said, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            # Once before the forks: what is imported and compiled here is there in all of them.
            self.begin()
            with contextlib.chdir(self.place):
                self.scenario.check(self.place, self.scenario.run(self.place))
            shutil.rmtree(self.place)
            self.begin()
        shutil.copytree(self.place, self.start)

    def begin(self):
        for name in ("tmp", "registry"):
            (self.place / name).mkdir(mode=0o700, parents=True)
        with contextlib.chdir(self.place):
            assert not self.scenario.prepare(self.place)

    def calls(self):
        """How many calls there are when nothing goes wrong; what is left then is checked as well."""
        numbers, counted = os.pipe()

        def count():
            code = self.armed(0, "count")
            os.write(counted, str(self.shim.crash_calls()).encode())
            return code

        assert self.forked(count) == 0, self.said.read_text()
        return int(os.read(numbers, 20))

    def attempt(self, number, mode):
        """One run; what is wrong afterwards, in words, or nothing."""
        shutil.rmtree(self.place)
        shutil.copytree(self.start, self.place)
        code = self.forked(lambda: self.armed(number, mode))
        told = self.said.read_text()
        if code not in {0, 2, 3, -signal.SIGKILL}:
            return f"exit code {code}: {told}"
        if self.forked(lambda: self.scenario.check(self.place, code)) != 0:
            return f"after exit code {code}:\n{told}\n{self.said.read_text()}"
        return ""

    def armed(self, number, mode):
        self.shim.crash_arm(str(self.place).encode(), ctypes.c_long(number), MODES[mode])
        try:
            return self.scenario.run(self.place)
        finally:
            self.shim.crash_disarm()

    def forked(self, work):
        """The exit code of a child that does it; what it prints goes to a file."""
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status)
        code = 1
        try:
            file = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, 1)
            os.dup2(file, 2)
            os.chdir(self.place)
            signal.alarm(SECONDS)
            code = work() or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def main(home, scenario, modes, every):
    crashing = Crashing(Path(home).resolve(), SCENARIOS[scenario])
    crashing.prepare()
    calls = crashing.calls()
    tried = [(mode, number) for mode in modes.split(",") for number in range(1, calls + 1, int(every))]
    wrong = {}
    for mode, number in tried:
        if said := crashing.attempt(number, mode):
            wrong[f"{mode} {number}"] = said
            print(f"{mode}, call {number}: {said}", file=sys.stderr, flush=True)
    print(json.dumps({"calls": calls, "tried": len(tried), "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
