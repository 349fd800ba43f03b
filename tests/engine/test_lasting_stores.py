"""Places that last: locks, formats, manifests, erasure, and SQLite files whose errors are told in words."""

import multiprocessing
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aidos.engine import store
from aidos.engine.database import Database
from aidos.engine.files import partial_file, publish_new
from aidos.engine.store import Manifest, Store, erase
from aidos.errors import EngineError, InputError

ABOUT = Manifest(
    file="about.json", kind="a test", version=3, noun="a thing", named="name a thing", again="make the thing again"
)
KEPT = Database(
    noun="a kept thing", version=1, again="bring it back", busy="somebody holds {path}", unchanged="nothing was changed"
)
SECRET = b"what nobody may find"


def test_a_manifest_is_read_back_and_any_change_of_it_is_told(tmp_path: Path) -> None:
    ABOUT.write(tmp_path, {"number": 7})
    assert ABOUT.read(tmp_path) == {"number": 7}
    text = (tmp_path / "about.json").read_text()
    for old, new, said in (
        ("7", "8", "its checksum"),
        ("a test", "another", "not the manifest of a thing"),
        (": 3", ": 2", "has format 2, this aidos reads 3"),
        ("{", "[" * 5000, "it is no JSON"),
    ):
        (tmp_path / "about.json").write_text(text.replace(old, new))
        with pytest.raises(InputError, match=said):
            ABOUT.read(tmp_path)
    (tmp_path / "about.json").unlink()
    with pytest.raises(InputError, match=r"it has no about\.json"):
        ABOUT.read(tmp_path)


def test_a_directory_is_for_its_owner_alone_or_a_word_why_not(tmp_path):
    ABOUT.make(tmp_path / "made")
    ABOUT.make(tmp_path / "made")
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file, a directory was expected"):
        ABOUT.make(tmp_path / "file")
    with pytest.raises(InputError, match=r"the directory of .* does not exist") as caught:
        ABOUT.make(tmp_path / "not" / "there")
    assert "mkdir -p" in caught.value.hint


def hold(path, told, go_on):
    with ABOUT.held(path):
        told.set()
        go_on.wait()


@pytest.fixture
def other(tmp_path):
    """Another process that holds the directory."""
    context = multiprocessing.get_context("fork")
    told, go_on = context.Event(), context.Event()
    process = context.Process(target=hold, args=(tmp_path, told, go_on))
    process.start()
    assert told.wait(20)
    yield process
    go_on.set()
    process.join()


def test_one_writes_at_a_time_and_is_named(tmp_path, other, monkeypatch):
    for alone in (True, False):
        with (
            pytest.raises(EngineError, match="somebody else is writing to") as caught,
            ABOUT.held(tmp_path, alone=alone),
        ):
            pass
        if store.LOCKS.exists():
            assert caught.value.hint == f"wait until they are done (process {other.pid})"
    monkeypatch.setattr(store, "LOCKS", tmp_path / "nothing")
    with pytest.raises(EngineError) as caught, ABOUT.held(tmp_path, wait=0.05):
        pass
    assert caught.value.hint == "wait until they are done"


def test_readers_share_and_keep_writers_out(tmp_path):
    together = {"alone": False, "wait": None}
    with (
        ABOUT.held(tmp_path, **together),
        ABOUT.held(tmp_path, **together),
        pytest.raises(EngineError),
        ABOUT.held(tmp_path),
    ):
        pass
    with ABOUT.held(tmp_path):
        pass


def test_nothing_to_hold_is_told_in_the_words_of_its_kind(tmp_path):
    with pytest.raises(InputError, match="there is no thing "), ABOUT.held(tmp_path / "none"):
        pass
    own = Store(noun="a thing", version=1, again="", absent="nothing is kept in {path}", first="keep something")
    with pytest.raises(InputError, match="nothing is kept in") as caught, own.held(tmp_path / "none"):
        pass
    assert caught.value.hint == "keep something"


def test_erasing_leaves_no_byte_of_a_file_a_directory_or_a_partial(tmp_path):
    file, directory = tmp_path / "file", tmp_path / "directory"
    (directory / "within").mkdir(parents=True)
    places = [file, tmp_path / ".file.00000000.partial", directory / "a", directory / "within" / "b"]
    for place in places:
        place.write_bytes(SECRET)
    outside = tmp_path / "outside"
    outside.write_bytes(SECRET)
    (directory / "link").symlink_to(outside)
    opened = [place.open("rb") for place in places]
    erase(file)
    erase(directory)
    assert [one.read() for one in opened] == [bytes(len(SECRET))] * len(places)
    for one in opened:
        one.close()
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert outside.read_bytes() == SECRET


def test_what_cannot_be_erased_is_told(tmp_path):
    with pytest.raises(EngineError, match="cannot be erased"):
        erase(tmp_path / "nothing")


def test_a_new_file_never_takes_the_place_of_another(tmp_path):
    for text, published in (("first", True), ("second", False)):
        with partial_file(tmp_path / "new", private=True) as partial:
            partial.write_text(text)
            assert publish_new(partial, tmp_path / "new") is published
    assert (tmp_path / "new").read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_database_says_in_words_what_is_wrong(tmp_path):
    file = tmp_path / "kept"
    file.touch()
    with closing(KEPT.connect(file)) as one, closing(KEPT.connect(file, wait=0.01)) as two:
        one.execute("begin immediate")
        one.execute("create table names (name)")
        with pytest.raises(EngineError, match="somebody holds"), KEPT.spoken(file):
            two.execute("begin immediate")
        one.execute("commit")
        with pytest.raises(InputError, match="is damaged"), KEPT.spoken(file):
            one.execute("select * from ann")
        with pytest.raises(InputError, match="half of a character") as caught, KEPT.spoken(file):
            one.execute("insert into names values (?)", ("\ud800",))
        assert "nothing was changed" in caught.value.hint
        one.execute("pragma max_page_count = 2")
        with pytest.raises(EngineError, match="cannot be used: the disk is full"), KEPT.spoken(file):
            one.executemany("insert into names values (?)", [("x" * 1000,)] * 100)
    file.write_bytes(b"no database, but long enough to be taken for one" * 40)
    with pytest.raises(InputError, match="is not a kept thing, or is damaged"), KEPT.spoken(file):
        KEPT.connect(file).execute("select * from names")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_database_that_may_not_be_written_says_so(tmp_path):
    file = tmp_path / "kept"
    sqlite3.connect(file).execute("create table names (name)").connection.close()
    file.chmod(0o400)
    with (
        pytest.raises(EngineError, match="cannot be written here"),
        KEPT.spoken(file),
        closing(KEPT.connect(file)) as connection,
    ):
        connection.execute("insert into names values ('ann')")
