import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.engine.embedded import EmbeddedEngine, quote_name, quote_text
from aidos.engine.files import replace_when_done, write_text
from aidos.engine.scratch import scratch_directory
from aidos.errors import EngineError, InputError, ParameterError

THREE = pa.table({"client_id": ["a", "b", "b"], "n": [1, 2, 3]})


def test_tables_are_lazy_and_answer_sql():
    with EmbeddedEngine() as engine:
        table = engine.table(THREE)
        doubled = table.select("select client_id, 2 * n as n from {table}")
        assert dict(doubled.columns) == {"client_id": "VARCHAR", "n": "BIGINT"}
        assert doubled.rows("select sum(n) from {table} where client_id = ?", ["b"]) == [(10,)]
        assert doubled.count() == 3
        assert [batch.num_rows for batch in doubled.batches(2)] == [2, 1]


@pytest.mark.parametrize("place", range(60, 400, 20))
def test_a_damaged_parquet_file_is_told_or_read(tmp_path, place):
    pq.write_table(THREE, tmp_path / "three.parquet")
    data = bytearray((tmp_path / "three.parquet").read_bytes())
    for code in (0x0E, 0xFF, 0x1C):
        data[-place] = code
        (tmp_path / "three.parquet").write_bytes(data)
        with EmbeddedEngine() as engine, suppress(InputError, EngineError):
            assert engine.parquet(tmp_path / "three.parquet").count() >= 0


def test_a_view_runs_nothing_until_it_is_asked():
    with EmbeddedEngine() as engine:
        broken = engine.table(THREE).select("select error('ran') as n from {table}")
        assert "n" in broken.columns
        with pytest.raises(Exception, match="ran"):
            broken.rows()


def test_parquet_round_trip_with_notes(tmp_path):
    path = tmp_path / "o'brien.parquet"
    with EmbeddedEngine() as engine:
        assert engine.table(THREE).write_parquet(path, notes={"made": "it's a test"}) == 3
        assert engine.parquet(path).rows() == [("a", 1), ("b", 2), ("b", 3)]
    assert pq.read_schema(path).metadata[b"made"] == b"it's a test"
    assert os.listdir(tmp_path) == [path.name]


def test_memory_and_threads_are_honoured():
    with EmbeddedEngine(memory="150MB", threads=1) as engine:
        assert engine.run("select current_setting('threads')") == [(1,)]
        assert str(engine.run("select current_setting('memory_limit')")[0][0]).startswith("143.0")
        # Sorting far more than 150 MB works, because it spills.
        rows = engine.run(
            "select count(*) from (select md5(i::varchar) h from range(4_000_000) t(i) order by h limit 2_000_000)"
        )
        assert rows == [(2_000_000,)]


@pytest.mark.parametrize("memory", ["lots", "12", "-1GB", "1GB; drop table x"])
def test_nonsense_memory_is_refused(memory):
    with pytest.raises(ParameterError, match="memory"):
        EmbeddedEngine(memory=memory)


def test_zero_threads_are_refused():
    with pytest.raises(ParameterError, match="threads"):
        EmbeddedEngine(threads=0)


def test_the_engine_cannot_fetch_extensions_or_remote_files():
    with EmbeddedEngine() as engine, pytest.raises(Exception, match=r"(?i)extension|httpfs"):
        engine.run("select * from read_csv('https://example.org/x.csv')")


def test_scratch_is_private_and_goes_away_even_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), EmbeddedEngine(scratch=tmp_path) as engine:
        assert stat.S_IMODE(engine.scratch.stat().st_mode) == 0o700
        (engine.scratch / "raw.parquet").write_text("somebody's query")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


WORK = """
import sys
from pathlib import Path
from aidos.engine.embedded import EmbeddedEngine
with EmbeddedEngine(memory="200MB", scratch=Path(sys.argv[1])) as engine:
    print("started", flush=True)
    hashes = "select md5(i::varchar) h from range(400_000_000) t(i)"
    engine.run(f"select count(*) from ({hashes} order by h limit 200_000_000)")
"""


