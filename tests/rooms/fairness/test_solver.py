"""The exact solver against every answer tried out, against the integer programs, and where numbers are nearly equal."""

from dataclasses import replace
from itertools import permutations
from math import inf

import numpy as np
import pytest
from exhaustive import WIDTHS, all_answers, cost, dcg, make_standing, potential, random_standing
from hypothesis import given
from hypothesis import strategies as st

from aidos.rooms.fairness import solver
from aidos.rooms.fairness.kernels.pareto import GAVE_UP, NO_ANSWER, Moves, cheapest_moves
from aidos.rooms.fairness.programs import ThesisProgram
from aidos.rooms.fairness.rankings import discounts, quality
from aidos.rooms.fairness.solver import best_by_program, best_quality, cheapest, least_cost

CLOSE = 1e-9


def least_cost_by_trying(standing, width):
    """Cost and DCG of the best answer: least cost, of equals the best quality."""
    costs, values = all_answers(standing, width)
    enough = standing.quality_floor * dcg(standing, range(len(standing.attention))) - 1e-11
    scale = max(1.0, np.abs(costs).max())
    costs, values = costs[values >= enough], values[values >= enough]
    least = costs.min()
    return least, values[costs <= least + CLOSE * scale].max(), scale


def check_least_cost(standing, width):
    placed = least_cost(standing, width)
    assert len(set(placed.tolist())) == len(standing.attention)
    least, best, scale = least_cost_by_trying(standing, width)
    assert cost(standing, placed, width) == pytest.approx(least, abs=CLOSE * scale)
    assert dcg(standing, placed) == pytest.approx(best, abs=CLOSE * scale)
    assert quality(standing, placed) >= standing.quality_floor - 1e-9


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_least_cost_is_what_trying_everything_finds(width, shared):
    draws = np.random.default_rng(1)
    for _ in range(120):
        positions = int(draws.integers(1, 5))
        subjects = int(draws.integers(positions, 7 if positions == 4 else 8))
        check_least_cost(random_standing(draws, subjects=subjects, positions=positions, shared=shared), width)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_best_quality_is_what_trying_everything_finds(width, shared):
    draws = np.random.default_rng(2)
    out_of_reach = 0
    for _ in range(60):
        positions = int(draws.integers(1, 4))
        standing = random_standing(draws, subjects=6, positions=positions, shared=shared)
        costs, values = all_answers(standing, width)
        scale = max(1.0, np.abs(costs).max())
        most = float(draws.choice(costs) + draws.choice([-0.05, 0.0, 1e-6]) * scale)
        within = costs <= most + 1e-10 * scale
        placed = best_quality(standing, width, most)
        out_of_reach += placed is None
        assert (placed is None) == (not within.any())
        if placed is not None:
            best = values[within].max()
            assert dcg(standing, placed) == pytest.approx(best, abs=CLOSE)
            least = costs[within & (values >= best - CLOSE)].min()
            assert cost(standing, placed, width) == pytest.approx(least, abs=CLOSE * scale)
    assert out_of_reach > 0


@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from(WIDTHS), shared=st.booleans())
def test_any_small_standing_gets_the_least_cost(seed, width, shared):
    check_least_cost(random_standing(np.random.default_rng(seed), subjects=6, positions=3, shared=shared), width)


@pytest.mark.parametrize("positions", [5, 6, 7, 8, 9])
def test_search_and_integer_program_agree_on_more_positions(positions, monkeypatch):
    draws = np.random.default_rng(positions)
    for subjects in (positions, 30, 200):
        for width in (0.3, inf):
            standing = random_standing(draws, subjects=subjects, positions=positions)
            placed, by_program = least_cost(standing, width), program_alone(standing, width, monkeypatch)
            scale = max(1.0, np.abs(standing.balance).max())
            assert cost(standing, placed, width) == pytest.approx(cost(standing, by_program, width), abs=1e-8 * scale)
            assert quality(standing, placed) >= standing.quality_floor - 1e-9


