"""What is private need not be an argument: - reads it from the standard input."""

import io
import os
import pty
import subprocess
import sys
from dataclasses import dataclass

import pytest

from aidos.errors import InputError
from aidos.jobs.answer import Finding
from aidos.jobs.asking import parameters_of
from aidos.jobs.job import Private
from aidos.surfaces.cli import run
from aidos.surfaces.console import LARGEST, read_name, read_names, read_text
from aidos.surfaces.registry import JOBS, find_job

PRIVATE = {"query", "text", "author_id", "author", "person", "person_id", "post", "post_ids", "words", "draft"}
PRIVATE |= {"topic", "topics"}
"""How arguments are called that quote or name somebody, or say what she keeps to herself."""
HARMLESS = {
    ("audit evidence", "query"),  # a number
    ("describe", "words"),  # the words of a command
    ("evaluate mediator", "topic"),  # forum or tag
    ("evaluate risk", "topic"),  # the same for everybody
    ("expose audit", "words"),  # a number
    ("risk rank", "topics"),  # of a community: about nobody in it
    ("evaluate risk", "topics"),
    ("mediate assign", "topics"),  # a file
    ("mediate measure", "topics"),
    ("sample", "topics"),  # a number
    ("audit plan", "topics"),
    ("audit learn", "topics"),
    ("ledger open", "person"),  # the name of a column
    ("plan", "person"),
    ("publish", "person"),
    ("taxonomy show", "topic"),  # of a tree that is public
}


@pytest.fixture
def typed(monkeypatch):
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_arguments_are_taken_as_they_are():
    assert read_text("a - b") == "a - b"
    assert read_name("ann") == "ann"
    assert read_names(["a", "b"]) == ["a", "b"]


def test_a_name_is_a_line_names_are_lines_and_a_text_is_what_is_left(typed):
    typed("ann\nfirst line\nsecond line\n")
    assert read_name("-") == "ann"
    assert read_text("-") == "first line\nsecond line"
    typed(" a \n\nb\n")
    assert read_names(["x", "-", "y"]) == ["x", "a", "b", "y"]


@pytest.mark.parametrize("text", ["", "\n", " \n \n"])
def test_nothing_is_no_text(typed, text):
    for read in (read_text, read_name, lambda mark: read_names([mark])):
        typed(text)
        with pytest.raises(InputError, match="nothing was read"):
            read("-")


def test_what_is_no_text_or_too_much_is_refused(typed, monkeypatch):
    typed("x" * (LARGEST + 2))
    with pytest.raises(InputError, match="more than"):
        read_text("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8"))
    with pytest.raises(InputError, match="as text"):
        read_name("-")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        read_text("-")


def test_in_a_terminal_it_asks_on_stderr():
    controller, terminal = pty.openpty()
    script = "from aidos.surfaces.console import read_name; print(read_name('-', 'your query'))"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as asked:
        os.write(controller, b"debt lawyer\n")
        said, prompted = asked.communicate(timeout=60)
    os.close(terminal)
    os.close(controller)
    assert said == b"debt lawyer\n"
    assert prompted == b"your query: "


def test_a_mistyped_option_is_not_taken_for_a_text(capsys):
    for arguments in (["shield", "explain", "--jsno"], ["expose", "query", "--jsno", "--in", "nowhere"]):
        assert run(arguments) == 2
        assert "--jsno" in capsys.readouterr().err


def test_whatever_is_private_can_be_read_from_standard_input():
    asked = [(line, each) for line in JOBS for each in parameters_of(find_job(line)) if each.name in PRIVATE]
    asked = [(line, each) for line, each in asked if (line, each.name) not in HARMLESS]
    assert len(asked) > 10
    assert [(line, each.name) for line, each in asked if not marks_of(each, Private)] == []


def marks_of(asked, kind):
    return [mark for mark in getattr(asked.kind, "__metadata__", ()) if isinstance(mark, kind)]


def test_a_text_is_read_after_the_name_that_stands_before_it(typed, monkeypatch, capsys):
    monkeypatch.setattr("aidos.rooms.exposure.looking.TryDraft.run", lambda self, desk: Heard(words=str(self)))
    typed("ann\nthe first line\nthe second\n")
    assert run(["expose", "draft", "-", "--as", "-", "--in", "nowhere", "--json"]) == 0
    heard = capsys.readouterr().out
    assert "author='ann'" in heard
    assert "text='the first line" in heard


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Heard(Finding):
    words: str

    def facts(self):
        return {"words": self.words}
