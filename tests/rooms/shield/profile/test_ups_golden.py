"""The worked example of the spec, to four decimals."""

import numpy as np
import pytest
from ups_cases import golden

from aidos.rooms.shield.profile.exact import exact
from aidos.rooms.shield.profile.kernels.trees import content
from aidos.rooms.shield.profile.prune import greedy_dp, greedy_il, ratio_greedy, stand, trace

FIGURES = {"abs": 5e-5}
WAY = ["EaglesNFL", "Football", "Figure", "IceSkating", "Sports", "EaglesBand", "Music", "Arts"]


@pytest.fixture(scope="module")
def case():
    return golden()


@pytest.fixture(scope="module")
def seed(case):
    return case.seed


def test_costs_are_spread_bottom_up(case):
    costs = {name: case.layer.costs[case.tree.places[name]] for name in case.tree.ids}
    assert costs["root"] == pytest.approx(1.0)
    assert costs["Sports"] == pytest.approx(0.5)
    assert costs["Health"] == pytest.approx(2.5)
    assert costs["IceSkating"] == pytest.approx(1.0)
    assert costs["Speed"] == costs["Arts"] == 0


def test_the_seed_and_its_preferences(case, seed):
    assert case.names(seed, range(len(seed))) == [
        "root", "Arts", "Music", "EaglesBand", "Sports", "Football", "EaglesNFL", "IceSkating", "Figure",
    ]  # fmt: skip
    assert seed.arrays.masses[seed.leaves] == pytest.approx([0.5455, 0.2727, 0.1818], **FIGURES)
    told = sum(content(seed.arrays.masses[leaf], seed.arrays.rests[leaf]) for leaf in seed.leaves)
    assert told == pytest.approx(1.3794, **FIGURES)
    assert seed.arrays.anchor == 0


def test_power_and_both_risks_of_the_seed(seed):
    whole = np.ones(len(seed), dtype=bool)
    assert stand(seed, whole) == pytest.approx((0.2905, 0.3056), **FIGURES)
    assert stand(seed, whole, "paper").risk == pytest.approx(2 / 7)


def test_information_losses_of_the_leaves(case, seed):
    whole = seed.scale * stand(seed, np.ones(len(seed), dtype=bool)).power
    for name, loss in (("EaglesBand", 0.3781), ("EaglesNFL", 0.0785), ("Figure", 0.1260)):
        after = trace(seed, case.rows(seed, [name]))[0].power * seed.scale
        assert whole - after == pytest.approx(loss, **FIGURES)


def test_power_and_risk_along_the_way_to_the_root(case, seed):
    way = case.rows(seed, WAY)
    found = trace(seed, way)
    powers = [0.2740, 0.2740, 0.2474, 0.2455, 0.1791, 0.0995, 0.0199, 0]
    assert [one.power for one in found] == pytest.approx(powers, **FIGURES)
    excess = [0.3056, 0.3056, 0.1389, 0.0556, 0, 0, 0, 0]
    assert [one.risk for one in found] == pytest.approx(excess, **FIGURES)
    paper = [0.2857, 0.2857, 0.1429, 0.0714, 0, 0, 0, 0.1429]
    assert [one.risk for one in trace(seed, way, "paper")] == pytest.approx(paper, **FIGURES)


@pytest.mark.parametrize("prune", [greedy_dp, greedy_il])
@pytest.mark.parametrize(("limit", "steps"), [(0.3056, 0), (0.305, 3), (0.1, 4), (0.05, 5), (0.0, 5)])
def test_greedy_takes_the_way_of_the_spec(case, seed, prune, limit, steps):
    found = prune(seed, limit)
    assert case.names(seed, found.steps) == WAY[:steps]
    assert found.iterations == steps


@pytest.mark.parametrize("prune", [greedy_dp, greedy_il, ratio_greedy, exact])
def test_nobody_loops_for_ever_where_the_papers_risk_cannot_be_met(case, seed, prune):
    # At the root the paper's risk is back at 1/7; 0 is reached on the way and every algorithm stops there.
    assert prune(seed, 0.0, "paper").risk == pytest.approx(0.0)


def test_whole_subtrees_are_worth_more(case, seed):
    for prune in (ratio_greedy, exact):
        found = prune(seed, 0.1)
        assert case.names(seed, found.steps) == ["IceSkating"]
        assert found.power == pytest.approx(0.2639, **FIGURES)
        assert found.risk == pytest.approx(0.0556, **FIGURES)
