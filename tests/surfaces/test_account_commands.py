"""`aidos calibrate`, `aidos ledger` and `aidos explain`, run in this process as the command line runs them."""

import json

import pytest

from aidos.account.ledgerfile import FileLedger, fingerprint_files
from aidos.app.cli import run
from aidos.core.guarantee import ApproxDP


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
        (("truncated-geometric", "--from-noise", 3), "no noise"),
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
    ledger = FileLedger(tmp_path / path, fingerprint=fingerprint_files([log]))
    ledger.settle(ledger.book(ApproxDP(epsilon=0.25, delta=1e-7), about="queries"), "published")

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
        ((), "open, show or close"),
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
