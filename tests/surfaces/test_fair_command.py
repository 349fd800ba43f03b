"""`aidos fair` as a person uses it: files in, files out, a page, accounts that last; and wrong input."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample


@pytest.fixture(scope="module")
def rankings(tmp_path_factory):
    path = tmp_path_factory.mktemp("world") / "rankings.parquet"
    write_sample("rankings", World(size="tiny"), path)
    return path


def told(capsys, *arguments, code=0):
    assert run(["fair", *map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments, code=2):
    assert run(["fair", *map(str, arguments)]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def write_rankings(path, number, subjects=8):
    lines = [
        {
            "ranking_id": f"r{each}",
            "query_id": "q",
            "searcher_id": f"s{each % 3}",
            "subjects": [
                {"subject_id": f"a{name}", "relevance": 10 - name, "group": f"g{name % 2}", "actor": f"h{name // 2}"}
                for name in range(subjects)
            ],
        }
        for each in range(number)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def read_orders(path):
    return [
        [subject["subject_id"] for subject in json.loads(line)["subjects"]] for line in path.read_text().splitlines()
    ]


def test_rerank_lowers_unfairness_and_keeps_the_floor(capsys, rankings, tmp_path):
    out, page = tmp_path / "served.parquet", tmp_path / "page.html"
    facts = told(
        capsys, "rerank", rankings, "--system", "changing", "-o", out, "--quality-floor", "0.9", "--report", page
    )
    assert facts["rankings"] == 60
    assert facts["unfairness"] < facts["unfairness_by_relevance"] / 2
    assert facts["least_quality"] >= 0.9 - 1e-9
    assert "90%" in facts["guarantee"]
    served = pq.read_table(out)
    assert {"query_id", "object_id", "position", "original_position", "attention"} <= set(served.column_names)
    assert "Not for release" in page.read_text() or "not for release" in page.read_text()
    measured = told(capsys, "measure", out)["runs"][0]
    assert measured["unfairness"] == pytest.approx(facts["unfairness"], abs=1e-9)
    assert measured["least_quality"] == pytest.approx(facts["least_quality"], abs=1e-9)


@pytest.mark.parametrize("suffix", [".jsonl", ".run", ".parquet", ".csv", ".tsv", ".jsonl.gz"])
def test_every_format_goes_in_and_out(capsys, tmp_path, suffix):
    start = write_rankings(tmp_path / "start.jsonl", 12)
    first, second = tmp_path / f"first{suffix}", tmp_path / "second.jsonl"
    told(capsys, "rerank", start, "-o", first, "--method", "relevance")
    facts = told(capsys, "rerank", first, "-o", second)
    assert facts["rankings"] == 12
    direct = told(capsys, "rerank", start, "-o", tmp_path / "direct.jsonl")
    if suffix != ".run":  # a run's scores fall with the rank, so that other tools keep the order
        assert direct["unfairness"] == pytest.approx(facts["unfairness"])
    if suffix.endswith(".gz"):
        assert gzip.decompress(first.read_bytes()).startswith(b"{")


def test_a_store_counts_every_ranking_once(capsys, tmp_path):
    start, store = write_rankings(tmp_path / "start.jsonl", 20), tmp_path / "attention.store"
    first = told(capsys, "rerank", start, "-o", tmp_path / "one.jsonl", "--store", store)
    again = told(capsys, "rerank", start, "-o", tmp_path / "two.jsonl", "--store", store)
    assert (first["served_before"], again["served_before"]) == (0, 20)
    assert (tmp_path / "one.jsonl").read_text() == (tmp_path / "two.jsonl").read_text()
    facts = told(capsys, "store", store)
    assert facts["rankings"] == 20
    assert facts["unfairness"] == pytest.approx(first["unfairness"])
    assert store.stat().st_mode & 0o077 == 0
    told(capsys, "export", store, "-o", tmp_path / "accounts.parquet")
    told(capsys, "import", tmp_path / "accounts.parquet", "--store", tmp_path / "new.store")
    assert told(capsys, "store", tmp_path / "new.store")["unfairness"] == pytest.approx(first["unfairness"])


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    start, store = write_rankings(tmp_path / "start.jsonl", 400), tmp_path / "attention.store"
    command = [sys.executable, "-m", "aidos", "fair", "rerank", str(start), "--store", str(store), "--quiet", "-o"]
    whole = tmp_path / "whole.jsonl"
    subprocess.run([*command[:-4], "--store", str(tmp_path / "other.store"), "-o", str(whole)], check=True)
    process = subprocess.Popen([*command, str(tmp_path / "cut.jsonl")])
    while not store.exists() and process.poll() is None:
        time.sleep(0.005)
    time.sleep(0.15)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "cut.jsonl").exists() or process.returncode == 0
    subprocess.run([*command, str(tmp_path / "cut.jsonl")], check=True)
    assert read_orders(tmp_path / "cut.jsonl") == read_orders(whole)


def test_simulate_tells_the_bound_and_writes_a_page(capsys, tmp_path):
    page = tmp_path / "page.html"
    found = told(
        capsys, "simulate", "--subjects", "20", "--rankings", "200", "--floors", "0.8,0.95", "-o", page,
        "--attention", "geometric:share=0.5,positions=3", "--methods", "adaptive,absolute,objective,relevance",
    )  # fmt: skip
    rows = {(row["method"], row["floor"]): row for row in found["results"]}
    assert (
        rows["adaptive", 0.8]["at_least"] <= rows["adaptive", 0.8]["unfairness"] <= rows["absolute", 0.8]["unfairness"]
    )
    assert rows["relevance", None]["unfairness"] > rows["adaptive", 0.95]["unfairness"]
    text = page.read_text()
    for words in ("Unfairness over time", "Who gains and who loses", "Who is owed most", "least possible"):
        assert words in text
    assert "<script" not in text


def test_simulate_reads_ratings_with_blanks(capsys, tmp_path):
    table = tmp_path / "listings.csv"
    rows = "".join(f"{each},{100 - each},{90 if each % 3 else ''},{'a' if each % 2 else 'b'}\n" for each in range(30))
    table.write_text("subject_id,rating,clean,town\n" + rows, encoding="utf-8")
    found = told(
        capsys, "simulate", "--ratings", table, "--rating", "rating,clean", "--group-column", "town", "--rankings", "9",
        "--methods", "adaptive,fair-topk", "--attention", "singular", "-o", tmp_path / "page.html",
    )  # fmt: skip
    assert len(found["results"]) == 2
    text = (tmp_path / "page.html").read_text()
    assert "bootstrap intervals" in text
    assert "ot for release" in text


def test_judgements_are_told_by_standard_measures(capsys, tmp_path):
    served = tmp_path / "served.jsonl"
    told(capsys, "rerank", write_rankings(tmp_path / "start.jsonl", 3), "-o", served)
    (tmp_path / "qrels.txt").write_text("q 0 a0 1\nq 0 a5 0\n", encoding="utf-8")
    row = told(capsys, "measure", served, "--judgements", tmp_path / "qrels.txt", "--measures", "P@5,nDCG@5")["runs"][0]
    assert 0 < row["P@5"] <= 0.2
    assert 0 < row["nDCG@5"] <= 1


def test_recipe_takes_the_place_of_options(capsys, tmp_path):
    recipe = tmp_path / "fair.toml"
    recipe.write_text(
        'mechanism = "equity-of-attention"\n\n[parameters]\nquality_floor = 0.95\nattention = "singular"\n'
    )
    start = write_rankings(tmp_path / "start.jsonl", 5)
    assert "95%" in told(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--recipe", recipe)["guarantee"]
    wrong = complaint(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--recipe", recipe, "--quality-floor", "0.5")
    assert "takes the place" in wrong
    recipe.write_text('mechanism = "equity-of-attention"\n\n[parameters]\nquality_floor = 2\nattention = "sideways"\n')
    assert "quality_floor" in complaint(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--recipe", recipe)


def test_actors_and_searchers(capsys, tmp_path):
    start = write_rankings(tmp_path / "start.jsonl", 40)
    facts = told(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--level", "actor", "--searcher-floor", "0.9")
    assert facts["accounts"] == 4
    qualities: dict[str, list[float]] = {}
    for line in (tmp_path / "o.jsonl").read_text().splitlines():
        ranking = json.loads(line)
        qualities.setdefault(ranking["searcher_id"], []).append(ranking["quality"])
    assert len(qualities) == 3
    assert all(sum(each) / len(each) >= 0.9 - 1e-9 for each in qualities.values())


@pytest.mark.parametrize(
    ("relevances", "words"),
    [
        (["-1", "2", "3", "4", "5"], "negative"),
        (["NaN", "2", "3", "4", "5"], "number"),
        (["1e999", "2", "3", "4", "5"], "infinite"),
        (["0", "0", "0", "0", "0"], "0"),
        (["1", "2"], "positions"),
    ],
)
def test_bad_relevance_is_told_with_its_place_and_nothing_is_written(capsys, tmp_path, relevances, words):
    subjects = ",".join(f'{{"subject_id": "secret{n}", "relevance": {value}}}' for n, value in enumerate(relevances))
    start = tmp_path / "bad.jsonl"
    start.write_text(f'{{"ranking_id": "r1", "subjects": [{subjects}]}}\n', encoding="utf-8")
    error = complaint(capsys, "rerank", start, "-o", tmp_path / "o.jsonl")
    assert words in error
    assert "line 1" in error
    assert "hint:" in error
    assert "secret" not in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl"]


def test_duplicates_and_rankings_out_of_order(capsys, tmp_path):
    start = tmp_path / "bad.csv"
    start.write_text("query_id,object_id,score\nq1,a,1\nq1,a,2\n", encoding="utf-8")
    assert "twice" in complaint(capsys, "rerank", start, "-o", tmp_path / "o.csv")
    start.write_text("query_id,object_id,score\nq1,a,1\nq2,a,2\nq1,b,2\n", encoding="utf-8")
    assert "line 4" in complaint(capsys, "rerank", start, "-o", tmp_path / "o.csv", "--attention", "singular")


def test_a_store_of_another_attention_model_is_refused(capsys, tmp_path):
    start, store = write_rankings(tmp_path / "start.jsonl", 3), tmp_path / "attention.store"
    told(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--store", store)
    error = complaint(capsys, "rerank", start, "-o", tmp_path / "p.jsonl", "--store", store, "--attention", "singular")
    assert "attention" in error
    assert "singular" in error
    assert not (tmp_path / "p.jsonl").exists()


def test_the_same_id_with_other_content_is_refused(capsys, tmp_path):
    store = tmp_path / "attention.store"
    told(capsys, "rerank", write_rankings(tmp_path / "a.jsonl", 3), "-o", tmp_path / "o.jsonl", "--store", store)
    other = write_rankings(tmp_path / "b.jsonl", 3, subjects=7)
    error = complaint(capsys, "rerank", other, "-o", tmp_path / "p.jsonl", "--store", store)
    assert "served before" in error
    assert "line 1" in error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--quality-floor", "1.5"), "--quality-floor must be at most 1"),
        (("--quality-floor", "nan"), "--quality-floor must be finite"),
        (("--attention", "measured:0,0"), "positive"),
        (("--attention", "geometrik"), "geometric"),
        (("--objective", "cubic"), "objective"),
        (("--method", "fairness"), "no method"),
        (("--half-life", "0"), "--half-life must be greater than 0"),
        (("--level", "actor", "--attention", "dcg:positions=10"), "at most 8"),
        (("--recipe", "nowhere.toml"), "there is no file"),
    ],
)
def test_bad_options_are_refused(capsys, tmp_path, options, words):
    start = write_rankings(tmp_path / "start.jsonl", 3)
    assert words in complaint(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", *options)
    assert not (tmp_path / "o.jsonl").exists()


def test_nothing_is_published_by_a_re_ranker(capsys, tmp_path):
    assert run(["publish", "log.tsv", "--mechanism", "equity-of-attention", "-o", str(tmp_path / "r")]) == 2
    assert "aidos fair rerank" in capsys.readouterr().err


def test_missing_part_and_missing_files(capsys, tmp_path):
    assert "rerank" in complaint(capsys)
    assert "nowhere" in complaint(capsys, "rerank", "nowhere.jsonl", "-o", tmp_path / "o.jsonl")
    assert "nowhere" in complaint(capsys, "store", Path("nowhere.store"))


def test_every_ranking_that_is_left_out_is_counted_and_explained(capsys, tmp_path):
    start = write_rankings(tmp_path / "start.jsonl", 2)
    bad = [{"ranking_id": f"bad{each}", "subjects": [{"subject_id": "a", "relevance": -1}]} for each in range(3)]
    with start.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in bad)
    assert run(["fair", "rerank", str(start), "-o", str(tmp_path / "o.jsonl"), "--skip-bad-rankings", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["left_out"] == 3
    assert "left out 3 rankings" in printed.err
    assert "negative" in printed.err


def test_no_floor_is_claimed_for_rankings_that_were_served_at_a_lower_one(capsys, tmp_path):
    start, store = write_rankings(tmp_path / "start.jsonl", 20), tmp_path / "attention.store"
    common = ("rerank", start, "-o", tmp_path / "o.jsonl", "--store", store)
    first = told(capsys, *common, "--quality-floor", "0.5")
    assert first["least_quality"] < 0.99
    assert "served before" not in first["guarantee"]
    assert "lower floor" in told(capsys, *common, "--quality-floor", "0.99")["guarantee"]


def test_pages_that_name_subjects_are_for_their_owner_alone(capsys, tmp_path):
    start, page = write_rankings(tmp_path / "start.jsonl", 3), tmp_path / "page.html"
    told(capsys, "rerank", start, "-o", tmp_path / "o.jsonl", "--report", page)
    assert page.stat().st_mode & 0o077 == 0
