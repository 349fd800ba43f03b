from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from aidos.world.size import World
from aidos.world.vocabulary import Vocabulary, build_vocabulary
from aidos.world.write import write_sample

TOWN = World(8192, seed=11)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return build_vocabulary(TOWN)


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A world of eight blocks of people, its parts as tables."""
    directory: Path = tmp_path_factory.mktemp("town")
    connection = duckdb.connect(":memory:")
    for part in ("log", "posts", "truth"):
        path = directory / f"{part}.parquet"
        write_sample(part, TOWN, path)
        connection.execute(f"create table {part} as select row_number() over () as row, * from read_parquet('{path}')")
    return connection
