"""On a system without file locks aidos says so in one line, instead of failing somewhere inside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SENTENCE = "aidos runs on Linux and macOS (POSIX) only"
COMMAND = Path(sys.executable).with_name("aidos")


def without_locks(tmp_path, *words):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['fcntl'] = None  # as if it did not exist\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    return subprocess.run([*words], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [(COMMAND,), (sys.executable, "-m", "aidos")], ids=["script", "module"])
def test_the_command_says_so_and_exits_with_2(command, tmp_path):
    done = without_locks(tmp_path, *command, "doctor")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"aidos: {SENTENCE}; this system is {sys.platform}\n"


@pytest.mark.parametrize("module", ["aidos", "aidos.account.ledger"])
def test_an_import_fails_with_the_same_sentence(module, tmp_path):
    done = without_locks(tmp_path, sys.executable, "-c", f"import {module}")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"ImportError: {SENTENCE}")
