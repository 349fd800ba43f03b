"""`aidos publish` as its user runs it: ledger, release, manifest, refusal, plan."""

import contextlib
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.surfaces.cli import run

PEOPLE = 400


@dataclass(frozen=True)
class Done:
    """What a command said, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def aidos(*arguments, cwd):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*map(str, arguments)])
    return Done(code, said.getvalue(), complained.getvalue())


@pytest.fixture
def place(tmp_path):
    """A directory with a log of many people who share three queries, one of whom also asks something of her own."""
    rows = [
        (f"u{i}", f"2024-03-01 10:{m:02}:00", q) for i in range(PEOPLE) for m, q in enumerate(("fern", "moss", "oak"))
    ]
    rows.append(("u7", "2024-03-01 11:00:00", "my secret address"))
    lines = "".join(f"{person}\t{query}\t{at}\t1\thttps://{query[:4]}.example\n" for person, at, query in sorted(rows))
    (tmp_path / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + lines)
    opened = aidos("ledger", "open", "log.tsv", "--epsilon", 3, "--delta", 0.05, "-o", "l.ledger", cwd=tmp_path)
    assert opened.returncode == 0, opened.stderr
    return tmp_path


def ask(place, *more):
    return aidos("publish", "log.tsv", "--ledger", "l.ledger", *more, cwd=place)


def publish(place, *more):
    """With the answer to what is asked where nobody knows whether anything comes out."""
    return ask(place, "--yes", *more)


def test_a_release_from_start_to_finish(place):
    done = publish(place, "--items", "queries,clicks", "--epsilon", 2, "--finding", "f.html", "-o", "release")
    assert done.returncode == 0, done.stderr
    assert "epsilon = 2" in done.stdout
    manifest = json.loads((place / "release" / "MANIFEST.json").read_text())
    assert manifest["guarantee"]["kind"] == "ApproxDP"
    assert manifest["guarantee"]["neighbours"] == "add-or-remove-one"
    assert manifest["noise"] == "operating system"
    assert {part["items"] for part in manifest["composition"]} == {"queries", "clicks"}
    read = duckdb.sql(f"select user_query, people from '{place / 'release' / 'queries.parquet'}'").fetchall()
    assert {query for query, _ in read} == {"fern", "moss", "oak"}
    # Each count is off by more than 250 with probability below 1e-9 at this noise.
    assert all(abs(people - PEOPLE) < 250 for _, people in read)
    assert aidos("verify", "release", cwd=place).returncode == 0
    assert stat.S_IMODE((place / "f.html").stat().st_mode) == 0o600
    text = "".join(path.read_text(errors="ignore") for path in (place / "release").iterdir())
    assert "secret" not in text


def test_the_printed_recipe_repeats_the_release_with_new_noise(place):
    assert publish(place, "--epsilon", 1, "-o", "one").returncode == 0
    manifest = json.loads((place / "one" / "MANIFEST.json").read_text())
    (place / "recipe.toml").write_text(manifest["recipe"])
    assert publish(place, "--recipe", "recipe.toml", "-o", "two").returncode == 0
    again = json.loads((place / "two" / "MANIFEST.json").read_text())
    assert again["recipe"] == manifest["recipe"]
    assert again["calibration"] == manifest["calibration"]


def test_overspending_is_refused_with_exit_3_and_nothing_is_written(place):
    assert publish(place, "--epsilon", 2, "--mechanism", "laplace-threshold", "-o", "one").returncode == 0
    refused = publish(place, "--epsilon", 2, "--mechanism", "laplace-threshold", "-o", "two")
    assert refused.returncode == 3
    assert "budget" in refused.stderr
    assert sorted(os.listdir(place)) == ["l.ledger", "log.tsv", "one"]


def test_a_killed_release_stays_charged_and_leaves_no_directory(place):
    command = [
        sys.executable,
        "-m",
        "aidos",
        "publish",
        "log.tsv",
        "--ledger",
        "l.ledger",
        "--epsilon",
        "2",
        "--yes",
        "-o",
        "one",
    ]
    process = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while '"charged"' not in (place / "l.ledger").read_text() and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=20)
    shown = json.loads(aidos("ledger", "show", "l.ledger", "--json", cwd=place).stdout)
    assert shown["spent"]["epsilon"] == 2
    assert not (place / "one").exists() or (place / "one" / "MANIFEST.json").exists()


def test_a_seed_takes_the_guarantee_away_and_repeats_the_release(place):
    for name in ("one", "two"):
        done = aidos("publish", "log.tsv", "--without-ledger", "--seed", 3, "-o", name, cwd=place)
        assert "No guarantee" in done.stdout
        assert json.loads((place / name / "MANIFEST.json").read_text())["composition"] == []
    assert (place / "one" / "queries.csv").read_text() == (place / "two" / "queries.csv").read_text()
    assert "NO guarantee" in (place / "one" / "README.md").read_text()


def test_the_split_of_time_is_for_the_owner_and_not_in_the_release(place):
    done = publish(place, "--json", "-o", "one")
    seconds = json.loads(done.stdout)["seconds"]
    assert set(seconds) == {"reading", "rehearsing", "bounding and counting", "noise and choosing", "writing"}
    assert all(set(split) == {"wall", "processor"} for split in seconds.values())
    assert "seconds" not in "".join(path.read_text(errors="ignore") for path in (place / "one").iterdir())


def test_next_to_nothing_is_asked_about_before_anything_is_spent(place):
    refused = ask(place, "--people", 230, "--epsilon", 2, "-o", "one")
    assert refused.returncode == 2
    assert "of 230" in refused.stderr
    assert "--yes" in refused.stderr
    assert '"charged"' not in (place / "l.ledger").read_text()
    meant = publish(place, "--people", 230, "--epsilon", 2, "--json", "-o", "one")
    assert meant.returncode == 0
    assert 30 < json.loads(meant.stdout)["outlook"][0]["people_needed"]["half"] < 60


def test_without_a_number_of_people_nothing_is_charged_until_one_says_yes(place):
    asked = ask(place, "--epsilon", 0.01, "-o", "one")
    assert asked.returncode == 2
    assert "passes as often as not with about" in asked.stderr
    assert "people on" in asked.stderr
    assert "--people" in asked.stderr
    assert "--yes" in asked.stderr
    assert '"charged"' not in (place / "l.ledger").read_text()
    assert publish(place, "--epsilon", 0.01, "-o", "one").returncode == 0


@pytest.mark.parametrize(("people", "code"), [(230, 2), (1_000_000, 0)])
def test_the_ledger_may_know_how_many_people_there_are(place, people, code):
    (place / "l.ledger").unlink()
    opening = ("--epsilon", 3, "--delta", 1e-6, "--people", people, "--disjoint", "-o", "known.ledger")
    assert aidos("ledger", "open", "log.tsv", *opening, cwd=place).returncode == 0
    assert aidos("publish", "log.tsv", "--ledger", "known.ledger", "-o", "out", cwd=place).returncode == code
    assert json.loads(aidos("ledger", "show", "known.ledger", "--json", cwd=place).stdout)["people"] == people


def test_nothing_survives_and_the_release_says_why(place):
    done = publish(place, "--epsilon", 0.01, "-o", "empty")
    assert done.returncode == 0
    assert "nothing passed the threshold" in done.stderr
    assert pq.read_metadata(place / "empty" / "queries.parquet").num_rows == 0
    assert "passed the threshold" in (place / "empty" / "report.html").read_text()


def test_any_table_of_persons_and_items_goes_through_the_same_door(tmp_path):
    bought = [(f"c{i}", item) for i in range(PEOPLE) for item in ("bread", "butter")]
    pq.write_table(
        pa.table({"customer": [c for c, _ in bought], "product": [p for _, p in bought]}), tmp_path / "b.parquet"
    )
    opened = aidos(
        "ledger", "open", "b.parquet", "--person", "customer", "--epsilon", 3, "--delta", 1e-6, "-o", "b", cwd=tmp_path
    )
    assert opened.returncode == 0, opened.stderr
    table = ["--person", "customer", "--item", "product", "--sets", 2, "--epsilon", 3]
    done = aidos("publish", "b.parquet", "--ledger", "b", *table, "--yes", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "one person (customer)" in done.stdout
    items = pq.read_table(tmp_path / "out" / "items.parquet").column(0).to_pylist()
    assert set(items) == {"bread", "butter", "bread & butter"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0", "-o", "out"], "epsilon"),
        (["--epsilon", "nan", "-o", "out"], "epsilon"),
        (["--delta", "1", "-o", "out"], "delta"),
        (["--delta", "0.01", "-o", "out"], "--accept-large-delta"),
        (["--items", "quarries", "-o", "out"], "queries"),
        (["--mechanism", "count-gausian", "-o", "out"], "count-gaussian"),
        (["--ledger", "missing.ledger", "-o", "out"], "missing.ledger"),
        (["-o", "log.tsv"], "exists"),
        (["--set", "what", "-o", "out"], "NAME=VALUE"),
        (["--people", "400", "--delta", "0.003", "-o", "out"], "more than one in 400 people"),
        (["--finding", "missing/f.html", "-o", "out"], "f.html"),
        (["--finding", "out/f.html", "-o", "out"], "f.html"),
        (["-o", "missing/out"], "does not exist"),
        (["--mechanism", "log-release", "-o", "out"], "--items"),
        (["--recipe", "r.toml", "--epsilon", "2", "-o", "out"], "recipe"),
        (["--mechanism", "zealous", "--set", "promise=probabilistic", "-o", "out"], "people"),
        ([], "-o"),
    ],
)
def test_wrong_wishes_are_refused_before_anything_is_spent(place, options, words):
    done = publish(place, *options) if "--ledger" not in options else aidos("publish", "log.tsv", *options, cwd=place)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert '"charged"' not in (place / "l.ledger").read_text()
    assert sorted(os.listdir(place)) == ["l.ledger", "log.tsv"]


def test_no_ledger_is_refused_with_the_command_that_opens_one(place):
    done = aidos("publish", "log.tsv", "-o", "out", cwd=place)
    assert done.returncode == 2
    assert "aidos ledger open" in done.stderr


def test_the_ledger_of_other_data_is_refused(place):
    header, *_ = (place / "log.tsv").read_text().splitlines()
    (place / "log.tsv").write_text(f"{header}\nu1\tnew query\t2024-03-02 10:00:00\t\t\n")
    done = publish(place, "-o", "out")
    assert done.returncode == 2
    assert "another data set" in done.stderr


def test_a_plan_spends_nothing_and_writes_a_page(place):
    done = aidos("publish", "log.tsv", "--plan", "--items", "queries", "-o", "plan.html", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    choices = json.loads(done.stdout)["choices"]
    assert {choice["epsilon"] for choice in choices} == {0.5, 1.0, 2.0, 4.0}
    assert "A plan for a release" in (place / "plan.html").read_text()
    assert '"charged"' not in (place / "l.ledger").read_text()


@pytest.mark.parametrize(
    ("options", "files", "words"),
    [
        (["--mechanism", "k-query-anonymity", "--set", "k=5"], {"visits"}, "At least 5 persons"),
        (["--mechanism", "k-session-anonymity"], {"visits"}, "share every released value"),
        (["--mechanism", "k-keyword-anonymity"], {"keywords"}, "share every released value"),
        (
            ["--mechanism", "pool-release", "--set", "pool=pool.txt"],
            {"queries", "clicks", "transitions"},
            "No guarantee",
        ),
        (["--mechanism", "click-counts", "--results", "results.tsv"], {"clicks"}, "No guarantee"),
        (["--mechanism", "zealous"], {"queries"}, "No guarantee"),
        (["--mechanism", "rounds"], {"queries"}, "No guarantee"),
    ],
)
def test_every_mechanism_goes_through_the_same_door(place, options, files, words):
    (place / "pool.txt").write_text("fern\nmoss\nivy\n")
    (place / "results.tsv").write_text("fern\thttps://fern.example\nmoss\thttps://moss.example\n")
    done = aidos("publish", "log.tsv", "--without-ledger", *options, "-o", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    assert words in done.stdout.replace("\n", " ")
    assert {path.stem for path in (place / "out").glob("*.parquet")} == files
    assert aidos("verify", "out", cwd=place).returncode == 0


def test_k_anonymity_is_refused_by_a_ledger(place):
    done = publish(place, "--mechanism", "k-query-anonymity", "-o", "out")
    assert done.returncode == 3
    assert not (place / "out").exists()


def test_a_release_of_rfc4180_files_says_what_its_promise_rests_on(tmp_path):
    rows = [f'p{n},"the same, asked",2024-03-01 10:00:00' for n in range(60)]
    (tmp_path / "log.csv").write_text("client_id,user_query,timestamp\n" + "\n".join(rows) + "\n")
    asked = ("--quotes", "rfc4180", "--without-ledger", "--epsilon", 4, "-o", "out")
    done = aidos("publish", "log.csv", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = [(tmp_path / "out" / name).read_text() for name in ("MANIFEST.json", "README.md", "report.html")]
    assert all("vouches for that" in text for text in (done.stderr, *written))
