"""`aidos calibrate`, `aidos ledger` and `aidos explain`, run in this process as the command line runs them."""

import gzip
import json
import os
from pathlib import Path

import pytest

from aidos.account.ledger import FileLedger
from aidos.core.guarantee import ApproxDP
from aidos.surfaces.cli import run


@pytest.fixture
def aidos(capsys):
    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def answer(aidos, *arguments):
    code, out, err = aidos(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


TABLE_2_REQUEST = ("--epsilon", 1, "--delta", 0.001, "--people", 500000, "--items-per-person", 2)


def test_zealous_is_calibrated_as_in_the_paper(aidos):
    found = answer(aidos, "calibrate", "zealous", *TABLE_2_REQUEST)
    assert (found["lambda"], found["tau"], found["tau_prime_discrete"]) == (4, 4, 79)
    assert round(found["tau_prime"], 4) == 78.5753
    assert "replacing all the data of one person" in found["statement"]
    for first, second in {1: 81.1205, 3: 78.7260, 5: 78.6827, 7: 79.3368, 9: 80.3316}.items():
        found = answer(aidos, "calibrate", "zealous", *TABLE_2_REQUEST, "--first-threshold", first)
        assert round(found["tau_prime"], 4) == second
    _, shown, _ = aidos("calibrate", "zealous", *TABLE_2_REQUEST)
    assert "78.5753" in shown


def test_zealous_goes_back_from_noise_to_table_1(aidos):
    given = ("calibrate", "zealous", "--from-noise", 5, "--threshold", 100, "--items-per-person", 5)
    found = answer(aidos, *given, "--first-threshold", 1, "--people", 500000)
    assert found["epsilon"] == 2
    assert found["delta_continuous"] == pytest.approx(3.15e-3, rel=1e-2)
    assert found["delta"] < found["delta_continuous"]
    found = answer(aidos, *given, "--promise", "indistinguishable")
    assert found["delta_as_published"] == pytest.approx(1.4e-8, rel=1e-2)
    assert found["delta"] < found["delta_continuous"] < found["delta_as_published"]


@pytest.mark.parametrize(
    ("mechanism", "noise"),
    [("count-gaussian", "sigma"), ("laplace-threshold", "lambda"), ("weighted-gaussian", "sigma")],
)
def test_other_mechanisms_go_there_and_back(aidos, mechanism, noise):
    there = answer(aidos, "calibrate", mechanism, "--epsilon", 2, "--delta", 1e-6, "--items-per-person", 4)
    back = answer(
        aidos, "calibrate", mechanism, "--from-noise", there[noise], "--threshold", there["threshold"],
        "--delta", 1e-6, "--items-per-person", 4,
    )  # fmt: skip
    assert 1.5 < back["epsilon"] <= 2 + 1e-9
    assert back["delta"] <= 1e-6


def test_truncated_geometric_tells_how_many_people_an_item_needs(aidos):
    found = answer(aidos, "calibrate", "truncated-geometric", "--epsilon", 1, "--delta", 1e-6)
    assert 0 < found["people_for_one_half"] < found["people_for_certainty"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("zealous", "--epsilon", 1, "--delta", 1e-3), "--people"),
        (("count-gaussian", "--epsilon", 1), "--delta is missing"),
        (("count-gaussian", "--epsilon", "nan", "--delta", 1e-6), "epsilon"),
        (("count-gaussian", "--epsilon", 1, "--delta", 1), "delta"),
        (("truncated-geometric", "--from-noise", 3), "no single noise"),
        (
            ("zealous", "--promise", "indistinguishable", "--first-threshold", 3, "--epsilon", 1, "--delta", 1e-3),
            "is 1",
        ),
        (("nothing", "--epsilon", 1), "nothing"),
    ],
)
def test_impossible_calibrations_exit_with_2_and_say_why(aidos, arguments, words):
    code, out, err = aidos("calibrate", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "hint:" in err or "delta" in err or "epsilon" in err


def test_a_ledger_is_opened_shown_and_closed(aidos, tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("17\tfern care\n")
    code, out, err = aidos("ledger", "open", log, "--epsilon", 1, "--delta", 1e-6, "-o", tmp_path)
    assert code == 0
    path = out.strip()
    assert "epsilon = 1" in err
    ledger = FileLedger(tmp_path / path)
    ledger.settle(ledger.book(ApproxDP(epsilon=0.25, delta=1e-7), about="queries").number, "published")

    found = answer(aidos, "ledger", "show", path)
    assert found["spent"] == {"epsilon": 0.25, "delta": 1e-7}
    assert found["left"]["epsilon"] == 0.75
    assert found["charges"][0]["outcome"] == "published"
    _, shown, _ = aidos("ledger", "show", path)
    for words in ("queries", "0.25", "0.75", "published", "add-or-remove-one"):
        assert words in shown

    assert aidos("ledger", "close", path)[0] == 0
    assert answer(aidos, "ledger", "show", path)["closed"] is True


def test_the_key_of_a_ledger_is_never_shown(aidos, tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("x")
    opened = answer(aidos, "ledger", "open", log, "--epsilon", 1, "--delta", 0, "-o", tmp_path / "x.ledger")
    key = json.loads((tmp_path / "x.ledger").read_text())["key"]
    for shown in (json.dumps(opened), *aidos("ledger", "show", tmp_path / "x.ledger")[1:]):
        assert key not in shown


HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
OPENED = ("--epsilon", 3, "--delta", 1e-5)


def write_log(path, people, query="fern"):
    rows = [f"u{n}\t{query} {n % 7}\t2024-03-01 10:00:{n % 60:02}\t\t\n" for n in people]
    path.write_text(HEADER + "".join(rows))
    return path


def test_a_source_is_known_by_lines_and_by_people(aidos, tmp_path):
    log = write_log(tmp_path / "log.tsv", range(60))
    packed = tmp_path / "copy.txt.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    first = tmp_path / "l.ledger"
    assert answer(aidos, "ledger", "open", log, *OPENED, "--source", "searches", "-o", first)["source"] == "searches"
    grown = write_log(tmp_path / "grown.tsv", range(61))
    for again in (packed, grown):
        code, _, err = aidos("ledger", "open", again, *OPENED, "-o", tmp_path / "second")
        assert code == 2
        assert f"a ledger already: {first}" in err
    other = write_log(tmp_path / "next.tsv", range(30, 90), query="moss")
    code, _, err = aidos("ledger", "open", other, *OPENED, "-o", tmp_path / "second")
    assert code == 2
    assert "50% of the people" in err
    assert "ledger extend" in err
    declared = answer(aidos, "ledger", "open", other, *OPENED, "--disjoint", "-o", tmp_path / "second")
    assert declared["declared_disjoint"] == [answer(aidos, "ledger", "show", first)["id"]]
    assert "declared disjoint" in aidos("ledger", "show", tmp_path / "second")[1]


def test_a_later_state_is_declared(aidos, tmp_path):
    log = write_log(tmp_path / "log.tsv", range(60))
    answer(aidos, "ledger", "open", log, *OPENED, "-o", tmp_path / "l")
    later = write_log(tmp_path / "april.tsv", range(60), query="moss")
    publish = ("publish", later, "--epsilon", 1, "--delta", 1e-6, "--ledger", tmp_path / "l", "--yes")
    code, _, err = aidos(*publish, "-o", tmp_path / "out")
    assert code == 2
    assert "another data set (log)" in err
    assert answer(aidos, "ledger", "extend", tmp_path / "l", later)["new"] is True
    assert "knows these data" in aidos("ledger", "extend", tmp_path / "l", later)[2]
    assert aidos(*publish, "-o", tmp_path / "out")[0] == 0


def test_people_that_cannot_be_read_are_said(aidos, tmp_path):
    (tmp_path / "t.csv").write_text("who,what\n1,a\n")
    code, _, err = aidos("ledger", "open", tmp_path / "t.csv", *OPENED, "--person", "whom", "-o", tmp_path / "l")
    assert code == 0
    assert "people were not compared" in err


def test_a_ledger_is_compared_with_witnesses_and_releases(aidos, tmp_path):
    log, path = write_log(tmp_path / "log.tsv", range(60)), tmp_path / "l"
    (tmp_path / "disk").mkdir()
    answer(aidos, "ledger", "open", log, *OPENED, "--witness", tmp_path / "disk", "-o", path)
    copies, release = [], ("publish", log, "--epsilon", 0.5, "--delta", 1e-6, "--ledger", path, "--yes")
    for name in ("one", "two"):
        assert aidos(*release, "-o", tmp_path / name)[0] == 0
        copies.append(path.read_bytes())
    releases = [tmp_path / name for name in ("one", "two")]
    code, out, _ = aidos("ledger", "verify", path, *releases)
    assert code == 0
    assert "is charged in line 2" in " ".join(out.split())
    assert len(answer(aidos, "ledger", "verify", path)["witnesses"]) == 2
    manifest = json.loads((tmp_path / "two" / "MANIFEST.json").read_text())
    assert set(manifest["ledger"]) == {"id", "line", "head"}

    path.write_bytes(copies[0])
    for refused in (("ledger", "verify", path), (*release, "-o", tmp_path / "three")):
        code, _, err = aidos(*refused)
        assert code == 2
        assert "older copy" in err
    code, _, err = aidos("ledger", "show", path)
    assert code == 0
    assert "older copy" in err
    # Both witnesses went back with the ledger: the release shows it.
    for place in (tmp_path / "disk", Path(os.environ["AIDOS_REGISTRY"])):
        for witness in place.glob("*.witness"):
            line = json.loads(path.read_text().splitlines()[-1])
            kept = {**json.loads(witness.read_text()), "line": line["line"], "head": line["chain"]}
            witness.write_text(json.dumps(kept))
    code, out, _ = aidos("ledger", "verify", path, *releases)
    assert code == 1
    assert "two: was charged in line 4, which this copy does not have" in " ".join(out.split())
    write_log(tmp_path / "other.tsv", range(100, 160), query="ivy")
    answer(aidos, "ledger", "open", tmp_path / "other.tsv", *OPENED, "-o", tmp_path / "m")
    assert "another ledger" in " ".join(aidos("ledger", "verify", tmp_path / "m", tmp_path / "one")[1].split())
    uncharged = {**json.loads((tmp_path / "one" / "MANIFEST.json").read_text()), "ledger": None}
    (tmp_path / "one" / "MANIFEST.json").write_text(json.dumps(uncharged))
    assert "names no line" in " ".join(aidos("ledger", "verify", path, tmp_path / "one")[1].split())


def test_a_release_that_promises_something_else_than_was_charged_is_found(aidos, tmp_path):
    log, path = write_log(tmp_path / "log.tsv", range(60)), tmp_path / "l"
    answer(aidos, "ledger", "open", log, *OPENED, "-o", path)
    release = ("publish", log, "--delta", 1e-6, "--ledger", path, "--yes")
    for name, more in (("dear", (0.5,)), ("cheap", (0.2,)), ("seeded", (0.3, "--seed", 1))):
        assert aidos(*release, "-o", tmp_path / name, "--epsilon", *more)[0] == 0
    verify = ("ledger", "verify", path, *(tmp_path / name for name in ("dear", "cheap", "seeded")))
    assert aidos(*verify)[0] == 0
    manifests = [json.loads((tmp_path / name / "MANIFEST.json").read_text()) for name in ("dear", "cheap")]
    forged = tmp_path / "cheap" / "MANIFEST.json"
    forged.write_text(json.dumps({**manifests[1], "ledger": manifests[0]["ledger"]}))
    assert aidos("verify", tmp_path / "cheap")[0] == 0  # it follows from its recipe, which is not the one that was run
    code, out, _ = aidos(*verify)
    assert code == 1
    assert "cheap: promises something else than line 2 was charged for" in " ".join(out.split())


def test_the_table_says_what_fits_next(aidos, tmp_path):
    log, path = write_log(tmp_path / "log.tsv", range(60)), tmp_path / "l"
    answer(aidos, "ledger", "open", log, "--epsilon", 2, "--delta", 1e-5, "-o", path)
    ledger = FileLedger(path)
    for words in ("another release like the last", "about epsilon = ", "none like the last"):
        ledger.book(ApproxDP(epsilon=0.8, delta=1e-6) if "none" not in words else ApproxDP(epsilon=0.4, delta=1e-6))
        assert words in aidos("ledger", "show", path)[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "{tmp}/none"), "there is no ledger"),
        (("show", "{tmp}/log.tsv"), "no ledger"),
        (("show", "{tmp}"), "no file"),
        (("open", "{tmp}/none.tsv", "--epsilon", "1", "--delta", "0", "-o", "{tmp}"), "cannot be read"),
        (("open", "{tmp}/log.tsv", "--epsilon", "0", "--delta", "0", "-o", "{tmp}"), "epsilon"),
        (("open", "{tmp}/log.tsv", "--epsilon", "1", "--delta", "0", "-o", "{tmp}/no/such"), "does not exist"),
        (("open", "{tmp}/log.tsv", "--epsilon", "1", "--delta", "0", "-o", "{tmp}/log.tsv"), "exists"),
        ((), "open, show, extend, verify or close"),
        (("burn",), "burn"),
    ],
)
def test_mistakes_with_ledgers_exit_with_2(aidos, tmp_path, arguments, words):
    (tmp_path / "log.tsv").write_text("17\tsecret-query\n")
    code, _, err = aidos("ledger", *(argument.format(tmp=tmp_path) for argument in arguments))
    assert code == 2
    assert words in err
    assert "secret-query" not in err
    assert (tmp_path / "log.tsv").read_text() == "17\tsecret-query\n"


IMPOSSIBILITY = ("--people", 1_000_000, "--items-per-person", 10, "--epsilon", 1, "--threshold", 50)


def test_the_impossibility_is_explained_with_the_papers_numbers(aidos):
    found = answer(aidos, "explain", "impossibility", *IMPOSSIBILITY, "--domain", "5.3e35")
    assert found["nothing_is_better"] is True
    assert found["printed"]["domain_that_suffices"] == pytest.approx(8.81e11, rel=1e-2)
    assert found["proven"]["domain_that_suffices"] == pytest.approx(2.07e29, rel=1e-2)
    _, shown, _ = aidos("explain", "impossibility", *IMPOSSIBILITY, "--domain", "5.3e35")
    assert "publishing nothing has fewer errors" in shown
    _, shown, _ = aidos("explain", "impossibility", *IMPOSSIBILITY, "--domain", "1e6")
    assert "does not rule it out" in shown
    assert aidos("explain")[0] == 2
