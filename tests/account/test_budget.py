from functools import cache
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.account.budget import Accountant, Budget, Spend
from aidos.account.composition import GaussianPart
from aidos.account.gaussian import gaussian_delta
from aidos.account.jointdelta import count_gaussian, count_part
from aidos.core.guarantee import ApproxDP, KAnonymity, Neighbours, NoGuarantee, PureDP, QualityFloor, ZeroConcentratedDP
from aidos.errors import BudgetError, ParameterError

BASIC = Budget(epsilon=1, delta=1e-6, accountant=Accountant.BASIC)
GAUSSIAN = Budget(epsilon=1, delta=1e-6, accountant=Accountant.GAUSSIAN)
BEST = Budget(epsilon=1, delta=1e-6)
ALL = (BASIC, GAUSSIAN, BEST)


@cache
def gaussian_spend(epsilon, delta, items=10):
    return Spend(
        ApproxDP(epsilon=epsilon, delta=delta),
        count_part(count_gaussian(epsilon, delta, items_per_person=items), items),
    )


def fill(budget, spend):
    spends = []
    while len(spends) < 1000:
        try:
            budget.admit(spends, spend)
        except BudgetError:
            break
        spends.append(spend)
    return spends


def test_basic_budgets_add_up():
    spends = fill(BASIC, Spend(ApproxDP(epsilon=0.1, delta=1e-7)))
    assert len(spends) == 10
    assert BASIC.spent(spends) == (pytest.approx(1), pytest.approx(1e-6))


def test_the_gaussian_accountant_lets_more_gaussian_releases_through_and_stays_within_the_budget():
    spend = gaussian_spend(0.1, 2e-8)
    many = fill(GAUSSIAN, spend)
    assert len(many) > 3 * len(fill(BASIC, spend))
    mu = sqrt(sum(spend.part().mu ** 2 for spend in many))
    assert gaussian_delta(1.0, 1.0, mu) + sum(spend.part().delta for spend in many) <= 1e-6 * (1 + 1e-6)
    assert GAUSSIAN.spent(many)[0] <= 1


def test_one_release_may_take_the_whole_budget_under_any_accountant_and_nothing_follows():
    whole = gaussian_spend(1.0, 1e-6)
    for budget in ALL:
        budget.admit([], whole)
        assert budget.spent([whole]) == (1.0, 1e-6)
        with pytest.raises(BudgetError):
            budget.admit([whole], gaussian_spend(0.05, 1e-9))


def test_other_guarantees_join_the_gaussian_accountant_through_a_bound():
    spends = fill(GAUSSIAN, Spend(PureDP(epsilon=0.1)))
    assert 2 < len(spends) <= 10
    with pytest.raises(BudgetError):
        GAUSSIAN.admit([Spend(PureDP(epsilon=0.1))], Spend(ApproxDP(epsilon=0.01, delta=1.1e-6)))
    with pytest.raises(BudgetError):
        GAUSSIAN.admit([gaussian_spend(0.1, 1e-8)], Spend(ZeroConcentratedDP(rho=1e-9)))


@pytest.mark.parametrize("budget", ALL)
def test_no_privacy_never_fits_and_quality_is_free(budget):
    for unprotected in (NoGuarantee("a seed"), KAnonymity(k=5)):
        with pytest.raises(BudgetError):
            budget.admit([], Spend(unprotected))
    full = [Spend(ApproxDP(epsilon=1, delta=1e-6))]
    budget.admit(full, Spend(QualityFloor(measure="nDCG", at_least=0.9)))
    assert budget.spent([*full, Spend(QualityFloor(measure="nDCG", at_least=0.9))]) == (1, 1e-6)


def test_refusals_carry_the_amounts():
    with pytest.raises(BudgetError) as caught:
        BASIC.admit([Spend(PureDP(epsilon=0.75))], Spend(PureDP(epsilon=0.5)))
    assert caught.value.spent == (0.75, 0)
    assert caught.value.asked == (0.5, 0)
    assert caught.value.left == (0.25, 1e-6)


@given(
    st.lists(st.floats(0.01, 1).map(lambda epsilon: Spend(PureDP(epsilon=epsilon))), max_size=30),
    st.lists(st.sampled_from([gaussian_spend(0.3, 1e-8), gaussian_spend(0.7, 1e-7)]), max_size=6),
)
def test_the_best_accountant_takes_the_cheapest_of_the_valid_totals(pure, gaussian):
    spends = [*pure, *gaussian, Spend(ZeroConcentratedDP(rho=1e-4))]
    total = Budget(epsilon=50, delta=1e-6).spent(spends)
    for accountant in (Accountant.BASIC, Accountant.GAUSSIAN):
        epsilon, delta = Budget(epsilon=50, delta=1e-6, accountant=accountant).spent(spends)
        assert total[0] <= epsilon * (1 + 1e-12) or delta > 1e-6
    assert total[1] <= 1e-6


def test_many_pure_releases_cost_less_than_their_sum():
    many = [Spend(PureDP(epsilon=0.1))] * 100
    assert Budget(epsilon=10, delta=1e-6).spent(many)[0] < 5.3
    assert Budget(epsilon=10, delta=0).spent(many) == (pytest.approx(10), 0)


def test_a_refusal_agrees_with_itself_and_says_what_fits():
    budget = Budget(epsilon=2.2, delta=6e-6)
    whole = gaussian_spend(1.0, 1e-6)
    spends = fill(budget, whole)
    assert len(spends) > 3
    with pytest.raises(BudgetError) as caught:
        budget.admit(spends, whole)
    said = str(caught.value)
    for amount in (budget.spent(spends)[0], budget.spent([*spends, whole])[0], 2.2):
        assert f"epsilon = {amount:g}" in said
    fits = caught.value.left[0]
    assert f"epsilon = {fits:g} still fits" in caught.value.hint
    budget.admit(spends, gaussian_spend(0.98 * fits, 1e-6))
    with pytest.raises(BudgetError):
        budget.admit(spends, gaussian_spend(1.1 * fits, 1e-6))
    with pytest.raises(BudgetError) as caught:
        budget.admit(spends, gaussian_spend(1.0, 6e-6))
    assert "no epsilon fits at this delta" in caught.value.hint
    assert "inf" not in str(caught.value)


def test_what_cannot_be_a_budget_is_refused():
    with pytest.raises(ParameterError):
        Budget(epsilon=0, delta=0)
    with pytest.raises(ParameterError, match="Gaussian accountant"):
        Budget(epsilon=1, delta=0, accountant=Accountant.GAUSSIAN)
    with pytest.raises(ParameterError, match="do not add up"):
        BASIC.admit([], Spend(PureDP(epsilon=0.1, neighbours=Neighbours.REPLACE_ONE)))


def test_a_given_gaussian_part_is_preferred_to_the_derived_one():
    given = GaussianPart(mu=0.01)
    assert Spend(PureDP(epsilon=1), given).part() == given
    assert Spend(PureDP(epsilon=1)).part().mu > 0.5
