import pytest

from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.rooms.publish.attacks.distinguisher import Distinction, Rate, distinguish
from aidos.rooms.publish.attacks.scenes import QueryScene, Stage

PEOPLE = "select user_query, count(distinct client_id) from {table} group by 1 order by 1"


def noisy(scale, above):
    def publish(log, noise):
        rows = log.rows(PEOPLE)
        drawn = DiscreteLaplace(scale).sample(noise, len(rows)).tolist()
        return {item: people + x for (item, people), x in zip(rows, drawn, strict=True) if people + x > above}

    return publish


@pytest.mark.parametrize(("scale", "items"), [(1.0, 1), (0.5, 1), (2.0, 2)])
def test_the_bound_comes_near_the_true_epsilon_and_stays_below(nobody, scale, items):
    scene = QueryScene(trials=3000, items=items)
    found = distinguish(Stage(noisy(scale, 30 * scale), scene, nobody, Noise(5)), delta=1e-6, confidence=0.999)
    true = items / scale
    assert true / 2 < found.epsilon <= true
    assert not found.refutes(true)
    assert found.refutes(true / 2)


def test_a_release_of_single_items_is_refuted_at_any_small_epsilon(nobody):
    def publish(log, _noise):
        return dict(log.rows(PEOPLE))

    found = distinguish(Stage(publish, QueryScene(trials=1000), nobody, Noise(6)), delta=1e-6)
    assert found.epsilon > 4
    assert (found.right.value, found.wrong.value) == (1.0, 0.0)


def test_a_release_of_nothing_shows_nothing(nobody):
    found = distinguish(Stage(lambda _log, _noise: {}, QueryScene(trials=100), nobody, Noise(7)), delta=0.0)
    assert found.epsilon == 0


def test_delta_is_subtracted_before_the_ratio():
    rates = {"others": 0, "right": Rate(50, 1000), "wrong": Rate(0, 1000), "confidence": 0.99}
    assert Distinction(**rates, delta=0.0).epsilon > Distinction(**rates, delta=0.02).epsilon > 0
    assert Distinction(**rates, delta=0.1).epsilon == 0
