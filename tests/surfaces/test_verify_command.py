"""`aidos verify` computes the promise again: a manifest cannot say more than its recipe, noise and ledger give."""

import contextlib
import hashlib
import io
import json

import pytest

from aidos.surfaces.cli import run


def aidos(*arguments):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*map(str, arguments)])
    return code, said.getvalue(), complained.getvalue()


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A charged release, one with a seed, one without a ledger, of the same log."""
    place = tmp_path_factory.mktemp("releases")
    lines = [f"u{n}\t{query}\t2024-03-01 10:00:00\t1\thttps://a.example\n" for n in range(300) for query in ("a", "b")]
    with contextlib.chdir(place):
        (place / "log.tsv").write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(lines))
        assert aidos("ledger", "open", "log.tsv", "--epsilon", 9, "--delta", 1e-4, "-o", "l")[0] == 0
        asked = ["--items", "queries,clicks", "--people", 300, "--yes"]
        for name, terms in {
            "charged": ["--ledger", "l"],
            "seeded": ["--ledger", "l", "--seed", 1],
            "free": ["--without-ledger"],
        }.items():
            code, _, complained = aidos("publish", "log.tsv", *asked, *terms, "-o", name)
            assert code == 0, complained
    return place


@pytest.fixture
def release(releases, tmp_path):
    """A copy of a release whose manifest is edited, and its hashes with it."""

    def edited(name, change=lambda manifest: None, letter=None):
        copy = tmp_path / "copy"
        copy.mkdir()
        for path in (releases / name).iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        manifest = json.loads((copy / "MANIFEST.json").read_text())
        change(manifest)
        if letter is not None:
            (copy / "README.md").write_text(letter)
            manifest["files"]["README.md"]["sha256"] = hashlib.sha256(letter.encode()).hexdigest()
        (copy / "MANIFEST.json").write_text(json.dumps(manifest))
        return copy

    return edited


@pytest.mark.parametrize(
    ("name", "words"), [("charged", "epsilon = 1"), ("seeded", "came from a seed"), ("free", "no ledger was charged")]
)
def test_a_release_is_told_what_it_promises(releases, name, words):
    code, said, _ = aidos("verify", releases / name)
    assert code == 0
    assert words in said.replace("\n", " ")


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(manifest):
        inner = manifest
        for key in keys:
            inner = inner[key]
        inner[last] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "word"),
    [
        ("charged", put("guarantee", "epsilon", 0.01), "guarantee"),
        ("charged", put("guarantee", "kind", "PureDP"), "guarantee"),
        ("charged", put("guarantee", "neighbours", "replace-one"), "guarantee"),
        ("charged", put("statement", "Nobody can learn anything."), "statement"),
        ("charged", put("composition", 0, "guarantee", "epsilon", 0.001), "composition"),
        ("charged", put("composition", []), "composition"),
        ("charged", put("calibration", "queries_threshold", 1000.0), "calibration"),
        ("charged", put("calibration", "more", 1), "calibration"),
        ("charged", put("ledger", None), "guarantee"),
        ("charged", put("noise", "seed 7, repeatable"), "guarantee"),
        ("seeded", put("noise", "operating system"), "guarantee"),
        ("free", put("ledger", {"line": 2}), "guarantee"),
        ("charged", put("recipe", 'mechanism = "count-gaussian"\n[parameters]\nepsilon = 0.5\n'), "guarantee"),
        ("charged", put("recipe", "nonsense ="), "computed again"),
        ("charged", put("recipe", 'mechanism = "unheard-of"\n'), "computed again"),
        ("charged", put("recipe", 'mechanism = "rounds"\n[parameters]\nepsilon = 1e308\n'), "computed again"),
        ("charged", put("facts", "people", "many"), "computed again"),
        ("charged", put("aidos", "0.0.1"), "another version"),
        ("charged", lambda manifest: manifest.pop("facts"), "another version"),
    ],
)
def test_a_manifest_that_says_otherwise_is_refused(release, name, change, word):
    code, said, complained = aidos("verify", release(name, change), "--json")
    answer = json.loads(said)
    assert code == 1, complained
    assert answer["whole"] is False
    assert answer["statement"] is None
    assert any(word in difference for difference in answer["differences"])


def test_a_letter_that_promises_something_else_is_refused(release):
    code, said, _ = aidos("verify", release("charged", letter="# Everybody is safe\n"))
    assert code == 1
    assert "README.md does not say" in said


def test_a_release_that_promises_what_it_did_not_earn_is_not_used(release):
    code, _, complained = aidos("suggest", release("free", put("statement", "Nobody can learn anything.")), "a")
    assert code == 2
    assert "statement" in complained
