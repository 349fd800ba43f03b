from math import exp, inf, isclose, tanh

import pytest

from aidos.core.guarantee import ApproxDP, KAnonymity, NoGuarantee, ProbabilisticDP, PureDP, ZeroConcentratedDP
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.rooms.publish.attacks.distinguisher import Rate
from aidos.rooms.publish.attacks.scenes import QueryScene, Stage
from aidos.rooms.publish.attacks.sybil import SybilResult, attack_with_sybils, most_advantage

PEOPLE = "select user_query, count(distinct client_id) from {table} group by 1 order by 1"


def exact(least):
    """Publishes exact counts of what so many people have."""
    return lambda log, _noise: {item: people for item, people in log.rows(PEOPLE) if people >= least}


def noisy(scale, above):
    """Publishes noisy counts above a threshold."""

    def publish(log, noise):
        rows = log.rows(PEOPLE)
        drawn = DiscreteLaplace(scale).sample(noise, len(rows)).tolist()
        return {item: people + x for (item, people), x in zip(rows, drawn, strict=True) if people + x > above}

    return publish


def test_the_edge_of_a_hard_threshold_is_one_below_it(nobody):
    assert Stage(exact(12), QueryScene(trials=60), nobody, Noise()).edge() == 11
    assert Stage(exact(1), QueryScene(trials=60), nobody, Noise()).edge() == 0
    assert Stage(exact(1000), QueryScene(trials=60), nobody, Noise()).edge() == 60


@pytest.mark.parametrize("k", [2, 10, 30])
def test_exact_counts_fall_whatever_k(nobody, k):
    result = attack_with_sybils(
        Stage(exact(k), QueryScene(trials=200), nobody, Noise(1)), guarantee=KAnonymity(k=k), confidence=0.99
    )
    assert (result.advantage, result.allowed, result.falls, result.verdict) == (1.0, None, True, "falls")
    assert result.interval[0] > 0.85
    assert result.sybils in {k - 1, 2 * k}


def test_noise_that_keeps_its_promise_stands(nobody):
    promise = ApproxDP(epsilon=0.5, delta=1e-4)
    result = attack_with_sybils(Stage(noisy(2.0, 20), QueryScene(trials=1000), nobody, Noise(2)), guarantee=promise)
    assert not result.falls
    assert result.verdict == "stands"
    assert result.allowed is not None
    assert result.advantage < result.allowed + 0.1


def test_a_false_promise_is_told(nobody):
    promise = PureDP(epsilon=0.1)
    result = attack_with_sybils(Stage(noisy(0.3, 20), QueryScene(trials=600), nobody, Noise(3)), guarantee=promise)
    assert result.verdict == "BROKEN PROMISE"


def test_the_number_of_sybils_may_be_given(nobody):
    result = attack_with_sybils(
        Stage(exact(10), QueryScene(trials=100), nobody, Noise(4)), guarantee=KAnonymity(k=10), sybils=3
    )
    assert (result.sybils, result.advantage) == (3, 0.0)
    assert result.verdict == "no promise, and this attack gained little"


def test_the_interval_holds_the_advantage():
    result = SybilResult(sybils=1, hits=Rate(80, 100), false_alarms=Rate(20, 100), allowed=None, confidence=0.95)
    low, high = result.interval
    assert low < result.advantage < high
    assert isclose(low, Rate(80, 100).not_below(0.9875) - Rate(20, 100).not_above(0.9875))


def test_the_most_advantage_of_each_guarantee():
    assert isclose(most_advantage(PureDP(epsilon=1.0)), tanh(0.5))
    delta = 0.01
    assert isclose(most_advantage(ApproxDP(epsilon=1.0, delta=delta)), (exp(1) - 1 + 2 * delta) / (exp(1) + 1))
    assert most_advantage(ProbabilisticDP(epsilon=1.0, delta=delta)) == most_advantage(
        ApproxDP(epsilon=1.0, delta=delta)
    )
    assert most_advantage(PureDP(epsilon=5000.0)) == 1.0
    assert most_advantage(ZeroConcentratedDP(rho=0.02)) == pytest.approx(0.1)
    assert most_advantage(KAnonymity(k=5)) is None
    assert most_advantage(NoGuarantee("none")) is None
    assert most_advantage(ApproxDP(epsilon=1.0, delta=1.0)) < inf
