"""The two bounds of the theory card: nobody ends below the stationary rate, and the adaptive cost stays close to it."""

import numpy as np
import pytest

from aidos.model.attention import find_attention
from aidos.rooms.fairness.course import Scenario, simulate
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import gains, normalise
from aidos.rooms.fairness.reranker import METHODS
from oracles.fairness import stationary_bound

SUBJECTS = 30
RANKINGS = 300


def scenario_of(relevance):
    names = tuple(map(str, range(len(relevance))))
    return Scenario(name="drawn", subject_ids=names, relevance=relevance[None, :], queries=("drawn",))


def draw(kind, stream):
    match kind:
        case "linear":
            return np.arange(SUBJECTS, 0, -1.0)
        case "lognormal":
            return np.sort(stream.lognormal(0.0, 1.0, SUBJECTS))[::-1].copy()
        case _:
            return np.sort(np.round(20 + 80 * stream.beta(6.0, 0.9, SUBJECTS)))[::-1].copy()


@pytest.mark.parametrize("kind", ["linear", "lognormal", "ratings"])
@pytest.mark.parametrize("floor", [0.8, 0.95])
@pytest.mark.parametrize("attention", ["geometric:share=0.5,positions=3", "singular"])
def test_every_method_that_keeps_the_floor_ends_between_the_bounds(kind, floor, attention):
    relevance = draw(kind, np.random.default_rng(5))
    weights, shares = find_attention(attention).weights(relevance / relevance[0]), normalise(relevance)
    bound = stationary_bound(shares, gains(relevance), weights, floor)
    assert bound.rate <= bound.best_found <= bound.rate + 1e-4
    equity = EquityOfAttention(attention=attention, quality_floor=floor)
    finals = {
        name: simulate(scenario_of(relevance), equity, method=name, rankings=RANKINGS).final
        for name, method in METHODS.items()
        if method.keeps_floor and name != "thesis"
    }
    assert min(finals.values()) >= RANKINGS * bound.rate - 1e-6
    spread = float(np.sqrt(weights @ weights))
    excess = 4 * (spread**2 + shares @ shares) / spread + spread / 2
    assert finals["adaptive"] <= RANKINGS * bound.best_found + excess * np.sqrt(SUBJECTS * RANKINGS)


def test_the_adaptive_rate_approaches_the_bound_where_the_others_do_not():
    relevance = np.arange(20, 0, -1.0)
    attention = "geometric:share=0.5,positions=3"
    weights = find_attention(attention).weights(relevance / relevance[0])
    least = stationary_bound(normalise(relevance), gains(relevance), weights, 0.9).rate
    equity = EquityOfAttention(attention=attention, quality_floor=0.9)

    def rate(method, rankings):
        return simulate(scenario_of(relevance), equity, method=method, rankings=rankings).final / rankings

    assert rate("adaptive", 4000) - least < 0.5 * (rate("adaptive", 400) - least)
    assert rate("adaptive", 4000) < 1.01 * least
    assert rate("absolute", 4000) > 1.05 * least
    assert rate("squared", 4000) > 1.05 * least
