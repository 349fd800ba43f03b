"""Releases that aidos wrote, read back: every mechanism, and everything that may be wrong with a directory."""

import json
from collections import Counter
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, ParameterError
from aidos.jobs.recipe import Recipe
from aidos.rooms.publish.jobs.publish import publish_table
from aidos.rooms.publish.manifest import MANIFEST
from aidos.rooms.publish.released import normalised_query, open_released
from aidos.world.size import World
from aidos.world.write import write_sample

WEAK = {"epsilon": 50.0, "delta": 0.01}


@pytest.fixture(scope="module")
def log_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("world") / "log.parquet"
    write_sample("log", World(size="tiny"), path)
    return path


@pytest.fixture
def publish(log_path, tmp_path):
    """Make a real release of the sample world's log."""

    def make(**recipe):
        with EmbeddedEngine() as engine:
            table, target = engine.parquet(log_path), tmp_path / "release"
            publish_table(Recipe(**recipe), table, target, ledger=None, noise=Noise(5), facts=PublicFacts())
        return target

    return make


def test_kinds_of_a_release_come_back_with_their_noisy_counts(publish):
    directory = publish(items=("keywords", "queries", "clicks", "pairs"), parameters=WEAK)
    released = open_released(directory)
    assert released.has_counts
    assert "No guarantee" in released.statement
    for kind, columns in {
        "keywords": ["keyword"],
        "queries": ["user_query"],
        "clicks": ["user_query", "object_id"],
        "pairs": ["user_query", "next_query"],
    }.items():
        written = pq.read_table(directory / f"{kind}.parquet").rename_columns([*columns, "count"])
        assert len(written) > 0
        assert sorted(map(str, released.require(kind).to_pylist())) == sorted(map(str, written.to_pylist()))


def test_items_without_counts_weigh_the_same(publish):
    released = open_released(publish(mechanism="rounds", items=("queries",), parameters=WEAK))
    assert not released.has_counts
    assert set(released.require("queries").column("count").to_pylist()) == {1}


def test_transitions_of_a_pool_release_are_pairs_and_counts_below_one_are_left_out(publish):
    weak = {"variant": "as-published", "query_threshold": 5, "query_scale": 3.0, "click_scale": 3.0}
    directory = publish(mechanism="pool-release", items=(), parameters=weak)
    released = open_released(directory)
    for kind, file in {"queries": "queries", "clicks": "clicks", "pairs": "transitions"}.items():
        written = pq.read_table(directory / f"{file}.parquet")
        kept = [count for count in written.column("count").to_pylist() if count > 0]
        assert released.require(kind).column("count").to_pylist() == sorted(kept, reverse=True)
    assert min(pq.read_table(directory / "transitions.parquet").column("count").to_pylist()) <= 0
    assert released.keywords is None


def test_a_log_without_names_gives_queries_pairs_and_keywords_by_occurrence(publish):
    directory = publish(mechanism="k-query-anonymity", items=(), parameters={"k": 5})
    rows = sorted(pq.read_table(directory / "visits.parquet").to_pylist(), key=lambda row: (row["visit"], row["place"]))
    queries = Counter(row["user_query"] for row in rows)
    following = [
        (one["user_query"], two["user_query"])
        for one, two in pairwise(rows)
        if one["visit"] == two["visit"] and one["user_query"] != two["user_query"]
    ]
    words = Counter(word for row in rows for word in row["user_query"].split())
    released = open_released(directory)
    assert {row["user_query"]: row["count"] for row in released.require("queries").to_pylist()} == queries
    pairs = {(row["user_query"], row["next_query"]): row["count"] for row in released.require("pairs").to_pylist()}
    assert pairs == Counter(following)
    assert {row["keyword"]: row["count"] for row in released.require("keywords").to_pylist()} == words
    with pytest.raises(InputError, match="has no clicks") as refused:
        released.require("clicks")
    assert "--items" in refused.value.hint


@pytest.mark.parametrize("mechanism", ["k-session-anonymity", "k-keyword-anonymity"])
def test_anonymous_keywords_are_counted(publish, mechanism):
    released = open_released(publish(mechanism=mechanism, items=(), parameters={"k": 5}))
    assert list(released.kinds()) == ["keywords"]
    assert min(released.require("keywords").column("count").to_pylist()) >= 1


def test_missing_kinds_say_how_to_publish_them(publish):
    released = open_released(publish(items=("queries",), parameters=WEAK))
    with pytest.raises(InputError, match="has no pairs: it has queries") as refused:
        released.require("pairs")
    assert "--items queries,pairs" in refused.value.hint


def test_an_empty_release_is_refused(publish):
    with pytest.raises(InputError, match="empty release"):
        open_released(publish(items=("queries",), parameters={"epsilon": 0.01}))


def test_a_kind_of_which_nothing_passed_is_refused_when_it_is_needed(publish):
    shares = {"shares": (0.999, 0.001)}
    released = open_released(publish(items=("keywords", "pairs"), parameters={"epsilon": 5.0}, **shares))
    assert len(released.require("keywords"))
    with pytest.raises(InputError, match="none passed"):
        released.require("pairs")


def test_a_release_of_no_log_is_refused(publish):
    other = {"person": "client_id", "columns": ("object_id",), "items": ()}
    with pytest.raises(InputError, match="no release of a search log"):
        open_released(publish(**other, parameters=WEAK))


def test_damage_is_refused_before_anything_is_read(publish):
    directory = publish(items=("queries",), parameters=WEAK)
    content = (directory / "queries.parquet").read_bytes()
    (directory / "queries.parquet").write_bytes(content[:-9] + b"x" + content[-8:])
    with pytest.raises(InputError, match=r"damaged: queries\.parquet was changed"):
        open_released(directory)
    (directory / "queries.parquet").unlink()
    with pytest.raises(InputError, match=r"queries\.parquet is missing"):
        open_released(directory)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"aidos": "9.0.0"}, "another version of aidos: 9.0.0"),
        ({"aidos": None}, "does not say which version"),
        ({"files": {"queries.parquet": 3}}, "damaged manifest"),
        ({"files": 3}, "lists no files"),
    ],
)
def test_other_versions_and_damaged_manifests_are_refused(publish, changes, words):
    directory = publish(items=("queries",), parameters=WEAK)
    manifest = json.loads((directory / MANIFEST).read_text())
    (directory / MANIFEST).write_text(json.dumps(manifest | changes))
    with pytest.raises(InputError, match=words):
        open_released(directory)


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(InputError, match="no release"):
        open_released(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no release"):
        open_released(tmp_path)


def test_a_query_is_normalised_as_those_of_a_release():
    assert normalised_query("  Fern\tin  ＰＯＴＳ\x07 ") == "fern in pots"  # noqa: RUF001
    with pytest.raises(ParameterError, match="blank"):
        normalised_query(" \t")
