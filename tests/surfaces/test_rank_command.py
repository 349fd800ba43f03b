"""`aidos rank` as its user runs it."""

import json
import subprocess
import sys

import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.jobs.recipe import Recipe
from aidos.rooms.publish.jobs.publish import publish_table
from aidos.rooms.publish.released import open_released
from aidos.surfaces.cli import run
from aidos.world.size import World
from aidos.world.write import write_sample
from oracles.clickgraph import PlainGraph


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Releases of the sample world's log, by name."""
    place = tmp_path_factory.mktemp("releases")
    write_sample("log", World(size="tiny"), place / "log.parquet")
    weak = {"epsilon": 50.0, "delta": 0.01}
    recipes = {
        "release": Recipe(items=("queries", "clicks", "pairs"), parameters=weak),
        "queries": Recipe(items=("queries",), parameters=weak),
        "unweighted": Recipe(mechanism="weighted-gaussian", items=("clicks",), parameters=weak),
    }
    with EmbeddedEngine() as engine:
        table = engine.parquet(place / "log.parquet")
        for name, recipe in recipes.items():
            publish_table(recipe, table, place / name, ledger=None, noise=Noise(5), facts=PublicFacts())
    return place


@pytest.fixture
def walked(releases):
    """The release's first click, and the walk from its query, node by node."""
    released = open_released(releases / "release")
    rows = [[tuple(row.values()) for row in released.require(kind).to_pylist()] for kind in ("clicks", "pairs")]
    query = rows[0][0][0]
    return query, PlainGraph(*rows).walk(query)


def test_addresses_come_by_the_walk_on_released_counts(releases, walked):
    query, expected = walked
    command = [sys.executable, "-m", "aidos", "rank", str(releases / "release"), query, "--json", "--most", "100"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["known"]
    assert "No guarantee" in told["statement"]
    assert {each["address"]: each["score"] for each in told["addresses"]} == pytest.approx(expected)
    scores = [each["score"] for each in told["addresses"]]
    assert scores == sorted(scores, reverse=True)


def test_the_query_is_normalised_and_the_best_comes_first(releases, walked, capsys):
    query, expected = walked
    assert run(["rank", str(releases / "release"), f"  {query.upper()} ", "--most", "1"]) == 0
    shown = capsys.readouterr().out
    assert max(expected, key=expected.get) in shown
    assert len(shown.strip().splitlines()) == 2


def test_an_unknown_query_is_told_with_near_ones(releases, walked, capsys):
    query, _ = walked
    assert run(["rank", str(releases / "release"), query + "x"]) == 0
    told = capsys.readouterr()
    assert "no addresses" in told.out
    assert query in told.err
    assert run(["rank", str(releases / "release"), query + "x", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["known"], answer["addresses"]) == (False, [])


def test_a_release_without_counts_ranks_and_says_so(releases, capsys):
    query = open_released(releases / "unweighted").require("clicks").column("user_query")[0].as_py()
    assert run(["rank", str(releases / "unweighted"), query]) == 0
    assert "no counts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("release", "options", "words"),
    [
        ("queries", ["fern"], "--items queries,clicks"),
        ("nowhere", ["fern"], "no release"),
        ("release", ["  "], "blank"),
        ("release", ["fern", "--most", "0"], "--most"),
        ("release", ["fern", "--steps", "0"], "--steps"),
        ("release", [], "aidos rank --help"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(releases, capsys, release, options, words):
    assert run(["rank", str(releases / release), *options]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "hint:" in told
