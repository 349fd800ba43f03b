"""`aidos evaluate utility` and the five experiments that it runs, as a person uses them."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run

WORLD = ("--size", "120")
QUICK = {
    "statistics": ("--epsilons", "50", "--items-per-person", "1,6", "--ks", "5", "--usual-epsilon", "50"),
    "caching": ("--epsilons", "50", "--items-per-person", "1,6", "--ks", "5", "--usual-epsilon", "50"),
    "mechanisms": ("--epsilons", "20", "--delta", "0.01", "--kinds", "queries"),
}


def told(capsys, name, *arguments):
    line = ["evaluate", name, *map(str, arguments), "--json", "--quiet", "--threads", "1"]
    with pytest.MonkeyPatch.context() as typed:
        typed.setattr("sys.argv", ["aidos", *line])
        assert run(line) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["evaluate", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def log(path, rows):
    moments = [f"2024-03-05T09:{minute:02}:00" for minute in range(len(rows))]
    lines = ["client_id,timestamp,user_query"]
    lines += [f"{person},{moment},{query}" for (person, query), moment in zip(rows, moments, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", list(QUICK))
def test_an_experiment_gives_a_tidy_table_a_page_and_json(capsys, tmp_path, name):
    output = tmp_path / "results"
    found = told(capsys, name, *WORLD, *QUICK[name], "-o", output)
    assert found["facts"]["people"] > 50
    assert {"fact", "paper", "here", "holds"} <= set(found["claims"][0])
    assert pq.read_table(output / "results.parquet").num_rows == len(found["results"])
    page = (output / "report.html").read_text()
    assert "what the paper found" in page
    assert f"aidos evaluate {name} --size 120 {' '.join(QUICK[name])} -o" in page
    assert "not for release" not in page


def test_a_log_of_ones_own_gives_private_findings(capsys, tmp_path):
    rows = [(f"p{person}", query) for person in range(12) for query in ("jazz", "piano")][:24]
    output = tmp_path / "results"
    source = log(tmp_path / "log.csv", rows)
    told(capsys, "statistics", source, *QUICK["statistics"], "--kinds", "queries,clicks", "-o", output)
    assert "Finding: not for release" in (output / "report.html").read_text()
    assert all(not path.stat().st_mode & 0o077 for path in (output / "report.html", output / "results.parquet"))
    assert (
        run(
            [
                "evaluate",
                "statistics",
                str(source),
                *QUICK["statistics"],
                "--kinds",
                "queries,clicks",
                "-o",
                str(output),
            ]
        )
        == 0
    )
    assert "clicks are left out" in capsys.readouterr().err


def test_logs_that_cannot_do_are_refused_and_nothing_is_written(capsys, tmp_path):
    single = log(tmp_path / "single.csv", [(f"p{person}", "jazz") for person in range(9)])
    output = tmp_path / "out"
    assert "nobody asked two different queries" in complaint(capsys, "substitution", single, "-o", output)
    assert "no clicks" in complaint(capsys, "retrieval", single, "-o", output)
    clicked = tmp_path / "clicked.csv"
    lines = single.read_text().splitlines()
    clicked.write_text("\n".join([f"{lines[0]},object_id", *(f"{line}," for line in lines[1:-1]), f"{lines[-1]},page"]))
    assert "nobody who was held out clicked" in complaint(capsys, "retrieval", clicked, "--threads", "1", "-o", output)
    pq.write_table(pa.table({"object_id": ["a"], "text": ["something else"]}), tmp_path / "docs.parquet")
    assert "not what was searched in" in complaint(
        capsys, "caching", single, "--documents", tmp_path / "docs.parquet", "-o", output
    )
    (tmp_path / "plain.csv").write_text("client_id,user_query\np,jazz\nq,jazz\n")
    assert "timestamp" in complaint(capsys, "statistics", tmp_path / "plain.csv", "-o", output)
    assert not output.exists()


@pytest.mark.slow
def test_all_experiments_at_once_leave_out_what_the_log_does_not_allow(capsys, tmp_path):
    rows = [(f"p{person}", query) for person in range(12) for query in ("jazz", "piano")]
    source, output = log(tmp_path / "log.csv", rows), tmp_path / "all"
    asked = (source, "--kinds", "queries", "-o", output)
    found = told(capsys, "utility", *asked)
    assert list(found["experiments"]) == ["statistics", "mechanisms"]
    assert set(found["left_out"]) == {"caching", "substitution", "retrieval"}
    assert "needs documents" in found["left_out"]["caching"]
    page = (output / "report.html").read_text()
    assert "Finding: not for release" in page
    assert "Retrieval is left out: the log has no clicks" in page
    assert 'href="mechanisms/report.html"' in page
    assert not (output / "caching").exists()
    assert all(not path.stat().st_mode & 0o077 for path in (output, output / "report.html", output / "statistics"))
    done = {path: path.stat().st_mtime_ns for path in output.glob("*/settings/*.parquet")}
    assert told(capsys, "utility", *asked) == found
    alone = told(capsys, "statistics", source, "--kinds", "queries", "-o", output / "statistics")
    assert alone["results"] == found["experiments"]["statistics"]["results"]
    assert done == {path: path.stat().st_mtime_ns for path in output.glob("*/settings/*.parquet")}


def test_documents_of_something_else_are_refused_before_anything_is_done(capsys, tmp_path):
    rows = [(f"p{person}", query) for person in range(12) for query in ("jazz", "piano")]
    pq.write_table(pa.table({"object_id": ["a"], "text": ["something else"]}), tmp_path / "docs.parquet")
    output, source = tmp_path / "all", log(tmp_path / "log.csv", rows)
    assert "not what was searched in" in complaint(
        capsys, "utility", source, "--documents", tmp_path / "docs.parquet", "-o", output
    )
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("statistcs", "-o", "x"), "did you mean: aidos evaluate statistics"),
        (("retreival",), "did you mean: aidos evaluate retrieval"),
        (("zzz",), "there are mediator"),
        (("statistics", "--epsilons", "much", "-o", "x"), "--epsilons takes numbers"),
        (("statistics", "--kinds", "moods", "-o", "x"), "'moods'"),
        (("caching", "--size", "huge", "-o", "x"), "size"),
        (
            ("mechanisms", "--size", "50", "--items-per-person", "200", "-o", "x"),
            "--items-per-person must be at most 100",
        ),
        (("caching", "--documents", "nowhere.parquet", "-o", "x"), "nowhere.parquet"),
    ],
)
def test_wrong_words_are_refused_with_the_nearest(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in complaint(capsys, *arguments)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["utility", "statistics", "caching", "substitution", "retrieval", "mechanisms"])
def test_the_help_has_examples(capsys, name):
    assert run(["evaluate", name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "For example:" in shown
    assert "--documents" in shown
