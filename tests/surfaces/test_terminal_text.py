"""Whatever stands in a file or in its name, nothing that a command prints acts on the terminal."""

import csv
import json

import pyarrow as pa
import pytest
from rich.console import Console
from rich.text import Text

from aidos.core.plaintext import ACTING
from aidos.errors import InputError
from aidos.report.terminal import write
from aidos.rooms.publish.directory import write_histogram
from aidos.surfaces.cli import run
from aidos.surfaces.console import show, show_json, tell

BAD = "x\x1b]0;owned\x07\x1b[2J\u202etxt\u2066\x9b31m\u200f"
"""Renames the window, clears the screen, turns the direction of reading, and changes the colour."""


@pytest.fixture
def said(capsys):
    def run_it(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert ACTING.findall(out + err) == []
        return code, out, err

    return run_it


def test_topics_of_a_taxonomy(said, tmp_path):
    file = tmp_path / "topics.tsv"
    file.write_text(f"id\tparent\tname\nr\t\tR\n{BAD}\tnowhere{BAD}\tA\n")
    code, _, err = said("taxonomy", "import", file, "-o", tmp_path / "kept.taxonomy")
    assert code == 2
    assert "\\x1b]0;owned\\x07\\x1b[2J\\u202etxt" in err


def test_a_taxonomy_that_is_sound_and_hostile(said, tmp_path):
    file = tmp_path / "topics.tsv"
    file.write_text(f"id\tparent\tname\nr\t\tR\na\tr\t{BAD}\nb\tr\t{BAD}b\n")
    kept = tmp_path / "kept.taxonomy"
    assert said("taxonomy", "import", file, "-o", kept)[0] == 0
    for arguments in (("show",), ("show", "a"), ("find", "owned"), ("show", "--json")):
        assert said("taxonomy", *arguments, "--taxonomy", kept)[0] in (0, 2)


def test_subjects_of_rankings(said, tmp_path):
    rows = [
        {"query_id": BAD, "subjects": [{"object_id": f"{BAD}{place}", "score": 1.0 / place} for place in range(1, 8)]}
    ]
    file = tmp_path / "served.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")
    for extra in ((), ("--json",), ("--level", "actor"), ("--judgements", file)):
        assert said("fair", "measure", file, *extra)[0] in (0, 2)


def test_names_of_files_and_arguments(said, tmp_path):
    (tmp_path / f"{BAD}.tsv").write_text("no\nlog\n")
    assert said("check", tmp_path / f"{BAD}.tsv")[0] == 2
    assert said("check", tmp_path / f"{BAD}\naidos: all is well.tsv")[0] == 2
    assert said(BAD)[0] == 2
    assert said("taxonomy", "show", BAD)[0] == 2


def test_a_message_cannot_pass_for_two(said, tmp_path):
    _, _, err = said("verify", tmp_path / "a\naidos: the release is genuine")
    assert len(err.splitlines()) == 2


def test_a_traceback_is_shown_as_text(said, monkeypatch):
    def fail(*_args, **_options):
        raise InputError(BAD)

    monkeypatch.setattr("aidos.ingest.reading.find_sources", fail)
    code, _, err = said("check", "log.tsv", "--debug")
    assert code == 2
    assert "Traceback" in err


def test_json_says_the_same_with_nothing_that_acts(capsys):
    value = {"topic": BAD, "tag": "\U000e0041", "half": "\ud800"}
    show_json(value)
    out = capsys.readouterr().out
    assert ACTING.findall(out) == []
    assert json.loads(out) == value


def test_remarks_and_tables_of_any_making(capsys):
    tell(BAD)
    show(BAD)
    show(Text(BAD))
    out, err = capsys.readouterr()
    assert ACTING.findall(out + err) == []
    assert "owned" in out


def test_styles_of_our_own_stay(capsys):
    console = Console(force_terminal=True, color_system="standard", highlight=False)
    write(console, Text(f"bad {BAD}", style="red"))
    out = capsys.readouterr().out
    assert out.startswith("\x1b[31mbad x\\x1b]0;owned")
    assert out.count("\x1b") == 2


def test_released_cells_for_spreadsheets(tmp_path):
    items = [f"=HYPERLINK({BAD})", BAD, "plain", "@risk"]
    write_histogram(tmp_path, "queries", pa.table({"user_query": items, "count": [1, -2, 3, 4]}))
    text = (tmp_path / "queries.csv").read_text()
    assert ACTING.findall(text.replace("\r\n", "\n")) == []
    rows = list(csv.reader(text.splitlines()))
    assert [row[0][:2] for row in rows[1:]] == ["'=", "x\\", "pl", "'@"]
    assert rows[2][1] == "-2"
