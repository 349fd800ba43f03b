"""The one door: promise, charge, run, wrap."""

from dataclasses import dataclass

import pytest

from aidos.account.ledger import MemoryLedger
from aidos.core.guarantee import NoGuarantee, PureDP, QualityFloor
from aidos.core.noise import Noise
from aidos.errors import BudgetError
from aidos.jobs.release import release


@dataclass(frozen=True)
class CoinFlips:
    """A real mechanism: every bit is kept with probability 3/4 (randomised response, epsilon = ln 3)."""

    epsilon: float = 1.0986122886681098

    def guarantee(self, facts):
        return PureDP(epsilon=self.epsilon)

    def run(self, data, noise):
        return [bit ^ (noise.bits.randrange(4) == 0) for bit in data]


@dataclass(frozen=True)
class Explodes(CoinFlips):
    def run(self, data, noise):
        raise RuntimeError("disk on fire")


class Reversed:
    def guarantee(self, facts):
        return QualityFloor(measure="nDCG", at_least=0.5)

    def run(self, data, noise):
        return data[::-1]


def test_a_charged_release_with_the_systems_noise_keeps_its_promise():
    ledger = MemoryLedger(epsilon=2, delta=0)
    made = release(CoinFlips(), [0, 1] * 50, ledger=ledger)
    assert made.guarantee == PureDP(epsilon=CoinFlips().epsilon)
    assert made.noise_source == "operating system"
    assert ledger.spent() == (CoinFlips().epsilon, 0)


def test_a_seed_takes_the_promise_away():
    made = release(CoinFlips(), [0], ledger=MemoryLedger(epsilon=2, delta=0), noise=Noise(7))
    assert isinstance(made.guarantee, NoGuarantee)
    assert "seed" in made.guarantee.reason


def test_without_a_ledger_nothing_is_promised():
    made = release(CoinFlips(), [0], ledger=None)
    assert isinstance(made.guarantee, NoGuarantee)


def test_a_quality_floor_needs_no_ledger():
    assert release(Reversed(), [1, 2], ledger=None).guarantee == QualityFloor(measure="nDCG", at_least=0.5)


def test_overspending_is_refused_before_the_data_are_read():
    with pytest.raises(BudgetError):
        release(Explodes(), [0], ledger=MemoryLedger(epsilon=1, delta=0))


def test_a_crash_after_the_charge_never_gives_budget_back():
    ledger = MemoryLedger(epsilon=2, delta=0)
    with pytest.raises(RuntimeError):
        release(Explodes(), [0], ledger=ledger)
    assert ledger.spent()[0] > 1
