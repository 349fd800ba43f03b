"""`aidos evaluate audit` as a person uses it."""

import json

import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run

QUICK = ("--size", "tiny", "--part", "recovery")


def told(capsys, *arguments):
    line = ["evaluate", "audit", *map(str, arguments), "--json", "--quiet"]
    with pytest.MonkeyPatch.context() as typed:
        typed.setattr("sys.argv", ["aidos", *line])
        assert run(line) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["evaluate", "audit", *map(str, arguments)]) == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Where one run is kept: the first test fills it, and what comes later goes on from there."""
    return tmp_path_factory.mktemp("audit") / "results"


def test_a_part_gives_tables_a_page_and_json(capsys, output):
    found = told(capsys, *QUICK, "-o", output)
    assert {row["method"] for row in found["recovery"]} == {"INF", "EM"}
    assert len(found["claims"]) == 2
    assert all(claim["holds"] for claim in found["claims"])
    assert pq.read_table(output / "recovery.parquet").num_rows == len(found["recovery"])
    page = (output / "report.html").read_text()
    assert "Lists drawn from the model" in page
    assert "--part recovery" in page


def test_what_is_done_is_kept_and_another_seed_is_refused(capsys, output):
    first = told(capsys, *QUICK, "-o", output)
    kept = (output / "samples-learned.parquet").stat().st_mtime_ns
    assert told(capsys, *QUICK, "-o", output) == first
    assert (output / "samples-learned.parquet").stat().st_mtime_ns == kept
    assert "another experiment" in complaint(capsys, *QUICK, "--seed", "8", "-o", output)


def test_people_are_told_what_holds(capsys, output):
    assert run(["evaluate", "audit", *QUICK, "-o", str(output)]) == 0
    shown = capsys.readouterr()
    assert "EM finds mix and concentration" in " ".join(shown.out.split())
    assert "report.html" in shown.err


@pytest.mark.parametrize(("options", "words"), [(("--part", "mood"), "no part 'mood'"), (("--size", "huge"), "size")])
def test_wrong_options_are_refused(capsys, tmp_path, options, words):
    assert words in complaint(capsys, *options, "-o", tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_the_help_has_examples(capsys):
    assert run(["evaluate", "audit", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "For example:" in shown
    assert "--part" in shown


@pytest.mark.slow
def test_the_whole_study_of_a_tiny_world_makes_every_table(capsys, tmp_path):
    found = told(capsys, "--size", "tiny", "-o", tmp_path / "results")
    for name in ("recovery", "topics", "disambiguation", "users", "sweep", "time", "alarms", "power", "world", "loop"):
        assert found[name]
        assert (tmp_path / "results" / f"{name}.parquet").exists()
