"""How much disk a computation takes is known before it begins, and too much is refused."""

import random
from collections import namedtuple
from contextlib import contextmanager

import pyarrow as pa
import pytest
from made_posts import as_table, compute_posts, made_post

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import EngineError, InputError, ParameterError
from aidos.rooms.exposure.queries import estimate as estimating
from aidos.rooms.exposure.queries.changes import add
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.estimate import Room
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.surfaces.cli import run

Kind = namedtuple("Kind", "posts words vocabulary settings")
KINDS = {
    "short posts": Kind(6000, 12, 20_000, SearchExposure()),
    "middling posts": Kind(400, 100, 20_000, SearchExposure()),
    "long posts": Kind(5, 1100, 20_000, SearchExposure(longest_post=10_000)),
    "both words": Kind(1000, 60, 20_000, SearchExposure(semantics="and")),
}


def written(kind):
    """Posts in which frequent words are frequent."""
    draw = random.Random(7)
    texts = (
        " ".join(f"w{int(kind.vocabulary ** draw.random())}" for _ in range(kind.words)) for _ in range(kind.posts)
    )
    return [made_post(f"p{number}", text, author=f"a{number % 50}") for number, text in enumerate(texts)]


class Watching:
    """Remembers the largest size that a directory had."""

    def __init__(self, directory):
        self.directory, self.most = directory, 0

    @contextmanager
    def task(self, label, *, total, unit):
        yield self
        self.move_to(0)

    def advance(self, amount):
        self.move_to(amount)

    def move_to(self, done):
        found = self.directory.glob("*/*.*")
        parts = [path for path in found if path.parent.name in {"spill", "queries", "exposures"}]
        self.most = max(self.most, sum(path.stat().st_size for path in parts))


@pytest.mark.parametrize("name", KINDS)
def test_the_estimate_is_about_what_is_written(tmp_path, name):
    kind, told, target = KINDS[name], [], tmp_path / "exposure"
    watching = Watching(target)
    with EmbeddedEngine() as engine:
        table = engine.table(as_table(written(kind)))
        facts = compute(table, kind.settings, target, progress=watching, room=Room(tell=told.append))
    (expected,) = told
    assert expected.queries == pytest.approx(facts.queries, rel=0.03)
    assert expected.results == pytest.approx(facts.exposures, rel=0.03)
    assert 0.95 < expected.bytes / watching.most < 1.35


def test_too_much_is_refused_before_it_is_written_and_can_be_allowed(tmp_path):
    target, posts = tmp_path / "exposure", written(KINDS["long posts"])
    settings = SearchExposure(longest_post=10_000)
    with EmbeddedEngine() as engine:
        table = engine.table(as_table(posts))
        with pytest.raises(ParameterError, match=r"would take about .* more than 1\.0 MB"):
            compute(table, settings, target, room=Room(largest="1MB"))
        assert not list(target.glob("spill/*"))
        assert compute(table, settings, target).state == "finished"


def test_what_was_too_much_can_be_asked_for_in_another_way_in_the_same_place(tmp_path):
    target, posts = tmp_path / "exposure", written(KINDS["long posts"])
    with EmbeddedEngine() as engine:
        table = engine.table(as_table(posts))
        with pytest.raises(ParameterError, match="would take about"):
            compute(table, SearchExposure(longest_post=10_000), target, room=Room(largest="1MB"))
        fewer = SearchExposure(longest_post=10)
        assert compute(table, fewer, target).settings == fewer
        with pytest.raises(InputError, match="another longest_post"):
            compute(table, SearchExposure(longest_post=20), target)


def test_a_disk_without_room_is_refused_before(tmp_path, monkeypatch):
    # A disk that is nearly full cannot be made here: what the system says of it is changed.
    monkeypatch.setattr(estimating.shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(1000))
    with pytest.raises(EngineError, match=r"the disk has 0\.0 MB left"):
        compute_posts(written(KINDS["long posts"]), SearchExposure(), tmp_path / "exposure")


def test_what_is_no_size_is_refused():
    with pytest.raises(ParameterError, match="largest spill"):
        Room(largest="much")


def one_post(words):
    return as_table([made_post("new", " ".join(f"n{number}" for number in range(words)), day=9)])


def test_adding_a_very_long_post_is_refused_before_it_is_computed(tmp_path):
    target = tmp_path / "exposure"
    compute_posts([made_post("a", "one two"), made_post("b", "two three")], SearchExposure(longest_post=10_000), target)
    with pytest.raises(ParameterError, match="would take about"):
        add(target, one_post(9000))
    assert add(target, one_post(100)).queries == 5050


def test_a_change_writes_less_than_was_said(tmp_path):
    told, target = [], tmp_path / "exposure"
    compute_posts(written(KINDS["middling posts"]), SearchExposure(), target)
    add(target, one_post(300), room=Room(tell=told.append))
    size = sum(path.stat().st_size for path in target.glob("changes/*/*"))
    assert size < told[0].bytes < 6 * size


def test_the_command_says_it_in_json_and_takes_a_limit(tmp_path, capsys):
    posts = tmp_path / "posts.parquet"
    pa.parquet.write_table(as_table(written(KINDS["long posts"])), posts)
    asked = ["expose", "compute", str(posts), "-o", str(tmp_path / "exposure"), "--longest-post", "10000", "--json"]
    assert run([*asked, "--largest-spill", "1MB"]) == 2
    assert "--largest-spill 1GB" in capsys.readouterr().err
    assert run(asked) == 0
    assert '"estimated_bytes": ' in capsys.readouterr().out
