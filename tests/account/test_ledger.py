from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.account.cost import cost
from aidos.account.ledger import MemoryLedger
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
from aidos.errors import BudgetError, ParameterError


def test_charges_add_up_until_the_budget_is_gone():
    ledger = MemoryLedger(epsilon=1, delta=1e-6)
    for _ in range(10):
        ledger.charge(ApproxDP(epsilon=0.1, delta=1e-7))
    with pytest.raises(BudgetError) as caught:
        ledger.charge(PureDP(epsilon=0.01))
    assert caught.value.asked == (0.01, 0.0)
    assert caught.value.left[0] == pytest.approx(0, abs=1e-9)
    assert len(ledger.entries) == 10


def test_a_refused_charge_changes_nothing():
    ledger = MemoryLedger(epsilon=1, delta=0)
    with pytest.raises(BudgetError):
        ledger.charge(ApproxDP(epsilon=0.5, delta=1e-9))
    assert ledger.spent() == (0, 0)


def test_tiny_deltas_are_not_lost_in_rounding():
    ledger = MemoryLedger(epsilon=1, delta=1e-13)
    with pytest.raises(BudgetError):
        ledger.charge(ApproxDP(epsilon=0.5, delta=2e-13))


@pytest.mark.parametrize("unprotected", [NoGuarantee("a seed was used"), KAnonymity(k=5)])
def test_what_has_no_privacy_guarantee_never_fits(unprotected):
    with pytest.raises(BudgetError):
        MemoryLedger(epsilon=1e9, delta=0.5).charge(unprotected)


def test_quality_floors_are_free():
    ledger = MemoryLedger(epsilon=1, delta=0)
    ledger.charge(QualityFloor(measure="nDCG", at_least=0.9))
    assert ledger.spent() == (0, 0)


def test_costs_of_other_units_or_neighbours_do_not_add_up():
    ledger = MemoryLedger(epsilon=1, delta=0.1)
    for other in (
        ProbabilisticDP(epsilon=0.1, delta=0.01, neighbours=Neighbours.REPLACE_ONE),
        PureDP(epsilon=0.1, unit=Unit("session", "session_id")),
    ):
        with pytest.raises(ParameterError, match="do not add up"):
            ledger.charge(other)


def test_zero_concentrated_cost_is_the_textbook_conversion():
    epsilon, delta = cost(ZeroConcentratedDP(rho=0.1), 1e-6)
    assert delta == 5e-7
    assert epsilon == pytest.approx(0.1 + 2 * sqrt(0.1 * log(1 / 5e-7)))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0, 0), (-1, 0), (float("nan"), 0), (float("inf"), 0), (1, 1), (1, -0.1)]
)
def test_impossible_budgets_are_refused(epsilon, delta):
    with pytest.raises(ParameterError):
        MemoryLedger(epsilon=epsilon, delta=delta)


@given(st.lists(st.floats(0.001, 0.7), max_size=20))
def test_the_sum_of_accepted_charges_never_exceeds_the_budget(epsilons):
    ledger = MemoryLedger(epsilon=1, delta=0)
    for epsilon in epsilons:
        try:
            ledger.charge(PureDP(epsilon=epsilon))
        except BudgetError as refusal:
            assert refusal.spent[0] + epsilon > 1
    assert ledger.spent()[0] <= 1 + 1e-8
