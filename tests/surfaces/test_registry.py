"""Packages of third parties bring jobs of their own: one class, one entry point, and every surface has it."""

import json
import os
import subprocess
import sys

import pytest

NAMES = ("letters", "fair.letters", "check")
JOB = """
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass

from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Counted(Finding):
    letters: int

    def facts(self) -> Mapping[str, object]:
        return {"letters": self.letters}


@dataclass(frozen=True, slots=True)
class CountLetters:
    \"""Count the letters of a word.

    For example:
        aidos letters count hello
    \"""

    word: str
    \"""The word.\"""
    _: KW_ONLY
    twice: bool = False
    \"""Count every letter twice.\"""

    def run(self, desk: Desk) -> Counted:
        return Counted(letters=len(self.word) * (2 if self.twice else 1))
"""


@pytest.fixture
def asked(tmp_path):
    """A function that runs aidos where the package is installed beside it."""
    (tmp_path / "letters.py").write_text(JOB)
    about = tmp_path / "letters-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: letters\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[aidos.jobs]\n" + "".join(f"{words} = letters:CountLetters\n" for words in NAMES)
    )

    def run(*arguments):
        paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-m", "aidos", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_a_job_of_a_third_party_is_a_command_a_recipe_and_a_schema(asked, tmp_path):
    code, shown, _ = asked("letters", "hello", "--twice", "--json")
    assert (code, json.loads(shown)) == (0, {"letters": 10})
    code, shown, _ = asked("fair", "letters", "hello", "--json")
    assert (code, json.loads(shown)) == (0, {"letters": 5})
    (tmp_path / "recipe.toml").write_text('job = "letters"\nword = "hello"\n')
    assert json.loads(asked("run", "recipe.toml", "--json")[1]) == {"letters": 5}
    assert json.loads(asked("describe", "letters", "--json")[1])["required"] == ["word"]
    assert "Count the letters of a word." in asked("--help")[1]


def test_a_name_of_aidos_cannot_be_taken_over(asked):
    assert "Count the letters" not in asked("check", "--help")[1]