def start_long_work(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout.readline() == b"started\n"
    time.sleep(0.5)
    assert list(tmp_path.iterdir())
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_scratch_goes_away_when_interrupted_in_the_middle_of_a_query(tmp_path, number):
    process = start_long_work(tmp_path)
    process.send_signal(number)
    assert process.wait(timeout=20) != 0
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    process = start_long_work(tmp_path)
    process.kill()
    process.wait(timeout=20)
    process.stdout.close()
    assert list(tmp_path.iterdir())
    with scratch_directory(tmp_path) as mine:
        assert list(tmp_path.iterdir()) == [mine]


def test_directories_of_the_living_stay(tmp_path):
    with scratch_directory(tmp_path) as mine, scratch_directory(tmp_path) as another:
        assert mine.is_dir()
        assert another.is_dir()


def test_no_place_for_scratch_is_a_clear_error(tmp_path):
    with pytest.raises(EngineError, match="temporary directory"), EmbeddedEngine(scratch=tmp_path / "missing"):
        pass


def test_files_are_whole_or_not_there(tmp_path):
    path = tmp_path / "page.html"
    write_text(path, "first")
    with pytest.raises(RuntimeError), replace_when_done(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_private_files_are_for_their_owner_from_the_first_byte(tmp_path):
    with replace_when_done(tmp_path / "secret", private=True) as partial:
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
        partial.write_text("x")
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_impossible_outputs_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="directory"):
        write_text(tmp_path, "x")
    with pytest.raises(ParameterError, match="does not exist"):
        write_text(tmp_path / "no" / "file", "x")


FULL = """
import resource, sys, signal
from pathlib import Path
import pyarrow as pa
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import EngineError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
with EmbeddedEngine(scratch=Path(sys.argv[2])) as engine:
    try:
        engine.view("select md5(i::varchar) h from range(100_000) t(i)").write_parquet(Path(sys.argv[1]))
    except EngineError as error:
        print(error)
"""


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path):
    target = tmp_path / "out"
    scratch = tmp_path / "scratch"
    target.mkdir()
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FULL, target / "x.parquet", scratch],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "disk is full" in done.stdout, done.stderr
    assert [*target.iterdir(), *scratch.iterdir()] == []


def test_quoting_survives_hostile_names():
    assert quote_name('a"b') == '"a""b"'
    assert quote_text("a'b") == "'a''b'"


def test_held_rows_are_computed_once_and_gone_afterwards():
    with EmbeddedEngine() as engine:
        drawn = engine.view("select random() as number from range(3)")
        with drawn.held() as held:
            assert held.rows() == held.rows()
            assert drawn.rows() != held.rows()
        with pytest.raises(Exception, match="does not exist"):
            held.rows()


def test_held_rows_are_gone_after_an_error_too():
    with EmbeddedEngine() as engine:
        with pytest.raises(ZeroDivisionError), engine.view("select 1 as one").held() as held:
            raise ZeroDivisionError
        assert engine.run("select count(*) from duckdb_tables() where table_name = ?", [held.name]) == [(0,)]


def test_values_in_memory_join_a_table_and_come_back_by_columns():
    with EmbeddedEngine() as engine:
        table = engine.view("select range as number, 'n' || range as text from range(1000)")
        chosen = table.beside(pa.table({"number": [7, 3]}))
        found = table.fetch(f"select text from {{table}} join {chosen.name} using (number) order by number")
        assert found.to_pydict() == {"text": ["n3", "n7"]}
        assert table.fetch("select number from {table}").column("number").to_numpy().sum() == 499500


def test_an_engine_outside_its_with_says_so():
    engine = EmbeddedEngine()
    for _ in range(2):  # before it is opened, and after it is closed
        with pytest.raises(EngineError, match="not open") as caught:
            engine.view("select 1 as one")
        assert "with aidos.EmbeddedEngine() as engine" in caught.value.hint
        with engine:
            assert engine.run("select 1") == [(1,)]


def test_memory_is_a_text():
    with pytest.raises(ParameterError, match="a size such as 1GB"):
        EmbeddedEngine(memory=5)
