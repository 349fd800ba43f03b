from itertools import product
from math import exp, expm1, inf, log1p, sqrt

import pytest
from gaussianparts import compose_gaussian, discrete_gaussian_part
from hypothesis import given
from hypothesis import strategies as st

from aidos.account.composition import (
    GaussianPart,
    compose,
    joint_delta,
    joint_epsilon,
    part_of,
)
from aidos.account.gaussian import gaussian_delta, normal_tail
from aidos.account.jointdelta import count_gaussian
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


def test_thresholds_that_use_up_delta_leave_no_epsilon():
    assert joint_epsilon(1e-6, [GaussianPart(mu=1, delta=1e-6)]) == inf


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


def one_case(epsilon, mu, q):
    if mu < 1e-9:
        return q
    with_her = q + (1 - q) * gaussian_delta(epsilon - log1p(-q), 1.0, mu)
    return max(with_her, gaussian_delta(max(epsilon + log1p(-q), 0), 1.0, mu))


def counts_with_threshold(sigma, threshold, items):
    """Of so many items, k are only hers: they show with chance q_k, and the rest hides in the noise of others."""
    shows = normal_tail((threshold - 0.5) / sigma)  # of discrete noise, nearly
    cases = [(sqrt(items - k) / sigma, 1 - (1 - shows) ** k) for k in range(items + 1)]
    return GaussianPart(mu=cases[0][0], delta=cases[-1][1], cases=tuple(cases))


def test_nobody_pays_for_noise_and_threshold_in_full():
    part = counts_with_threshold(13.36, 70, 10)
    box = GaussianPart(mu=part.mu, delta=part.delta)
    assert joint_delta(1.0, [part]) == pytest.approx(9.9987e-7, rel=0.05)
    assert joint_delta(1.0, [box]) > 1.3 * joint_delta(1.0, [part])
    assert joint_epsilon(1e-6, [part]) < joint_epsilon(1e-6, [box])


CASES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e-5)), min_size=1, max_size=6).map(
    lambda cases: GaussianPart(mu=max(mu for mu, _ in cases), delta=max(q for _, q in cases), cases=tuple(cases))
)


@given(st.lists(CASES, min_size=1, max_size=3), st.floats(1e-4, 4))
def test_the_worst_sum_of_one_case_per_part_counts(parts, epsilon):
    worst = 0.0
    for chosen in product(*(part.cases for part in parts)):
        # 1 - (1 - q1)(1 - q2)..., without losing the digits of small chances.
        shows_up = -expm1(sum(log1p(-shows) for _, shows in chosen))
        mu = sqrt(sum(mu**2 for mu, _ in chosen))
        worst = max(worst, one_case(epsilon, mu, shows_up))
    # Thinning rounds the chance of showing up, by at most a sixtieth of the largest per doubling of the parts.
    assert worst * (1 - 1e-9) - 1e-18 <= joint_delta(epsilon, parts)
    assert joint_delta(epsilon, parts) <= worst * (1 + 1e-6) + sum(part.delta for part in parts) / 20 + 1e-9


def test_many_cases_are_thinned_upwards_and_stay_close():
    part = counts_with_threshold(60.0, 350, 100)
    thinned = joint_delta(1.0, [part] * 4)
    # Four equal parts are worst where k is alike in all, up to one.
    worst = max(
        one_case(1.0, sqrt(sum(mu**2 for mu, _ in chosen)), 1 - prod_of(1 - q for _, q in chosen))
        for k in range(100)
        for chosen in product(*[part.cases[k : k + 2]] * 4)
    )
    assert worst <= thinned <= 1.05 * worst


def prod_of(values):
    whole = 1.0
    for value in values:
        whole *= value
    return whole


@given(CASES, st.floats(1e-9, 1e-3))
def test_epsilon_and_delta_are_two_ways_to_read_one_curve(part, delta):
    epsilon = joint_epsilon(delta, [part, part])
    if epsilon < float("inf"):
        assert joint_delta(epsilon, [part, part]) <= delta
        assert epsilon == 0 or joint_delta(epsilon * (1 - 1e-9), [part, part]) > delta * (1 - 1e-6)
    else:
        assert 2 * part.delta >= delta * (1 - 1e-3)


def test_cases_stay_within_their_part():
    with pytest.raises(ParameterError, match="outside"):
        GaussianPart(mu=1, delta=1e-6, cases=((2.0, 0.0),))
    assert joint_delta(1.0, []) == 0
    assert joint_epsilon(1e-6, []) == 0
