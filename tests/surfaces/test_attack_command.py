"""`aidos attack` as a person uses it: k-anonymity and the pool release as published fall, the promises stand."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish.catalogue import mechanism_names
from aidos.rooms.publish.pool import PoolRelease
from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample

WITHOUT_PROMISE = {
    "k-keyword-anonymity",
    "k-query-anonymity",
    "k-session-anonymity",
    "pool-release (as-published)",
}


SURE = ("--confidence", "0.9999", "--size", "40")
"""Noise is the operating system's: a sound mechanism may fail here once in ten thousand runs."""


def told(capsys, *arguments, code=0):
    assert run(["attack", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    write_sample("log", World(size="tiny"), path)
    return path


@pytest.mark.slow
def test_sybils_against_every_mechanism(capsys):
    results = {one["mechanism"]: one for one in told(capsys, "sybil", *SURE, "--trials", "120")["results"]}
    named = {name.partition(" ")[0] for name in results}
    assert named == set(mechanism_names()) - {"log-release"}
    for name, result in results.items():
        if name in WITHOUT_PROMISE:
            assert (result["verdict"], result["allowed"]) == ("falls", None)
            assert result["surely"][0] > 0.6
        else:
            assert result["verdict"] == "stands"
            assert result["surely"][0] <= result["allowed"] < 0.5


def test_the_table_says_it_in_words(capsys):
    assert run(["attack", "sybil", "--mechanism", "k-query-anonymity", "--k", "5", "--trials", "60"]) == 0
    shown = capsys.readouterr().out
    assert "falls" in shown
    assert "60 victims" in shown
    assert " 4 " in shown, "k - 1 sybils"


def test_distinguish_bounds_epsilon_and_refutes_what_leaks(capsys):
    names = ["--mechanism", "laplace-threshold", "--mechanism", "pool-release", "--mechanism", "k-query-anonymity"]
    answer = told(capsys, "distinguish", *names, *SURE, "--trials", "200")
    results = {one["mechanism"]: one for one in answer["results"]}
    assert results["laplace-threshold"]["epsilon_at_least"] <= 1.0
    assert results["laplace-threshold"]["verdict"] == "stands"
    assert results["pool-release (strict)"]["verdict"] == "stands"
    for name in ("k-query-anonymity", "pool-release (as-published)"):
        assert results[name]["epsilon_at_least"] > 1.8
        assert results[name]["verdict"].startswith("no promise")


def test_uniques_finds_the_single_pairs_of_the_release_as_published(capsys, log, tmp_path):
    with EmbeddedEngine(threads=1) as engine:
        released = PoolRelease(
            variant="as-published", queries_per_person=100, query_scale=2.0, query_threshold=10, transition_scale=2.0
        ).run(engine.parquet(log), Noise(3))
    for name, table in released.tables().items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    scans = {one["file"]: one for one in told(capsys, "uniques", str(tmp_path), str(log), code=1)["scans"]}
    assert scans["transitions.parquet"]["kind"] == "pairs"
    assert scans["transitions.parquet"]["of_one"] > 5
    assert scans["queries.parquet"]["of_one"] == 0
    assert run(["attack", "uniques", str(tmp_path / "transitions.parquet"), str(log)]) == 1
    shown = capsys.readouterr().out
    assert "LEAK" in shown
    secret = released.transitions.column("user_query").to_pylist()[-1]
    assert secret not in shown


def test_uniques_of_a_harmless_csv_is_0(capsys, log, tmp_path):
    with EmbeddedEngine(threads=1) as engine:
        top = engine.parquet(log).rows(
            "select user_query from {table} group by 1 order by count(distinct client_id) desc limit 5"
        )
    path = tmp_path / "release.csv"
    path.write_text("user_query,people\n" + "".join(f"{query},9\n" for (query,) in top))
    scan = told(capsys, "uniques", str(path), str(log))["scans"][0]
    assert (scan["items"], scan["of_one"]) == (5, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "sybil, distinguish or uniques"),
        (["sybil", "--mechanism", "k-query-anonimity"], "did you mean k-query-anonymity"),
        (["sybil", "--trials", "3"], "at least 20"),
        (["sybil", "--sybils", "-1"], "at least 0"),
        (["sybil", "--confidence", "1"], "less than 1"),
        (["sybil", "--mechanism", "count-gaussian", "--epsilon", "nan"], "finite"),
        (["sybil", "--mechanism", "k-query-anonymity", "--k", "1"], "at least 2"),
        (["sybil", "--mechanism", "pool-release", "--delta", "0"], "delta"),
        (["sybil", "--mechanism", "pool-release", "--epsilon", "0"], "epsilon"),
    ],
)
def test_wrong_words_get_one_clear_line(capsys, arguments, words):
    assert run(["attack", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_uniques_refuses_what_is_no_release(capsys, log, tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    for path, words in (
        ("nowhere", "does not exist"),
        ("notes.txt", "neither Parquet nor CSV"),
        ("x.parquet", "no column of items"),
    ):
        assert run(["attack", "uniques", str(tmp_path / path), str(log)]) == 2
        assert words in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run(["attack", "uniques", str(tmp_path / "empty"), str(log)]) == 2
    assert "no Parquet file" in capsys.readouterr().err
