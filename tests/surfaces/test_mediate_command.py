"""`aidos mediate` as a person uses it."""

import json

import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    write_sample("log", World(size="tiny"), path)
    return path


def told(capsys, *arguments, code=0):
    assert run(["mediate", *map(str, arguments), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def complaint(capsys, *arguments):
    assert run(["mediate", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def people_of(log):
    lines = log.read_text(encoding="utf-8").splitlines()[1:]
    return {line.split("\t")[0] for line in lines}


def test_assign_writes_accounts_and_queries_and_nobody(capsys, log, tmp_path):
    target, page = tmp_path / "mixed", tmp_path / "page.html"
    found = told(capsys, "assign", log, "--accounts", "40", "-o", target, "--finding", page)
    table = pq.read_table(target / "accounts.parquet")
    assert table.column_names == ["account_id", "user_query"]
    assert table.num_rows == found["queries"]
    assert set(table["account_id"].to_pylist()) <= set(range(40))
    assert found["settings"][0]["means"]["entropy"] > 0.5
    written = b"".join(path.read_bytes() for path in [*target.iterdir(), page])
    assert not any(person.encode() in written for person in people_of(log) if len(person) > 4)
    manifest = json.loads((target / "MANIFEST.json").read_text())
    assert "No guarantee" in manifest["guarantee"]
    assert "nothing about who asked but one number" in manifest["guarantee"]
    assert manifest["epsilon_per_query"] == 0
    assert page.stat().st_mode & 0o077 == 0
    assert "Finding: not for release" in page.read_text()
    assert "linked by words alone" in page.read_text()


def test_more_scattering_is_more_entropy_and_commons_lose_less(capsys, log):
    found = told(capsys, "measure", log, "--alphas", "0,0.5,1", "--seed", "3")
    means = {(each["heuristic"], each["alpha"]): each["means"] for each in found["settings"]}
    for heuristic in ("original", "commons"):
        rising = [means[heuristic, alpha]["entropy"] for alpha in (0, 0.5, 1)]
        assert rising == sorted(rising)
    assert means["commons", 0.5]["entropy"] > means["original", 0.5]["entropy"]
    assert means["commons", 0.5]["coherence_loss"] < means["original", 0.5]["coherence_loss"]


def test_who_knows_other_texts_finds_no_more_behind_pools_than_by_words(capsys, log):
    found = told(capsys, "measure", log, "--alphas", "0.3", "--heuristics", "pools,original", "--seed", "3")
    told_of = {each["heuristic"]: each for each in found["settings"]}
    assert list(told_of) == ["own account", "pools", "original", "one account"]
    linked = {name: each["means"]["relinked"] for name, each in told_of.items()}
    assert linked["own account"] > linked["original"] > linked["pools"] == found["linked_by_words_alone"]
    assert linked["pools"] > 10 * found["linked_by_chance"]
    assert [each["epsilon"] is None for each in told_of.values()] == [True, False, False, False]
    assert told_of["original"]["epsilon"] > 6


def test_too_few_people_for_a_pool_are_refused(capsys, log, tmp_path):
    assert "--people-per-pool" in complaint(
        capsys, "assign", log, "--people-per-pool", "5000", "-o", tmp_path / "mixed"
    )
    assert not (tmp_path / "mixed").exists()


def test_topics_can_be_given(capsys, log, tmp_path):
    topics = tmp_path / "topics.tsv"
    queries = {line.split("\t")[1] for line in log.read_text(encoding="utf-8").splitlines()[1:]}
    topics.write_text("".join(f"{query}\t{'a' if len(query) % 2 else 'b'}\n" for query in sorted(queries)))
    found = told(capsys, "measure", log, "--topics", topics, "--alphas", "0", "--heuristics", "original")
    assert (found["topics"], found["without_topic"]) == (2, 0)


@pytest.mark.slow
def test_a_seed_repeats_and_none_does_not(capsys, log, tmp_path):
    orders = []
    for number, seed in enumerate((("--seed", "5"), ("--seed", "5"), ())):
        told(capsys, "assign", log, "--heuristic", "original", "-o", tmp_path / str(number), *seed)
        orders.append(pq.read_table(tmp_path / str(number) / "accounts.parquet").to_pylist())
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--alpha", "0.3"), "alpha is of no use with pools"),
        (("--alpha", "1.5"), "alpha"),
        (("--alpha", "nan"), "alpha"),
        (("--accounts", "0"), "accounts"),
        (("--heuristic", "clever"), "heuristic"),
        (("--topics", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(capsys, log, tmp_path, options, words):
    assert words in complaint(capsys, "assign", log, "-o", tmp_path / "mixed", *options)
    assert not (tmp_path / "mixed").exists()


def test_bad_files_are_refused(capsys, log, tmp_path):
    bad = tmp_path / "topics.tsv"
    bad.write_text("secret words without a tab\n")
    error = complaint(capsys, "measure", log, "--topics", bad)
    assert "line 1" in error
    assert "secret" not in error
    (tmp_path / "taken").mkdir()
    assert "exists" in complaint(capsys, "assign", log, "-o", tmp_path / "taken")
    assert "assign or measure" in complaint(capsys)
    assert run(["publish", str(log), "--mechanism", "mediator-accounts", "-o", str(tmp_path / "r")]) == 2
    assert "aidos mediate assign" in capsys.readouterr().err


def test_a_query_whose_only_row_is_a_click_counts_once(capsys, tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text(
        "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
        "10000001\tviolin\t2024-03-04 02:36:30\t1\thttps://a.example\n"
        "10000001\tviolin\t2024-03-04 02:37:08\t2\thttps://b.example\n"
        "10000001\tviolin\t2024-03-04 09:00:00\t1\thttps://a.example\n"
        "10000002\tcello\t2024-03-04 10:00:00\t\t\n"
        "10000002\tcello\t2024-03-04 10:00:09\t1\thttps://a.example\n"
    )
    found = told(capsys, "measure", log, "--alphas", "0", "--heuristics", "original")
    assert (found["queries"], found["people"]) == (3, 2)


def test_posts_and_a_depth_below_the_root_are_refused(capsys, log, tmp_path):
    posts = tmp_path / "posts.parquet"
    write_sample("posts", World(size="tiny"), posts)
    assert "no search log" in complaint(capsys, "measure", posts)
    assert "depth" in complaint(capsys, "measure", log, "--depth", "-1")
