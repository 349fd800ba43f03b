import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_cases import enumerated_optimum, geometric, legal_orders, query_of

from aidos.errors import EngineError, ParameterError
from aidos.rooms.fairness.programs import ThesisProgram
from aidos.rooms.fairness.rankings import Standing
from oracles.fairness import stationary_bound
from oracles.hindsight import offline_optimum

FLOORS = [0.0, 0.8, 0.9, 1.0]
RELEVANCES = st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any)


@given(st.lists(RELEVANCES, min_size=1, max_size=3), st.integers(1, 2), st.sampled_from(FLOORS))
@settings(max_examples=40)
def test_no_sequence_is_fairer(several, positions, floor):
    rankings, attention = [query_of(each) for each in several], geometric(positions)
    best = offline_optimum(rankings, attention, floor)
    assert best.unfairness == pytest.approx(enumerated_optimum(rankings, attention, floor), abs=1e-9)
    for (_, gains), placed in zip(rankings, best.rankings, strict=True):
        assert placed.tolist() in [order.tolist() for order in legal_orders(gains, positions, floor)]


def served_online(policy, query, attention, floor, rankings):
    relevance, gains = query
    received = np.zeros(len(relevance))
    for number in range(rankings):
        standing = Standing(
            relevance=relevance,
            gains=gains,
            attention=attention,
            received=received.copy(),
            earned=(number + 1) * relevance,
            quality_floor=floor,
        )
        received[policy.place(standing)] += attention
    return float(np.abs(received - rankings * relevance).sum())


@pytest.mark.parametrize("objective", ["absolute", "squared"])
@pytest.mark.parametrize("floor", [0.8, 0.9, 0.95])
def test_stationary_bound_then_hindsight_then_online(floor, objective):
    relevance, gains = query_of([6, 5, 4, 2, 1])
    attention, rankings = geometric(2), 5
    rate = stationary_bound(relevance, gains, attention, floor).rate
    best = offline_optimum([(relevance, gains)] * rankings, attention, floor).unfairness
    online = served_online(ThesisProgram(objective=objective), (relevance, gains), attention, floor, rankings)
    assert rate * rankings <= best + 1e-9
    assert best <= online + 1e-9


def test_no_time_is_an_error():
    rankings = [query_of(np.random.default_rng(seed).random(12)) for seed in range(12)]
    with pytest.raises(EngineError):
        offline_optimum(rankings, geometric(3), 0.9, seconds=1e-9)


def test_impossible_settings_are_refused():
    with pytest.raises(ParameterError):
        offline_optimum([], np.ones(1), 0.5)
    with pytest.raises(ParameterError):
        offline_optimum([query_of([1, 2])], np.ones(1), 2.0)
