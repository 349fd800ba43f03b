"""`aidos suggest` as its user runs it: on releases that aidos made."""

import json

import pytest

from aidos.rooms.publish.manifest import MANIFEST
from aidos.surfaces.cli import run

SESSIONS = {
    "moss care": ("fern care", 300),
    "moss pots": ("fern pots", 200),
    "oak": ("elm", 250),
    "rain": ("weather", 250),
}
"""A query, what the same person asked next, and how many people did so."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A log of a thousand people with two queries each, and a rare one."""
    directory = tmp_path_factory.mktemp("suggest")
    visits = [(first, following) for first, (following, people) in SESSIONS.items() for _ in range(people)]
    rows = [
        (person, f"2024-03-01 10:0{minute}:00", query)
        for person, visit in enumerate([*visits, ("oak", "my own secret")])
        for minute, query in enumerate(visit)
    ]
    lines = [f"{who}\t{query}\t{at}\t\t\n" for who, at, query in rows]
    (directory / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
    return directory


def publish(place, name, *options):
    target = place / name
    if not target.exists():
        options = (*map(str, options), "--without-ledger", "--quiet", "--seed", "3")
        assert run(["publish", str(place / "log.tsv"), *options, "-o", str(target)]) == 0
    return target


@pytest.fixture(scope="module")
def released(place):
    return publish(place, "release", "--items", "queries,pairs", "--epsilon", 4, "--items-per-person", 2)


def asked(capsys, *arguments):
    capsys.readouterr()
    code = run(["suggest", *map(str, arguments)])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_suggestions_of_a_release_are_shown_best_first(released, capsys):
    code, out, err = asked(capsys, released, "moss pots")
    assert (code, err) == (0, "")
    assert "fern pots" in out
    assert "moss by fern" in out
    assert "secret" not in out


def test_the_query_is_normalised_as_those_of_the_release_are(released, capsys):
    code, out, _ = asked(capsys, released, "  Tall MOSS ", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["query"], told["phrases"]) == ("tall moss", ["tall", "moss"])
    assert [(each["query"], each["replaced"], each["by"]) for each in told["suggestions"]] == [
        ("tall fern", "moss", "fern")
    ]
    assert told["suggestions"][0]["score"] > 100
    assert told["statement"]


def test_at_most_so_many_are_shown(released, capsys):
    _, out, _ = asked(capsys, released, "moss oak", "--json", "--most", 1)
    assert len(json.loads(out)["suggestions"]) == 1


def test_pairs_alone_suffice(place, capsys):
    released = publish(place, "pairs", "--items", "pairs", "--epsilon", 4)
    assert [each["query"] for each in json.loads(asked(capsys, released, "oak", "--json")[1])["suggestions"]] == ["elm"]


def test_a_log_without_names_serves_too(place, capsys):
    released = publish(place, "anonymous", "--mechanism", "k-query-anonymity")
    assert [each["query"] for each in json.loads(asked(capsys, released, "oak", "--json")[1])["suggestions"]] == ["elm"]


def test_where_the_ratio_is_too_high_the_one_that_would_do_is_told(released, capsys):
    code, out, err = asked(capsys, released, "oak", "--least-ratio", 1e6)
    assert code == 0
    assert "no suggestions" in out
    least = err.split("--least-ratio ")[1].split()[0]
    assert "elm" in asked(capsys, released, "oak", "--least-ratio", least)[1]


def test_an_unknown_query_is_told_so(released, capsys):
    code, out, err = asked(capsys, released, "somersault")
    assert code == 0
    assert "no suggestions" in out
    assert "no pair with this query" in err


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("queries", "--items", "queries"), "has no pairs", "--items queries,pairs"),
        (("sets", "--items", "pairs", "--mechanism", "rounds", "--epsilon", "4"), "not how frequent", "--items"),
    ],
)
def test_a_release_that_cannot_serve_says_what_to_publish(place, capsys, options, message, hint):
    code, out, err = asked(capsys, publish(place, *options), "oak")
    assert (code, out) == (2, "")
    assert message in err
    assert hint in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("oak", "--most", "0"), "--most must be at least 1"),
        (("oak", "--least-ratio", "-1"), "--least-ratio must be at least 0"),
        (("  ",), "blank"),
    ],
)
def test_wrong_options_are_refused_in_words(released, capsys, arguments, message):
    code, out, err = asked(capsys, released, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_what_is_no_release_is_refused(tmp_path, capsys):
    code, _, err = asked(capsys, tmp_path, "oak")
    assert code == 2
    assert MANIFEST in err
    assert "hint:" in err
