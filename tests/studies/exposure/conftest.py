"""One small world whose exposure is computed once."""

import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.experiment import sample_community
from aidos.world.size import World

VILLAGE = World(120, 5)


@pytest.fixture(scope="session")
def village_world():
    return VILLAGE


@pytest.fixture(scope="session")
def village_posts():
    return sample_community(VILLAGE)


@pytest.fixture(scope="session")
def village(village_posts, tmp_path_factory):
    target = tmp_path_factory.mktemp("village") / "exposure"
    with EmbeddedEngine() as engine:
        compute(engine.table(village_posts[0]), SearchExposure(), target)
    return ExposureStore.open(target)
