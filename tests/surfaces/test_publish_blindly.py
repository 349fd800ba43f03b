"""Whether a release fails, what it says and what it charges is the same for logs that differ by one person."""

import contextlib
import io
import json
import re

import pytest

from aidos.account.witness import registry_in
from aidos.surfaces.cli import run

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
PROBABILISTIC = """
mechanism = "zealous"
items = ["queries"]
[parameters]
promise = "probabilistic"
people = 20
delta = 1e-6
"""


def aidos(*arguments):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = run([*map(str, arguments)])
    return code, said.getvalue(), complained.getvalue()


def published(place, people, options, neighbours="add-or-remove-one"):
    """What one release of a log of so many people, who have nothing in common, shows to whoever watches."""
    place.mkdir()
    lines = "".join(f"u{n}\tquery {n}\t2024-03-01 10:00:00\t1\thttps://{n}.example\n" for n in range(people))
    with contextlib.chdir(place), registry_in(place.with_name(f"registry of {place.name}")):
        (place / "log.tsv").write_text(HEADER + lines)
        (place / "recipe.toml").write_text(PROBABILISTIC)
        (place / "pool.txt").write_text("query 0\nquery 1\n")
        limits = ["--epsilon", 4, "--delta", 0.1, "--neighbours", neighbours]
        assert aidos("ledger", "open", "log.tsv", *limits, "-o", "l.ledger")[0] == 0
        spoken = aidos("publish", "log.tsv", "--ledger", "l.ledger", "--yes", *options, "-o", "out")
        charges = json.loads(aidos("ledger", "show", "l.ledger", "--json")[1])["charges"]
        files = sorted(path.name for path in place.glob("*/*"))
    for charge in charges:
        del charge["time"]
    return spoken, charges, files


@pytest.mark.parametrize("options", [[], ["--people", 1000], ["--accept-large-delta"], ["--people", 900]])
def test_a_thousand_people_or_one_more(tmp_path, options):
    asked = ["--delta", 1e-3, *options]
    few, more = (published(tmp_path / f"{people}", people, asked) for people in (1000, 1001))
    assert few == more
    assert few[0][0] == (0 if options else 2)


@pytest.mark.parametrize(
    "options",
    [["--recipe", "recipe.toml"], ["--mechanism", "zealous", "--set", "promise=probabilistic", "--people", 20]],
)
def test_as_many_people_as_the_promise_was_computed_for_or_one_more(tmp_path, options):
    few, more = (published(tmp_path / f"{people}", people, options, "replace-one") for people in (20, 21))
    assert few == more
    assert few[0][0] == 0
    assert "21" not in "".join(more[0][1:])


@pytest.mark.parametrize(
    "options",
    [
        ["--items", "queries,clicks,pairs,keywords"],
        ["--mechanism", "policy-gaussian"],
        ["--mechanism", "pool-release", "--set", "variant=thresholded"],
        ["--mechanism", "pool-release", "--set", "pool=pool.txt"],
    ],
)
def test_nobody_one_person_or_two(tmp_path, options):
    nobody, one, two = (published(tmp_path / f"{people}", people, options) for people in range(3))
    assert nobody == one == two
    assert one[0][0] == 0
    assert [charge["outcome"] for charge in one[1]] == ["published"]


def test_nobody_or_somebody_in_a_table(tmp_path):
    seen = []
    for people in range(3):
        place = tmp_path / str(people)
        place.mkdir()
        with contextlib.chdir(place):
            (place / "t.csv").write_text("who,what\n" + "".join(f"p{n},thing {n}\n" for n in range(people)))
            options = ["--person", "who", "--item", "what", "--sets", 3, "--without-ledger", "-o", "out"]
            seen.append(aidos("publish", "t.csv", *options))
            manifest = re.sub(r'"sha256": "\w+"', "", (place / "out" / "MANIFEST.json").read_text())
            seen[-1] += (manifest,)
    assert seen[0] == seen[1] == seen[2]
