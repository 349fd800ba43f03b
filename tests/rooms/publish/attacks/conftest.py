import pytest

from aidos.core.records import SEARCH_LOG
from aidos.engine.embedded import EmbeddedEngine


@pytest.fixture
def engine():
    with EmbeddedEngine(threads=1) as engine:
        yield engine


@pytest.fixture
def nobody(engine):
    """A search log without rows."""
    columns = ", ".join(f'cast(null as {column.type}) as "{column.name}"' for column in SEARCH_LOG.columns)
    return engine.view(f"select {columns} where false")
