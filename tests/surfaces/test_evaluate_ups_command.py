"""`aidos evaluate ups` as a person uses it."""

import json

import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run

QUICK = ("--size", "150", "--part", "quality")


def told(capsys, *arguments):
    line = ["evaluate", "ups", *map(str, arguments), "--json", "--quiet"]
    with pytest.MonkeyPatch.context() as typed:
        typed.setattr("sys.argv", ["aidos", *line])
        assert run(line) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["evaluate", "ups", *map(str, arguments)]) == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Where one run is kept: the first test fills it, and what comes later goes on from there."""
    return tmp_path_factory.mktemp("ups") / "results"


def test_a_part_gives_tables_a_page_and_json(capsys, output):
    found = told(capsys, *QUICK, "-o", output)
    assert {row["algorithm"] for row in found["quality"]} == {"ratio", "greedy-il", "greedy-dp"}
    assert all(claim["holds"] for claim in found["claims"] if "ratio greedy" in claim["finding"])
    assert pq.read_table(output / "quality.parquet").num_rows == len(found["quality"])
    page = (output / "report.html").read_text()
    assert "Beside the best there is" in page
    assert "--part quality" in page


def test_what_is_done_is_kept_and_another_seed_is_refused(capsys, output):
    first = told(capsys, *QUICK, "-o", output)
    kept = (output / "best-compared.parquet").stat().st_mtime_ns
    assert told(capsys, *QUICK, "-o", output) == first
    assert (output / "best-compared.parquet").stat().st_mtime_ns == kept
    assert "another experiment" in complaint(capsys, *QUICK, "--seed", "8", "-o", output)


@pytest.mark.slow
def test_another_taxonomy_may_be_named(capsys, tmp_path):
    lines = [f"{a} > {a}{b} > {a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"]
    (tmp_path / "own.txt").write_text("\n".join(lines) + "\n")
    found = told(capsys, *QUICK, "--taxonomy", tmp_path / "own.txt", "-o", tmp_path / "results")
    assert found["facts"]["topics"] > 64
    assert found["facts"]["taxonomy"] == "own.txt"


def test_people_are_told_what_holds(capsys, output):
    assert run(["evaluate", "ups", *QUICK, "-o", str(output)]) == 0
    shown = capsys.readouterr()
    assert "GreedyDP and GreedyIL agree" in " ".join(shown.out.split())
    assert "report.html" in shown.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--part", "mood"), "no part 'mood'"),
        (("--size", "huge"), "size"),
        (("--taxonomy", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_wrong_options_are_refused(capsys, tmp_path, options, words):
    assert words in complaint(capsys, *options, "-o", tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_the_help_has_examples(capsys):
    assert run(["evaluate", "ups", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "For example:" in shown
    assert "--taxonomy" in shown
