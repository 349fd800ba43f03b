import io

import pytest
from rich.console import Console

from aidos.errors import Problem
from aidos.report.terminal import facts_table, problem_list, rows_table, write

OPTION = "--time-format '%d/%m/%Y %H:%M:%S' --column timestamp=When --column client_id=AnonID"
PATH = "/somewhere/rather/deep/in/a/tree/of/folders/with/long/names/report.html"


def printed(renderable, width=80, **options):
    stream = io.StringIO()
    write(Console(file=stream, width=width, **options), renderable)
    return stream.getvalue()


def problem(**changes):
    fields = {"kind": "ragged-rows", "file": "b.tsv", "sentence": "rows are too short", "remedy": "Mend them."}
    return Problem(**(fields | changes))


def test_facts_line_up():
    lines = printed(facts_table([("rows", 1234567), ("people", None)])).splitlines()
    assert lines[0].split() == ["rows", "1,234,567"]
    assert lines[0].index("1,234") == lines[1].index("\u2013")


def test_numbers_are_flush_right():
    lines = printed(rows_table(["room", "rows"], [["ingest", 1200], ["world", 7]], title="Rooms")).splitlines()
    assert lines[0].rstrip() == "Rooms"
    assert lines[2].rstrip().endswith("1,200")
    assert len(lines[3].rstrip()) == len(lines[2].rstrip())


def test_a_narrow_terminal_gets_records_and_loses_no_word():
    rows = [["ingest", "a file with a long name.tsv.gz", 1200], ["world", "seed 7", 7]]
    narrow = printed(rows_table(["room", "input", "rows"], rows), width=30)
    assert "room" in narrow.splitlines()[0]
    assert "ingest" in narrow.splitlines()[0]
    for word in ("file", "with", "long", "name.tsv.gz", "seed 7", "1,200"):
        assert word in narrow


def test_a_small_table_stays_a_table_in_a_narrow_terminal():
    assert printed(rows_table(["a", "b"], [["x", 1], ["y", 2]]), width=30).splitlines()[0].split() == ["a", "b"]


def test_no_rows_is_said():
    assert "no rows" in printed(rows_table(["a"], []))


@pytest.mark.parametrize("width", [200, 80, 30])
def test_options_and_paths_can_be_copied_whole(width):
    assert OPTION in printed(problem_list([problem(option=OPTION)]), width=width)


def test_problems_are_grouped_by_file_with_lines_and_counts():
    text = printed(
        problem_list(
            [
                problem(count=1200, lines=tuple(range(3, 13)), option="--skip-bad-rows"),
                problem(file="a.tsv", sentence="the time cannot be read", column="When", lines=(2,)),
                problem(sentence="no header", count=1),
            ]
        )
    )
    assert text.index("a.tsv") < text.index("b.tsv")
    assert text.count("b.tsv") == 1
    assert "the time cannot be read (column When)" in text
    assert "on line 2" in [line.strip() for line in text.splitlines()]
    assert "1,200 times, on lines 3, 4, 5, 6, 7, 8, 9, 10 and more" in text
    assert "--skip-bad-rows" in text


def test_nothing_is_said_by_colour_alone(monkeypatch):
    things = problem_list([problem(option="--x", lines=(3,))])
    plain = printed(things)
    assert "\x1b" not in plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(things, force_terminal=True, color_system="truecolor")


def test_foreign_text_neither_commands_the_terminal_nor_styles_it():
    text = printed(facts_table([("[bold]x[/bold]", "\x1b[2Jgone\x07")]), force_terminal=True, color_system=None)
    assert "[bold]x[/bold]" in text
    assert "\x1b[2J" not in text
    assert "\x07" not in text
