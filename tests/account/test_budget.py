from math import sqrt

import pytest

from aidos.account.budget import Accountant, Budget, Spend
from aidos.account.composition import GaussianPart, discrete_gaussian_part
from aidos.account.gaussian import gaussian_delta
from aidos.account.thresholds import count_gaussian
from aidos.core.guarantee import ApproxDP, KAnonymity, Neighbours, NoGuarantee, PureDP, QualityFloor
from aidos.errors import BudgetError, ParameterError

BASIC = Budget(epsilon=1, delta=1e-6)
GAUSSIAN = Budget(epsilon=1, delta=1e-6, accountant=Accountant.GAUSSIAN)


def gaussian_spend(epsilon, delta, items=10):
    part = discrete_gaussian_part(
        sigma=count_gaussian(epsilon, delta, items).scale, sensitivity=sqrt(items), delta=delta / 2
    )
    return Spend(ApproxDP(epsilon=epsilon, delta=delta), part)


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


def test_one_release_may_take_the_whole_budget_under_either_accountant_and_nothing_follows():
    whole = gaussian_spend(1.0, 1e-6)
    for budget in (BASIC, GAUSSIAN):
        budget.admit([], whole)
        assert budget.spent([whole]) == (1.0, 1e-6)
        with pytest.raises(BudgetError):
            budget.admit([whole], gaussian_spend(0.05, 1e-9))


def test_other_guarantees_join_the_gaussian_accountant_through_a_bound():
    spends = fill(GAUSSIAN, Spend(PureDP(epsilon=0.1)))
    assert 2 < len(spends) <= 10
    with pytest.raises(BudgetError):
        GAUSSIAN.admit([Spend(PureDP(epsilon=0.1))], Spend(ApproxDP(epsilon=0.01, delta=6e-7)))


@pytest.mark.parametrize("budget", [BASIC, GAUSSIAN])
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
