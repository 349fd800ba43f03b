"""What a directory says of itself, and why one cannot be used."""

import json
from pathlib import Path

import pytest

from aidos.errors import EngineError, InputError, ParameterError
from aidos.rooms.exposure.queries import manifest
from aidos.rooms.exposure.queries.layout import ABOUT, MANIFEST
from aidos.rooms.exposure.queries.manifest import Facts
from aidos.rooms.exposure.queries.settings import SearchExposure

FACTS = Facts(
    settings=SearchExposure(k=7, scorer="bm25", ties="oldest"),
    fingerprint="3-abc",
    state="finished",
    posts=3,
    members=2,
    words=5,
    queries=9,
    exposures=20,
    tokens=11,
    documents=3,
)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    manifest.make_directory(tmp_path / "exposure")
    manifest.write(tmp_path / "exposure", FACTS)
    return tmp_path / "exposure"


def test_what_is_written_is_read_back(target: Path) -> None:
    assert manifest.read(target) == FACTS
    assert (target / MANIFEST).stat().st_mode & 0o777 == 0o600
    assert target.stat().st_mode & 0o777 == 0o700


def rewrite(target: Path, **changes: object) -> None:
    said = json.loads((target / MANIFEST).read_text())
    (target / MANIFEST).write_text(json.dumps({**said, **changes}))


def test_unfinished_directories_are_read_only_when_asked_for(target: Path) -> None:
    unfinished = Facts(settings=SearchExposure(), fingerprint="", state="computing")
    manifest.write(target, unfinished)
    with pytest.raises(InputError, match="is unfinished") as caught:
        manifest.read(target)
    assert "again" in caught.value.hint
    assert manifest.read(target, unfinished=True) == unfinished


def test_missing_and_strange_directories_are_told_apart(target: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no exposure directory"):
        manifest.read(tmp_path / "none")
    with pytest.raises(InputError, match=r"it has no exposure\.json"):
        manifest.read(tmp_path)
    rewrite(target, kind="aidos retrieval index")
    with pytest.raises(InputError, match="not the manifest of an exposure directory"):
        manifest.read(target)


def test_other_formats_and_damage_are_told_apart(target: Path) -> None:
    rewrite(target, posts=4)
    with pytest.raises(InputError, match="damaged: its checksum"):
        manifest.read(target)
    rewrite(target, format=99)
    with pytest.raises(InputError, match="has format 99, this aidos reads 2"):
        manifest.read(target)
    (target / MANIFEST).write_text("{")
    with pytest.raises(InputError, match="damaged: it is no JSON"):
        manifest.read(target)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "lost"},
        {"surplus": 1},
        {"settings": {"k": 0}},
        {"settings": {"k": 10.0}},
        {"settings": [1]},
        {"settings": {"analyser": "words:shortest=" + "9" * 5000}},
        {"posts": -1},
        {"posts": True},
        {"words": 1 << 60},
        {"files": {"a": 1}},
        {"files": {"a": {"file": 1, "bytes": 2, "crc32": 3}}},
        {"files": None},
    ],
)
def test_sealed_nonsense_is_damage_too(target: Path, change: dict[str, object]) -> None:
    ABOUT.write(target, {**ABOUT.read(target), **change})
    with pytest.raises(InputError, match="does not say what it should"):
        manifest.read(target)


def test_other_settings_and_other_posts_are_named(target: Path) -> None:
    manifest.check_same(target, FACTS, FACTS.settings, "3-abc")
    with pytest.raises(InputError, match="another scorer and another ties"):
        manifest.check_same(target, FACTS, SearchExposure(k=7), "3-abc")
    with pytest.raises(InputError, match="other posts"):
        manifest.check_same(target, FACTS, FACTS.settings, "3-abd")


def test_one_writer_at_a_time(target: Path, tmp_path: Path) -> None:
    with (
        manifest.alone(target),
        pytest.raises(EngineError, match="somebody else is writing"),
        manifest.alone(target),
    ):
        pass
    with manifest.alone(target):
        pass
    with pytest.raises(InputError, match="there is no exposure directory"), manifest.alone(tmp_path / "none"):
        pass


def test_directories_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        manifest.make_directory(tmp_path / "file")
    with pytest.raises(InputError, match="does not exist"):
        manifest.make_directory(tmp_path / "none" / "exposure")


def test_facts_keep_their_limits() -> None:
    with pytest.raises(ParameterError, match="posts must be at least 0"):
        Facts(settings=SearchExposure(), fingerprint="", state="finished", posts=-1)
