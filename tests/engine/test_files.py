"""Output is whole or not there, leftovers of the dead are swept, and nobody else can write to it."""

import os
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.files import (
    directory_when_done,
    make_directories,
    partial_directory,
    partial_file,
    replace_when_done,
    sweep_leftovers,
    write_text,
)
from aidos.errors import EngineError, ParameterError

SECRET = b"what nobody may find"
DIES = """
    import os, signal, sys
    from pathlib import Path
    from aidos.engine.files import directory_when_done, replace_when_done
    with {maker}(Path(sys.argv[1])) as partial:
        file = partial / "part" if partial.is_dir() else partial
        file.write_bytes({secret!r})
        print(partial.name, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(params=["replace_when_done", "directory_when_done"])
def left(request, tmp_path):
    """A partial whose maker was killed."""
    script = textwrap.dedent(DIES.format(maker=request.param, secret=SECRET))
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path / "made")], capture_output=True, check=False)
    assert ran.returncode == -9, ran.stderr
    found = tmp_path / ran.stdout.decode().strip()
    assert found.exists()
    return found


def test_leftovers_of_the_dead_go_when_the_same_is_made_again(left, tmp_path):
    write_text(tmp_path / "other", "x")
    assert left.exists()
    write_text(tmp_path / "made", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "other"]


def test_a_new_directory_sweeps_as_well(left, tmp_path):
    with directory_when_done(tmp_path / "made"):
        assert not left.exists()


def test_partials_of_the_living_stay(tmp_path):
    with replace_when_done(tmp_path / "made") as first, directory_when_done(tmp_path / "made too") as second:
        assert sweep_leftovers(tmp_path / "made") == sweep_leftovers(tmp_path / "made too") == 0
        assert sweep_leftovers(tmp_path, inside=True) == 0
        assert first.exists()
        assert second.exists()


def test_whoever_erases_leaves_no_bytes(left, tmp_path):
    holder = left / "part" if left.is_dir() else left
    with holder.open("rb") as still_open:
        assert sweep_leftovers(tmp_path, inside=True, blank=True) == 1
        assert still_open.read() == bytes(len(SECRET))
    assert list(tmp_path.iterdir()) == []


def test_what_is_published_under_a_second_name_is_not_blanked(tmp_path):
    with partial_file(tmp_path / "made") as partial:
        partial.write_bytes(SECRET)
        os.link(partial, tmp_path / "made")
        os.link(partial, tmp_path / ".made.00000000.partial")
    assert sweep_leftovers(tmp_path / "made", blank=True) == 1
    assert (tmp_path / "made").read_bytes() == SECRET


def test_files_that_sqlite_keeps_beside_go_with_theirs(tmp_path):
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f".a.01234567.partial{ending}").write_bytes(SECRET)
    (tmp_path / ".b.01234567.partial-wal").write_bytes(SECRET)
    sweep_leftovers(tmp_path / "a", blank=True)
    assert [path.name for path in tmp_path.iterdir()] == [".b.01234567.partial-wal"]
    assert sweep_leftovers(tmp_path / "b") == 1


def test_names_of_others_are_left_alone(tmp_path):
    mine = [".made.partial", ".made.xyz.partial", "made.01234567.partial", ".other.01234567.partial", ".made.01234567"]
    for name in mine:
        (tmp_path / name).touch()
    write_text(tmp_path / "made", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, "made"])


def test_a_link_that_looks_like_a_leftover_harms_nothing(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_bytes(SECRET)
    (tmp_path / ".made.01234567.partial").symlink_to(kept)
    (tmp_path / ".made.89abcdef.partial").symlink_to(kept / "file")
    assert sweep_leftovers(tmp_path / "made", blank=True) == 0
    assert (kept / "file").read_bytes() == SECRET


def test_a_pipe_that_looks_like_a_leftover_does_not_block(tmp_path):
    os.mkfifo(tmp_path / ".made.01234567.partial")
    assert sweep_leftovers(tmp_path / "made") == 1


def test_makers_and_sweepers_do_not_harm_each_other(tmp_path):
    done = threading.Event()

    def sweep():
        while not done.is_set():
            sweep_leftovers(tmp_path / "made")

    sweepers = [threading.Thread(target=sweep) for _ in range(2)]
    for sweeper in sweepers:
        sweeper.start()
    try:
        for number in range(300):
            write_text(tmp_path / "made", str(number))
            assert (tmp_path / "made").read_text() == str(number)
            with partial_directory(tmp_path / "made") as partial:
                (partial / "file").write_text("x")
    finally:
        done.set()
        for sweeper in sweepers:
            sweeper.join()
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (directory, *directory.rglob("*"))}


def fill(directory):
    (directory / "table").write_text("x")
    (directory / "below").mkdir()
    (directory / "below" / "page").write_text("x")


def test_without_umask_nobody_else_may_write(tmp_path, no_umask):
    with directory_when_done(tmp_path / "open") as partial:
        fill(partial)
        assert stat.S_IMODE(partial.stat().st_mode) == 0o700
    assert modes(tmp_path / "open") == {"open": 0o755, "table": 0o644, "below": 0o755, "page": 0o644}
    with directory_when_done(tmp_path / "mine", private=True) as partial:
        fill(partial)
    assert modes(tmp_path / "mine") == {"mine": 0o700, "table": 0o600, "below": 0o700, "page": 0o600}
    write_text(tmp_path / "public", "x")
    write_text(tmp_path / "private", "x", private=True)
    assert modes(tmp_path)["public"] == 0o644
    assert modes(tmp_path)["private"] == 0o600


def test_directories_above_are_made_with_care_too(tmp_path, no_umask):
    made = tmp_path / "share" / "aidos" / "ledgers"
    make_directories(made, private=True)
    make_directories(made)  # what is there stays as it is
    assert modes(tmp_path / "share") == {"share": 0o755, "aidos": 0o755, "ledgers": 0o700}


@pytest.mark.parametrize("name", ["taken", "taken/below", "taken/below/deeper"])
def test_no_directory_is_made_where_a_file_is(tmp_path, name):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(ParameterError, match="a file is in its place"):
        make_directories(tmp_path / name)
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_directory_that_cannot_be_made_is_told():
    with pytest.raises(EngineError, match="cannot be written"):
        make_directories(Path("/proc/none"))


def test_a_stricter_umask_is_respected(tmp_path, no_umask):
    os.umask(0o077)
    with directory_when_done(tmp_path / "made") as partial:
        fill(partial)
    assert modes(tmp_path / "made") == {"made": 0o700, "table": 0o600, "below": 0o700, "page": 0o600}


@pytest.mark.parametrize("private", [False, True])
def test_tables_of_the_engine_keep_their_lock_and_their_mode(tmp_path, no_umask, private):
    with EmbeddedEngine(scratch=tmp_path) as engine:
        engine.view("select 1 as a").write_parquet(tmp_path / "table.parquet", private=private)
    assert modes(tmp_path)["table.parquet"] == (0o600 if private else 0o644)
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_a_failure_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), directory_when_done(tmp_path / "made") as partial:
        fill(partial)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_is_refused(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("file", "link"):
        with pytest.raises(ParameterError, match="exists already"), directory_when_done(tmp_path / name):
            pass
    with directory_when_done(tmp_path / "empty") as partial:
        fill(partial)
    with pytest.raises(ParameterError, match="exists already"), directory_when_done(tmp_path / "empty"):
        pass
    with pytest.raises(ParameterError, match="does not exist"), directory_when_done(tmp_path / "not" / "there"):
        pass
