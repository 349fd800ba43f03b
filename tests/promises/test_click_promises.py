"""Click counts over a public list: the promise, checked exactly on the distribution that is really drawn from."""

from math import exp

import numpy as np
import pyarrow as pa
import pytest

from aidos.core.guarantee import Neighbours
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.engine.embedded import EmbeddedEngine
from aidos.rooms.publish.click_counts import ClickCounts, ClickData

SUPPORT = np.arange(-400, 400)


def largest_factor(scale, changed):
    """How much likelier any outcome gets when ``changed`` counts move by one."""
    chances = np.array([DiscreteLaplace(scale).pmf(int(place)) for place in SUPPORT])
    return float((chances[1:] / chances[:-1]).max()) ** changed


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("epsilon", "limit"), [(0.5, 1), (1.0, 3), (4.0, 10)])
def test_no_outcome_gets_likelier_than_promised_and_half_the_noise_would_break_it(epsilon, limit, neighbours):
    mechanism = ClickCounts(epsilon=epsilon, items_per_person=limit, neighbours=neighbours)
    scale = mechanism.calibration(PublicFacts())["scale"]
    changed = limit * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
    assert largest_factor(scale, changed) <= exp(epsilon) * (1 + 1e-9)
    assert largest_factor(scale / 2, changed) > exp(epsilon)


def test_one_person_changes_no_more_counts_than_the_limit_and_unlisted_clicks_never_show():
    listed = pa.table({"user_query": ["q"] * 8, "object_id": [f"d{number}" for number in range(8)]})
    clicks = {"person": ["v"] * 9, "user_query": ["q"] * 9, "object_id": [*(f"d{n}" for n in range(8)), "secret"]}
    with EmbeddedEngine() as engine:
        data = ClickData(engine.table(pa.table(clicks)), engine.table(listed))
        # Noise of scale 3/1000 is zero except with probability below 1e-100.
        shown = ClickCounts(epsilon=1000, items_per_person=3).run(data, Noise(1)).people()
    assert sum(shown.values()) == 3
    assert set(shown) == {("q", f"d{number}") for number in range(8)}
