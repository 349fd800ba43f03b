"""An engine, and a place for temporary files that can be looked into."""

import tempfile

import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.ingest.history.reading import read_history


@pytest.fixture(scope="session")
def engine():
    with EmbeddedEngine(threads=1) as opened:
        yield opened


@pytest.fixture
def read(engine):
    def documents(path, **options):
        return list(read_history(engine, str(path), **options))

    return documents


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where private copies are made."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place