def program_alone(standing, width, monkeypatch):
    """The integer program on the moves of everybody: neither dominance nor search."""
    with monkeypatch.context() as patched:
        patched.setattr(solver, "skyband", lambda balance, *_: np.arange(len(balance)))
        patched.setattr(solver, "cheapest_moves", lambda *_: np.array([GAVE_UP]))
        return least_cost(standing, width)


def test_the_compressed_solver_equals_the_n_by_n_program():
    draws = np.random.default_rng(3)
    for number in range(220):
        positions = int(draws.integers(1, 6))
        standing = random_standing(draws, subjects=int(draws.integers(positions, 13)), positions=positions)
        if np.abs(standing.balance).max() > 50:
            standing = replace(standing, received=standing.received / 100, earned=standing.earned / 100)
        objective, width = (("absolute", 0.0), ("squared", inf))[number % 2]
        theirs = ThesisProgram(candidates=None, objective=objective).place(standing)
        ours = least_cost(standing, width)
        assert cost(standing, ours, width) == pytest.approx(cost(standing, theirs, width), abs=1e-7)


@pytest.mark.parametrize("shared", [False, True])
def test_a_search_that_gives_up_hands_over_to_the_integer_program(shared, monkeypatch):
    answers = []

    def watched(*arguments):
        answers.append(cheapest_moves(*arguments))
        return answers[-1]

    monkeypatch.setattr(solver, "cheapest_moves", watched)
    standing = hard_for_the_search(100, shared=shared)
    by_search = least_cost(standing, 1.0)
    assert answers[-1][0] >= 0
    monkeypatch.setattr(solver, "MOST_LABELS", 10)
    by_program = least_cost(standing, 1.0)
    assert answers[-1].tolist() == [GAVE_UP]
    assert cost(standing, by_program, 1.0) == pytest.approx(cost(standing, by_search, 1.0), abs=1e-8)
    assert dcg(standing, by_program) == pytest.approx(dcg(standing, by_search), abs=1e-5)


def hard_for_the_search(subjects, *, shared):
    """Who is less relevant is owed more: nobody is dominated, and there is much to weigh."""
    falling = np.linspace(0.5, -0.5, subjects)
    accounts = np.arange(subjects) // 2 if shared else None
    balance = falling if accounts is None else falling[::2][accounts]
    attention = 0.5 ** np.arange(5)
    return make_standing(1.5 + falling, balance, attention, quality_floor=0.8, accounts=accounts)


@pytest.mark.parametrize("width", [0.0, 1.0, inf])
def test_nine_positions_are_right_when_every_order_is_tried(width):
    standing = replace(random_standing(np.random.default_rng(5), subjects=9, positions=9), quality_floor=0.9)
    orders = np.array(list(permutations(range(9))), dtype=np.int8)
    values = standing.gains[orders] @ discounts(9)
    owed = standing.balance[:, None]
    table = potential(owed + standing.attention, width) - potential(owed, width)
    costs = table[orders, np.arange(9)].sum(axis=1)
    placed = least_cost(standing, width)
    least = costs[values >= 0.9 * values[0] - 1e-11].min()
    assert cost(standing, placed, width) == pytest.approx(least, abs=1e-8 * max(1.0, np.abs(costs).max()))
    assert quality(standing, placed) >= 0.9 - 1e-9


@pytest.mark.parametrize("positions", [3, 10])
def test_of_equal_costs_the_best_quality_wins(positions):
    # Everybody is owed a lot: in absolute terms every order is as good, so nobody may lose quality for nothing.
    standing = make_standing(np.linspace(2, 1, 30), np.full(30, -5.0), 0.5 ** np.arange(positions))
    assert least_cost(standing, 0.0).tolist() == list(range(positions))


@pytest.mark.parametrize("positions", [3, 5, 9])
def test_subjects_that_are_nearly_equal_do_not_confuse_it(positions):
    draws = np.random.default_rng(6)
    for step in 10.0 ** -np.arange(3, 15):
        for _ in range(8 if positions < 9 else 1):
            gains = np.sort(1 + step * draws.random(positions + 4))[::-1]
            balance = draws.normal(size=positions + 4) * draws.choice([1.0, 30.0, 1e6])
            for floor in (1.0, 1 - step / 3):
                standing = make_standing(gains, balance, draws.random(positions), quality_floor=floor)
                assert quality(standing, least_cost(standing, 0.3)) >= floor - 5e-11


