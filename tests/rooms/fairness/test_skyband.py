"""Dominance never loses the optimum, keeps few and takes a million subjects; and the cost that it relies on."""

import time
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from exhaustive import WIDTHS, cost, dcg, make_standing, potential, random_standing
from hypothesis import given
from hypothesis import strategies as st

from aidos.rooms.fairness import solver
from aidos.rooms.fairness.kernels.moves import cost_of_attention, skyband
from aidos.rooms.fairness.rankings import quality
from aidos.rooms.fairness.solver import least_cost

NOBODY_SHARES = np.zeros(0, dtype=np.int64)
balances = st.floats(-1e3, 1e3)
amounts = st.floats(0, 1)
widths = st.sampled_from(WIDTHS) | st.floats(1e-3, 100)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("positions", [2, 3, 5])
def test_the_optimum_stays_when_dominated_subjects_are_dropped(positions, shared, monkeypatch):
    draws = np.random.default_rng(positions)
    for _ in range(60):
        standing = random_standing(draws, subjects=40, positions=positions, shared=shared)
        width = float(draws.choice(WIDTHS))
        among_few = least_cost(standing, width)
        with monkeypatch.context() as patched:
            patched.setattr(solver, "skyband", lambda balance, *_: np.arange(len(balance)))
            among_all = least_cost(standing, width)
        scale = max(1.0, np.abs(standing.balance).max())
        assert cost(standing, among_few, width) == pytest.approx(cost(standing, among_all, width), abs=1e-9 * scale)
        assert dcg(standing, among_few) == pytest.approx(dcg(standing, among_all), abs=1e-8 * scale)


def dominators(standing, subject):
    """Other accounts with a subject that is no less relevant and an account that is owed no less, the definition."""
    gains, balance = standing.gains, standing.balance
    owners = np.arange(len(gains)) if standing.accounts is None else standing.accounts
    better = (gains >= gains[subject]) & (balance <= balance[subject])
    strictly = (gains > gains[subject]) | (balance < balance[subject]) | (np.arange(len(gains)) < subject)
    return set(owners[better & strictly].tolist()) - {int(owners[subject])}


@given(seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 5))
def test_exactly_those_with_enough_dominators_are_dropped(seed, positions):
    standing = random_standing(np.random.default_rng(seed), subjects=30, positions=positions)
    kept = skyband(standing.balance, standing.gains, NOBODY_SHARES, positions)
    few = [subject for subject in range(30) if len(dominators(standing, subject)) < positions]
    assert sorted(kept.tolist()) == few


@given(seed=st.integers(0, 2**32 - 1), positions=st.integers(1, 5))
def test_with_shared_accounts_nobody_is_dropped_without_a_reason(seed, positions):
    standing = random_standing(np.random.default_rng(seed), subjects=30, positions=positions, shared=True)
    kept = set(skyband(standing.balance, standing.gains, standing.accounts, positions).tolist())
    for subject in set(range(30)) - kept:
        own = [each for each in kept if standing.accounts[each] == standing.accounts[subject]]
        enough_of_her_own = sum(standing.gains[each] >= standing.gains[subject] for each in own) >= positions
        assert enough_of_her_own or len(dominators(standing, subject)) >= positions


def test_an_account_does_not_dominate_its_own_subjects():
    # One actor owns all that is good and is owed most: all her best may have to stand there together.
    accounts = np.array([0, 0, 0, 1, 2])
    standing = make_standing([5, 4, 3, 2, 1], [-9, -9, -9, 0, 0], [0.5, 0.3, 0.2], accounts=accounts)
    assert {0, 1, 2} <= set(skyband(standing.balance, standing.gains, accounts, 3).tolist())
    assert least_cost(standing, 0.0).tolist() == [0, 1, 2]


def test_one_account_for_everybody_still_has_an_answer():
    accounts = np.zeros(6, dtype=np.int64)
    standing = make_standing([3, 3, 2, 2, 1, 0], np.full(6, -1.0), [0.6, 0.4], accounts=accounts, quality_floor=1.0)
    assert least_cost(standing, 0.3).tolist() == [0, 1]


def test_equals_that_come_in_the_worst_order_take_no_longer():
    # Equally relevant, and each owed more than the one before: nobody is dominated before they are sorted.
    subjects = 200_000
    balance, gains = -np.arange(subjects, dtype=np.float64), np.ones(subjects)
    skyband(balance[:10], gains[:10], NOBODY_SHARES, 5)
    started = time.perf_counter()
    kept = skyband(balance, gains, NOBODY_SHARES, 5)
    assert time.perf_counter() - started < 1
    assert kept.tolist() == [subjects - place for place in range(1, 6)]


def test_a_million_subjects_leave_few():
    draws = np.random.default_rng(0)
    gains = np.sort(draws.random(1_000_000))[::-1]
    standing = make_standing(gains, draws.normal(size=1_000_000), 0.5 ** np.arange(5), quality_floor=0.9)
    assert len(skyband(standing.balance, standing.gains, NOBODY_SHARES, 5)) < 200
    started = time.perf_counter()
    placed = least_cost(standing, 0.3)
    assert time.perf_counter() - started < 1
    assert quality(standing, placed) >= 0.9
    assert quality(replace(standing, quality_floor=1.0), least_cost(replace(standing, quality_floor=1.0), 0.3)) == 1


@given(first=balances, second=balances, attention=amounts, width=widths)
def test_attention_costs_no_less_where_less_is_owed(first, second, attention, width):
    less, more = sorted((first, second))
    slack = 1e-12 * (1 + max(abs(less), abs(more)) ** (2 if 0 < width < inf else 1))
    assert cost_of_attention(less, attention, width) <= cost_of_attention(more, attention, width) + slack


@given(balance=balances, first=amounts, second=amounts, width=widths)
def test_the_cost_is_convex(balance, first, second, width):
    # Half of two amounts together costs no more than half of what each costs.
    between = cost_of_attention(balance, (first + second) / 2, width)
    ends = (cost_of_attention(balance, first, width) + cost_of_attention(balance, second, width)) / 2
    assert between <= ends + 1e-11 * (1 + balance**2)


@given(balance=balances, attention=amounts, width=widths)
def test_the_cost_is_the_change_of_the_potential(balance, attention, width):
    change = float(potential(balance + attention, width) - potential(balance, width))
    assert cost_of_attention(balance, attention, width) == pytest.approx(change, abs=1e-9 * (1 + balance**2))


@given(balance=balances, attention=amounts)
def test_no_width_is_the_absolute_difference_and_a_wide_one_the_squared(balance, attention):
    absolute = abs(balance + attention) - abs(balance)
    assert cost_of_attention(balance, attention, 0.0) == pytest.approx(absolute, abs=1e-12)
    squared = (balance + attention) ** 2 - balance**2
    assert cost_of_attention(balance, attention, inf) == pytest.approx(squared, abs=1e-9)
    assert 2e6 * cost_of_attention(balance, attention, 1e6) == pytest.approx(squared, abs=1e-6)


@given(depth=st.floats(2, 1e12), attention=amounts, width=st.floats(0, 1))
def test_far_from_balance_the_cost_is_the_attention_itself_to_the_last_bit(depth, attention, width):
    assert cost_of_attention(-depth, attention, width) == -attention
    assert cost_of_attention(depth, attention, width) == attention
