"""`aidos evaluate` as a person uses it: on posts of her own, cut off and gone on with, and with wrong input."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.studies.mediator.world import ThesisWorld, write_posts
from aidos.surfaces.cli import run


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    path = tmp_path_factory.mktemp("posts") / "posts.parquet"
    world = ThesisWorld(people=30, topics=12, least_queries=20)
    pq.write_table(write_posts(world.draw(1), 1, answers=800), path)
    return path


def told(capsys, *arguments):
    assert run(["evaluate", "mediator", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["evaluate", *map(str, arguments)]) == 2
    return capsys.readouterr().err


def test_it_runs_on_posts_and_tells_the_thesis_beside(capsys, posts, tmp_path):
    output = tmp_path / "results"
    found = told(capsys, "--posts", posts, "--least-questions", "20", "--alphas", "0,0.6,1", "-o", output)
    means = {(each["heuristic"], each["alpha"]): each["means"] for each in found["settings"]}
    scattered = {(name, alpha) for name in ("original", "commons") for alpha in (0.0, 0.6, 1.0)}
    assert set(means) == scattered | {(name, None) for name in ("own account", "pools", "one account")}
    for name in ("entropy", "kendall_loss"):
        rising = [means["original", alpha][name] for alpha in (0.0, 0.6, 1.0)]
        assert rising == sorted(rising)
    summary = pq.read_table(output / "summary.parquet")
    assert {"heuristic", "alpha", "measure", "mean", "low", "high", "people"} == set(summary.column_names)
    page = (output / "report.html").read_text()
    assert "The thesis&#39; table, and the one found" in page or "The thesis' table, and the one found" in page
    assert "Finding: not for release" in page
    assert (output / "report.html").stat().st_mode & 0o077 == 0


def test_what_is_done_is_not_done_again_and_other_data_are_refused(capsys, posts, tmp_path):
    output = tmp_path / "results"
    asked = ("--posts", posts, "--least-questions", "20", "--alphas", "0", "--heuristics", "original", "-o", output)
    first = told(capsys, *asked)
    kept = {path.name: path.stat().st_mtime_ns for path in output.glob("o*.parquet")}
    assert told(capsys, *asked) == first
    assert {path.name: path.stat().st_mtime_ns for path in output.glob("o*.parquet")} == kept
    assert "another experiment" in complaint(capsys, "mediator", *asked, "--seed", "9")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--alphas", "0,2"), "alpha"),
        (("--alphas", "low"), "numbers"),
        (("--heuristics", "clever"), "heuristics"),
        (("--topic", "mood"), "topic"),
        (("--least-questions", "100000"), "nobody asked"),
        (("--accounts", "0"), "accounts"),
    ],
)
def test_bad_options_are_refused(capsys, posts, tmp_path, options, words):
    assert words in complaint(capsys, "mediator", "--posts", posts, "-o", tmp_path / "results", *options)


def test_missing_files_and_missing_names(capsys, tmp_path):
    assert "nowhere.xml" in complaint(capsys, "mediator", "--posts", "nowhere.xml", "-o", tmp_path / "results")
    assert "which experiment" in complaint(capsys)


@pytest.mark.parametrize("kind", [None, "1"])
def test_posts_without_questions_are_refused_by_the_column_and_check_says_so_before(capsys, posts, tmp_path, kind):
    table, bad = pq.read_table(posts), tmp_path / "bad.parquet"
    place = table.column_names.index("kind")
    bare = table.remove_column(place)
    pq.write_table(bare if kind is None else bare.append_column("kind", pa.array([kind] * len(bare))), bad)
    assert run(["check", str(bad)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "aidos evaluate mediator finds nobody who asks" in said
    assert ("no column is kind" in said) == (kind is None)
    error = complaint(capsys, "mediator", "--posts", bad, "-o", tmp_path / "results")
    assert "the column kind" in error
    assert "--column kind=NAME" in error
    assert run(["check", str(posts)]) == 0
    assert "nobody who asks" not in capsys.readouterr().out


def test_a_column_of_another_name_can_be_named_as_the_kind(capsys, posts, tmp_path):
    table, named = pq.read_table(posts), tmp_path / "named.parquet"
    names = ["sort" if name == "kind" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), named)
    asked = ("--posts", named, "--least-questions", "20", "--alphas", "0", "--heuristics", "original")
    told(capsys, *asked, "--column", "kind=sort", "-o", tmp_path / "results")
