"""Totals of the ledger against privacy loss distributions, computed by the package dp-accounting.

The package's numbers are recorded, so that they are compared wherever tests run; where it is installed (extra
`peers`), they are computed again.
"""

import pytest
from gaussianparts import compose_gaussian

from aidos.account.budget import Accountant, Budget, Spend
from aidos.account.composition import GaussianPart
from aidos.core.guarantee import PureDP

RECORDED = {
    # parts (mu, chance to show) and pure epsilons; delta; epsilon, which the package rounds up by up to a millionth
    "one": ([(0.2, 0.0)], [], 1e-06, 0.83411756),
    "eight alike": ([(0.2, 0.0)] * 8, [], 1e-06, 2.5822734),
    "three sizes": ([(0.1, 0.0), (0.5, 0.0), (1.0, 0.0)], [], 1e-05, 5.0065362),
    "with thresholds": ([(0.2, 2e-07), (0.3, 1e-07)], [], 1e-06, 1.6046533),
    "large, one with a threshold": ([(1.5, 0.0), (1.5, 1e-07)], [], 1e-06, 11.857175),
    "forty small": ([(0.05, 1e-09)] * 40, [], 1e-07, 1.5512418),
    "thresholds take most of delta": ([(0.3, 4.5e-07), (0.3, 4.5e-07)], [], 1e-06, 2.0844507),
    "pure, few": ([], [0.5] * 4, 1e-06, 1.9999933),
    "pure, many": ([], [0.1] * 100, 1e-06, 4.7745676),
    "mixed": ([(0.2, 1e-07), (0.2, 1e-07), (0.2, 1e-07)], [0.1] * 20, 1e-06, 2.5300881),
    "mostly Gaussian": ([(0.5, 1e-07)] * 4, [0.05] * 2, 1e-06, 5.0068099),
}
ROUNDING = 1 - 1e-6


@pytest.mark.parametrize("name", [name for name, (_, pure, _, _) in RECORDED.items() if not pure])
def test_gaussian_parts_cost_what_their_distributions_say(name):
    parts, _, delta, known = RECORDED[name]
    found = compose_gaussian([GaussianPart(mu=mu, delta=q) for mu, q in parts], delta).epsilon
    assert known * ROUNDING <= found <= 1.01 * known


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("accountant", Accountant)
def test_no_total_is_below_the_distributions(name, accountant):
    parts, pure, delta, known = RECORDED[name]
    spends = [
        Spend(compose_gaussian([GaussianPart(mu=mu, delta=q)], delta), GaussianPart(mu=mu, delta=q)) for mu, q in parts
    ]
    spends += [Spend(PureDP(epsilon=epsilon)) for epsilon in pure]
    found = Budget(epsilon=50, delta=delta, accountant=accountant).spent(spends)[0]
    assert found >= known * ROUNDING
    if accountant is Accountant.BEST:
        assert found <= 1.2 * known


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_the_recorded_numbers_are_those_of_the_package(name):
    pytest.importorskip("dp_accounting", reason="dp-accounting is not installed: pip install 'aidos-search[peers]'")
    assert estimate(name) == pytest.approx(RECORDED[name][3], rel=1e-6)


def estimate(name):
    """Epsilon, by the package."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as distribution

    parts, pure, delta, _ = RECORDED[name]
    fine = {"value_discretization_interval": 1e-4}
    promises = [(epsilon, 0.0) for epsilon in pure] + [(0.0, q) for _, q in parts if q]
    every = [distribution.from_gaussian_mechanism(1 / mu, **fine) for mu, _ in parts]
    every += [
        distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(*promise), **fine)
        for promise in promises
    ]
    whole = every[0]
    for one in every[1:]:
        whole = whole.compose(one)
    return float(whole.get_epsilon_for_delta(delta))
