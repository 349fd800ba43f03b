"""Whatever call to the file system fails, or is the last one: old state or new state, and nothing of the half.

The shim sees the calls of Python, SQLite, DuckDB and Arrow. Every run is followed by what a person would do next: the
same command again, or a request to be forgotten. The fast tests try a few calls, the slow ones one in five, and
`make crash` every one.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
COMPILER = shutil.which("cc") or shutil.which("gcc")
SOME = {"publish": 41, "rerank": 37, "expose": 97, "risk": 67, "profile": 4}
"""Of so many calls one is tried in the fast tests."""
EVERY = int(os.environ.get("AIDOS_CRASH_EVERY", "5"))
"""The same for the slow ones."""
FEWEST = {"publish": 100, "rerank": 60, "expose": 60, "risk": 60, "profile": 10}
"""Calls there are at least: a shim that sees nothing would find nothing."""

pytestmark = pytest.mark.skipif(not COMPILER or sys.platform != "linux", reason="needs a C compiler on Linux")


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", made, HERE / "shim.c", "-ldl"], check=True)
    return made


def crash(shim, home, scenario, modes, every):
    """All modes in one process: preparing the scenario takes longer than many of its runs."""
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    asked = [sys.executable, HERE / "crashing.py", home, scenario, ",".join(modes), str(every)]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["calls"] >= FEWEST[scenario]
    assert found["wrong"] == {}


@pytest.mark.parametrize("scenario", SOME)
def test_some_calls(shim, tmp_path, scenario):
    crash(shim, tmp_path, scenario, ["kill", "fail"], SOME[scenario])


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SOME)
def test_many_calls(shim, tmp_path, scenario):
    crash(shim, tmp_path, scenario, ["kill", "fail", "tear"], EVERY)


def test_the_shim_finds_what_is_not_written_whole(shim, tmp_path):
    """A writer that goes straight to its file is found out, so that a silent shim is noticed."""
    script = """
import ctypes, os, sys
shim = ctypes.CDLL(os.environ["LD_PRELOAD"])
shim.crash_arm(sys.argv[1].encode(), ctypes.c_long(2), 3)
with open(sys.argv[1] + "/file", "w") as file:
    file.write("0123456789")
"""
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=environment, check=False)
    assert done.returncode == -9
    assert (tmp_path / "file").read_text() == "01234"