def test_nearly_equal_subjects_still_get_the_least_cost():
    draws = np.random.default_rng(7)
    for _ in range(60):
        step = 10.0 ** -draws.integers(6, 13)
        gains = np.sort(1 + step * draws.random(6))[::-1]
        standing = make_standing(gains, draws.normal(size=6), draws.random(3))
        costs, values = all_answers(standing, 1.0)
        standing = replace(standing, quality_floor=min(1.0, float(draws.choice(values) / values[0])))
        enough = standing.quality_floor * values[0]
        found = cost(standing, least_cost(standing, 1.0), 1.0)
        # What lies within the tolerance of the floor may be taken or left.
        assert costs[values >= enough - 5e-11].min() - CLOSE <= found <= costs[values >= enough].min() + CLOSE


@pytest.mark.parametrize("positions", [1, 2, 4])
def test_priced_attention_costs_what_trying_everything_finds(positions):
    draws = np.random.default_rng(8)
    for _ in range(80):
        gains = np.sort(draws.random(6))[::-1]
        prices = np.round(draws.normal(size=6), int(draws.integers(0, 4)))
        attention = draws.random(positions)
        floor = float(draws.choice([0, 0.5, 0.8, 0.97, 1]))
        orders = np.array(list(permutations(range(6), positions)))
        values = gains[orders] @ discounts(positions)
        costs = prices[orders] @ attention
        placed = cheapest(prices, gains, attention, floor)
        assert prices[placed] @ attention == pytest.approx(costs[values >= floor * values[0] - 1e-12].min(), abs=CLOSE)
        assert gains[placed] @ discounts(positions) >= floor * values[0] - 1e-10


@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from(WIDTHS))
def test_the_order_among_equals_changes_neither_cost_nor_quality(seed, width):
    draws = np.random.default_rng(seed)
    standing = random_standing(draws, subjects=40, positions=4)
    order = np.lexsort((draws.random(40), -standing.gains))
    shuffled = replace(
        standing,
        relevance=standing.relevance[order],
        gains=standing.gains[order],
        received=standing.received[order],
        earned=standing.earned[order],
    )
    first, second = least_cost(standing, width), least_cost(shuffled, width)
    scale = max(1.0, np.abs(standing.balance).max())
    assert cost(standing, first, width) == pytest.approx(cost(shuffled, second, width), abs=CLOSE * scale)
    assert dcg(standing, first) == pytest.approx(dcg(shuffled, second), abs=1e-8 * scale)


@pytest.mark.parametrize("positions", [1, 5, 9])
def test_asked_twice_it_answers_the_same(positions):
    standing = random_standing(np.random.default_rng(9), subjects=80, positions=positions)
    assert least_cost(standing, 0.3).tolist() == least_cost(standing, 0.3).tolist()


def test_a_ceiling_out_of_reach_has_no_answer_with_few_positions_or_many():
    for positions in (1, 4, 9):
        standing = random_standing(np.random.default_rng(10), subjects=20, positions=positions)
        assert best_quality(standing, 0.0, -2.0) is None


def test_a_limit_out_of_reach_has_no_answer_by_search_or_by_program():
    numbers = np.array([0.6, 0.4, 0.6, 0.4])
    moves = Moves(masks=np.array([1, 2, 1, 2]), costs=numbers, burdens=-numbers, first=np.array([0, 2, 4]))
    for answer in (cheapest_moves(moves, -1.5, 2, 1000), best_by_program(moves, -1.5, 2)):
        assert answer.tolist() == [NO_ANSWER]
    for answer in (cheapest_moves(moves, -1.0, 2, 1000), best_by_program(moves, -1.0, 2)):
        assert len(answer) == 2
