from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.account.composition import GaussianPart, compose, compose_gaussian, discrete_gaussian_part, part_of
from aidos.account.gaussian import gaussian_delta
from aidos.account.thresholds import count_gaussian
from aidos.core.guarantee import (
    ApproxDP,
    KAnonymity,
    Neighbours,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    Unit,
    ZeroConcentratedDP,
)
from aidos.errors import ParameterError

REPLACE = Neighbours.REPLACE_ONE


def test_epsilons_and_deltas_add_up_and_the_kind_is_the_weakest():
    assert compose([PureDP(epsilon=1), PureDP(epsilon=0.5)]) == PureDP(epsilon=1.5)
    assert compose([PureDP(epsilon=1), ApproxDP(epsilon=0.5, delta=1e-6)]) == ApproxDP(epsilon=1.5, delta=1e-6)
    pure = PureDP(epsilon=1, neighbours=REPLACE)
    assert compose([pure, ProbabilisticDP(epsilon=1, delta=1e-3)]) == ProbabilisticDP(epsilon=2, delta=1e-3)
    approx = ApproxDP(epsilon=1, delta=1e-6, neighbours=REPLACE)
    assert compose([approx, ProbabilisticDP(epsilon=1, delta=1e-3)]) == ApproxDP(
        epsilon=2, delta=1e-3 + 1e-6, neighbours=REPLACE
    )


def test_zero_concentrated_parts_add_up_and_are_converted_only_where_they_must():
    assert compose([ZeroConcentratedDP(rho=0.5), PureDP(epsilon=1)]) == ZeroConcentratedDP(rho=1.0)
    mixed = [ZeroConcentratedDP(rho=0.5), ApproxDP(epsilon=1, delta=1e-6)]
    with pytest.raises(ParameterError, match="delta"):
        compose(mixed)
    assert compose(mixed, delta=1e-6).delta == pytest.approx(1.5e-6)


def test_where_one_part_promises_nothing_neither_does_the_whole():
    assert isinstance(compose([PureDP(epsilon=1), KAnonymity(k=5)]), NoGuarantee)
    assert compose([PureDP(epsilon=1), NoGuarantee("a seed")]) == NoGuarantee("a seed")


def test_quality_is_free_and_one_part_stays_as_it_is():
    assert compose([QualityFloor(measure="nDCG", at_least=0.9), PureDP(epsilon=1)]) == PureDP(epsilon=1)
    assert compose([KAnonymity(k=5)]) == KAnonymity(k=5)


@pytest.mark.parametrize(
    "others", [[PureDP(epsilon=1, neighbours=REPLACE)], [PureDP(epsilon=1, unit=Unit("session", "session_id"))], []]
)
def test_what_does_not_add_up_is_refused(others):
    with pytest.raises(ParameterError):
        compose([PureDP(epsilon=1), *others, PureDP(epsilon=1)] if others else [])


@given(st.lists(st.floats(0.05, 2), min_size=1, max_size=6))
def test_gaussian_parts_compose_to_the_curve_of_the_root_of_squares(mus):
    together = compose_gaussian([GaussianPart(mu=mu) for mu in mus], 1e-5)
    mu = sqrt(sum(mu**2 for mu in mus))
    assert gaussian_delta(together.epsilon, 1.0, mu) <= 1e-5
    assert gaussian_delta(max(together.epsilon * (1 - 1e-6) - 1e-6, 0), 1.0, mu) > 1e-5 * (1 - 1e-3)


def test_eight_releases_cost_less_together_than_by_adding_up():
    found = count_gaussian(0.5, 1e-7, 10)
    part = discrete_gaussian_part(sigma=found.scale, sensitivity=sqrt(10), delta=0.5e-7)
    together = compose_gaussian([part] * 8, 1e-6)
    basic = compose([ApproxDP(epsilon=0.5, delta=1e-7)] * 8)
    assert together.delta > basic.delta
    assert together.epsilon < 0.45 * basic.epsilon


def test_thresholds_that_use_up_delta_are_refused():
    with pytest.raises(ParameterError, match="thresholds"):
        compose_gaussian([GaussianPart(mu=1, delta=1e-6)], 1e-6)
    with pytest.raises(ParameterError, match="too small"):
        discrete_gaussian_part(sigma=1.0, sensitivity=1.0)


@given(st.floats(0.01, 20))
def test_a_pure_promise_is_bounded_by_its_gaussian_part(epsilon):
    mu = part_of(PureDP(epsilon=epsilon)).mu
    # Randomised response is the worst epsilon-DP mechanism: its delta at every smaller epsilon is below the Gaussian's.
    for smaller in (0.0, epsilon / 4, epsilon / 2, epsilon * 0.99):
        response = (exp(epsilon) - exp(smaller)) / (1 + exp(epsilon))
        assert response <= gaussian_delta(smaller, 1.0, mu) * (1 + 1e-12)


def test_parts_of_other_guarantees():
    assert part_of(ApproxDP(epsilon=1, delta=1e-6)).delta == 1e-6
    assert part_of(QualityFloor(measure="nDCG", at_least=0.9)) == GaussianPart(mu=0.0)
    for unbounded in (NoGuarantee("why"), KAnonymity(k=2), ZeroConcentratedDP(rho=1)):
        with pytest.raises(ParameterError):
            part_of(unbounded)
    with pytest.raises(ParameterError):
        GaussianPart(mu=-1)
