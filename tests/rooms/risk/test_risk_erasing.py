import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.files import overwritten
from aidos.rooms.risk.directory import erase_rows


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "part.parquet"
    pq.write_table(pa.table({"who": ["ann", "bob", "ann"], "text": ["x" * 50, "y", "z"]}), path)
    return path


def test_rows_go_and_the_old_bytes_are_zeros(file):
    with EmbeddedEngine(threads=1) as engine, file.open("rb") as old:
        size = len(old.read())
        assert erase_rows(engine, file, "who = 'ann'") == 2
        old.seek(0)
        assert old.read() == bytes(size)
        assert pq.read_table(file)["who"].to_pylist() == ["bob"]
        assert file.stat().st_mode & 0o077 == 0
        assert erase_rows(engine, file, "who = 'ann'") == 0
        assert erase_rows(engine, file, "who = 'bob'") == 1
    assert not file.exists()


def test_a_file_that_was_not_replaced_is_not_harmed(file):
    before = file.read_bytes()
    with overwritten(file):
        pass
    assert file.read_bytes() == before
    with pytest.raises(RuntimeError, match="stop"), overwritten(file):
        raise RuntimeError("stop")
    assert file.read_bytes() == before
