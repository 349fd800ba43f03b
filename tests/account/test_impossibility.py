from math import exp

import pytest

from aidos.account.impossibility import Impossibility
from aidos.errors import ParameterError

PAPER = {"people": 1_000_000, "items_per_person": 10, "epsilon": 1.0, "threshold": 50, "domain": 5.3e35}


def test_the_example_of_the_paper():
    example = Impossibility(**PAPER)
    formula = 1e7 * (2 * exp(10) / (0.01 * 50) + 1 / 51)
    assert example.printed.domain_that_suffices == pytest.approx(formula)
    assert example.printed.domain_that_suffices < 5.3e35
    assert example.printed.wrong_items > example.most_very_frequent_items == 2e5


def test_the_example_survives_the_correction_for_counts_of_people():
    example = Impossibility(**PAPER)
    assert example.proven.chance_of_any_item == pytest.approx(0.01 * exp(-50))
    assert example.proven.domain_that_suffices == pytest.approx(1e7 * (2 * exp(50) / 0.5 + 1 / 51))
    assert example.proven.domain_that_suffices < 5.3e35
    assert example.nothing_is_better()


def test_from_the_domain_that_suffices_on_nothing_is_better():
    enough = Impossibility(**PAPER).proven.domain_that_suffices
    assert Impossibility(**PAPER | {"domain": enough}).nothing_is_better()
    assert not Impossibility(**PAPER | {"domain": enough / 10}).nothing_is_better()


def test_a_large_epsilon_or_a_small_domain_is_not_ruled_out():
    assert not Impossibility(**PAPER | {"epsilon": 100.0}).nothing_is_better()
    assert not Impossibility(**PAPER | {"domain": 1e6}).nothing_is_better()


@pytest.mark.parametrize(
    "change", [{"people": 0}, {"epsilon": 0}, {"epsilon": float("nan")}, {"accuracy": 2}, {"slack": 30}, {"people": 40}]
)
def test_impossible_settings_are_refused(change):
    with pytest.raises(ParameterError):
        Impossibility(**PAPER | change)
