"""Histories of Firefox and Chrome, in use or not, whole or damaged; the originals are never touched."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_history import A_DAY, MICRO, add_firefox, make_chrome, make_firefox

from aidos.core.profile import Kind
from aidos.errors import AidosError, EngineError, InputError
from aidos.ingest.history import browsers
from aidos.ingest.history.reading import read_history

PAGES = [
    ("https://cooking.example/soups?token=hushhush", "Lentil soup", 3),
    ("https://chess.example/openings", None, 1),
    ("about:preferences", "Settings", 9),
    ("https://never.example/visited", "Only linked to", 0),
]
HOLDER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    held.execute(statement)
print("held", flush=True)
sys.stdin.read()
"""
"""Another process that holds a database, as a browser that runs."""


@contextmanager
def held_by_another(path, *statements):
    command = [sys.executable, "-c", HOLDER, str(path), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"held\n"
            yield
        finally:
            other.kill()


def seen(directory):
    """Everything about files that writing would change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir() if path.is_file()}


def test_visited_pages_of_firefox_become_documents_without_query_strings(read, tmp_path):
    first, second = read(make_firefox(tmp_path / "places.sqlite", PAGES))
    assert first.text == "Lentil soup\ncooking soups"
    assert first.kind is Kind.FIREFOX_HISTORY
    assert first.visits == 3
    assert first.time == datetime.fromtimestamp(A_DAY, tz=UTC)
    assert second.text == "chess openings"
    assert "Lentil" not in repr(first)


def test_pages_that_firefox_hides_are_passed_over_and_old_schemas_can_be_read(read, tmp_path):
    path = make_firefox(tmp_path / "places.sqlite", [*PAGES, ("https://frame.example/ad", "Frame", 5)])
    with closing(sqlite3.connect(path)) as made:
        made.execute("UPDATE moz_places SET hidden = 1 WHERE title = 'Frame'")
        made.execute("UPDATE moz_places SET description = 'Red lentils' WHERE visit_count = 3")
        made.commit()
        assert [page.text for page in read(path)] == ["Lentil soup\ncooking soups\nRed lentils", "chess openings"]
        made.execute("ALTER TABLE moz_places DROP COLUMN description")
        made.commit()
    assert [page.text for page in read(path)] == ["Lentil soup\ncooking soups", "chess openings"]


def test_bookmarks_of_firefox_come_with_folder_and_tags_and_each_once(read, tmp_path):
    path = make_firefox(tmp_path / "places.sqlite", [("https://pots.example/clay", "Clay", 0)])
    with closing(sqlite3.connect(path)) as made:
        made.executemany(
            "INSERT INTO moz_bookmarks (id, type, fk, parent, title, dateAdded, guid) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (10, 2, None, 2, "Pottery", None, "folder000010"),
                (11, 1, 1, 10, None, A_DAY * MICRO, "mark00000011"),
                (12, 2, None, 4, "kiln", None, "tag000000012"),
                (13, 1, 1, 12, None, None, "entry0000013"),
                (14, 1, 1, 5, "In the root", None, "mark00000014"),
            ],
        )
        made.commit()
    found = read(path)
    assert [page.text for page in found] == ["Clay\npots clay\nPottery kiln", "In the root\npots clay\nkiln"]
    assert {page.kind for page in found} == {Kind.FIREFOX_BOOKMARKS}
    assert found[0].time == datetime.fromtimestamp(A_DAY, tz=UTC)


def test_visited_pages_of_chrome_become_documents_with_its_own_calendar(read, tmp_path):
    first, second = read(make_chrome(tmp_path / "History", PAGES))
    assert (first.text, first.kind, first.visits) == ("Lentil soup\ncooking soups", Kind.CHROME_HISTORY, 3)
    assert first.time == datetime.fromtimestamp(A_DAY, tz=UTC)
    assert second.text == "chess openings"


def test_the_directory_of_a_profile_can_be_named(read, tmp_path):
    make_chrome(tmp_path / "History", PAGES)
    (tmp_path / "notes.txt").write_text("is no part of the history")
    assert len(read(tmp_path)) == 2


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_database_that_another_process_has_locked_is_read_and_not_touched(read, tmp_path, scratch, mode):
    home = tmp_path / "profile"
    home.mkdir()
    path = make_firefox(home / "places.sqlite", PAGES)
    insert = "INSERT INTO moz_places (url, title, visit_count) VALUES ('https://new.example/', 'Unfinished', 1)"
    holding = ("PRAGMA locking_mode = exclusive", f"PRAGMA journal_mode = {mode}", "BEGIN EXCLUSIVE", insert)
    with held_by_another(path, *holding):
        with (
            closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)) as asking,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            asking.execute("SELECT count(*) FROM moz_places").fetchone()
        before = seen(home)
        assert [page.text for page in read(path)] == ["Lentil soup\ncooking soups", "chess openings"]
        assert seen(home) == before
    assert list(scratch.iterdir()) == []


def test_visits_that_are_in_the_write_ahead_log_alone_are_found(read, tmp_path, scratch):
    home = tmp_path / "profile"
    home.mkdir()
    path = make_firefox(home / "places.sqlite", PAGES, wal=True)
    insert = "INSERT INTO moz_places (url, title, visit_count) VALUES ('https://new.example/tea', 'Green tea', 1)"
    with held_by_another(path, "PRAGMA wal_autocheckpoint = 0", insert):
        assert (home / "places.sqlite-wal").stat().st_size > 0
        assert (home / "places.sqlite-shm").exists()
        before = seen(home)
        assert "Green tea" in read(path)[-1].text
        assert seen(home) == before


def test_a_change_that_is_half_written_is_rolled_back_in_the_copy(read, tmp_path):
    home = tmp_path / "profile"
    home.mkdir()
    pages = [(f"https://page.example/{at}", f"Page of old {'x' * 300}", 1) for at in range(400)]
    path = make_firefox(home / "places.sqlite", pages)
    # With a cache of one page SQLite writes into the database long before the change is complete.
    change = "UPDATE moz_places SET title = replace(title, 'old', 'new')"
    with held_by_another(path, "PRAGMA cache_size = 1", "PRAGMA synchronous = full", "BEGIN IMMEDIATE", change):
        assert b"Page of new" in path.read_bytes()
        assert (home / "places.sqlite-journal").stat().st_size > 0
        before = seen(home)
        assert all(page.text.startswith("Page of old") for page in read(path))
        assert seen(home) == before


def test_the_copy_is_private_and_gone_even_when_the_reader_stops_halfway(engine, tmp_path, scratch):
    stream = read_history(engine, str(make_firefox(tmp_path / "places.sqlite", PAGES)))
    next(stream)
    (copy,) = scratch.iterdir()
    assert copy.stat().st_mode & 0o077 == 0
    stream.close()
    assert list(scratch.iterdir()) == []


def test_a_database_that_never_rests_is_told(read, tmp_path, scratch, monkeypatch):
    path = make_firefox(tmp_path / "places.sqlite", PAGES)
    real, number = browsers.shutil.copyfile, iter(range(1, 100))

    def copy_while_the_browser_writes(source, target):
        real(source, target)
        os.utime(source, ns=(0, next(number)))

    monkeypatch.setattr(browsers.shutil, "copyfile", copy_while_the_browser_writes)
    monkeypatch.setattr(browsers, "SECONDS_BETWEEN", 0)
    with pytest.raises(InputError, match="written to all the time") as caught:
        read(path)
    assert "close the browser" in caught.value.hint
    assert list(scratch.iterdir()) == []


def test_a_disk_without_room_for_the_copy_is_told(tmp_path):
    path = make_firefox(tmp_path / "places.sqlite", PAGES)
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from aidos.ingest.history.browsers import open_copy\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    open_copy(Path(sys.argv[1])).__enter__()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{EngineError.__name__} there is no room for a copy")


@pytest.mark.parametrize("make", [make_firefox, make_chrome])
def test_an_empty_history_is_refused(read, tmp_path, make):
    with pytest.raises(InputError, match="holds no page"):
        read(make(tmp_path / "History", [("about:home", "Home", 1)]))


def test_another_database_is_refused(read, tmp_path):
    with closing(sqlite3.connect(tmp_path / "cookies.sqlite")) as made:
        made.execute("CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, value TEXT)")
    with pytest.raises(InputError, match="none that Firefox or Chrome") as caught:
        read(tmp_path / "cookies.sqlite")
    assert "places.sqlite" in caught.value.hint


def test_a_file_without_content_is_refused(read, tmp_path):
    (tmp_path / "places.sqlite").touch()
    with pytest.raises(InputError, match="is empty"):
        read(tmp_path / "places.sqlite")


def test_a_database_that_is_cut_off_is_refused_without_a_word_of_its_content(read, tmp_path):
    pages = [(f"https://secret.example/{at}", "hushhush " * 40, 1) for at in range(200)]
    path = make_firefox(tmp_path / "places.sqlite", pages)
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(InputError, match="damaged") as caught:
        read(path)
    assert "hushhush" not in f"{caught.value.message}{caught.value.hint}"
    (tmp_path / "b.sqlite").write_bytes(browsers.MAGIC + b"hushhush" * 500)
    with pytest.raises(InputError, match="damaged"):
        read(tmp_path / "b.sqlite")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 40_000), st.integers(0, 255)), min_size=1, max_size=30))
@example([(3710, 128)])  # SQLite quotes a name that is no text in its complaint
def test_damaged_bytes_never_end_in_anything_but_documents_or_a_refusal(read, tmp_path, changes):
    whole = tmp_path / "whole.sqlite"
    if not whole.exists():
        make_firefox(whole, PAGES * 20)
    content = bytearray(whole.read_bytes())
    for place, byte in changes:
        content[place % len(content)] = byte
    (tmp_path / "damaged.sqlite").write_bytes(bytes(content))
    with suppress(AidosError):
        read(tmp_path / "damaged.sqlite")


def test_cells_of_strange_types_are_no_reason_to_stop(read, tmp_path):
    path = make_firefox(tmp_path / "places.sqlite", PAGES)
    with closing(sqlite3.connect(path)) as made:
        add_firefox(made, [(b"\xff\xfe", 7, "many"), ("https://tea.example/", b"\x00\x01", 10**12), (None, None, 1)])
        made.execute("UPDATE moz_places SET last_visit_date = 9223372036854775807 WHERE url LIKE '%tea%'")
        made.commit()
    last = read(path)[-1]
    assert (last.text, last.time, last.visits) == ("tea", None, 10**12)
