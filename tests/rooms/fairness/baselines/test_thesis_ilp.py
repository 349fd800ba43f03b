import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings import cost, geometric, legal_orders, standing_of

from aidos.errors import EngineError, ParameterError
from aidos.rooms.fairness.programs import Prefiltered, ThesisProgram
from aidos.rooms.fairness.rankings import quality

FLOORS = [0.0, 0.5, 0.8, 0.9, 0.95, 1.0]


@st.composite
def standings(draw):
    size = draw(st.integers(2, 6))
    amounts = st.lists(st.integers(0, 6), min_size=size, max_size=size)
    halves = [value / 2 for value in draw(amounts)]
    return standing_of(
        draw(amounts.filter(any)),
        positions=draw(st.integers(1, min(size, 3))),
        floor=draw(st.sampled_from(FLOORS)),
        received=halves,
        before=[value / 3 for value in draw(amounts)],
    )


@given(standings(), st.booleans())
@settings(max_examples=80)
def test_nothing_legal_costs_less(standing, squared):
    program = ThesisProgram(candidates=None, objective="squared" if squared else "absolute")
    placed = program.place(standing)
    assert len(set(placed.tolist())) == len(standing.attention)
    assert quality(standing, placed) >= standing.quality_floor - 1e-9
    best = min(cost(standing, order, squared=squared) for order in legal_orders(standing))
    assert cost(standing, placed, squared=squared) == pytest.approx(best, abs=1e-9)


def test_a_floor_of_one_moves_only_equals():
    standing = standing_of([3, 3, 3, 1], floor=1.0, received=[1, 1, 0, 0], before=[0, 0, 1, 2])
    placed = ThesisProgram().place(standing)
    assert placed[0] == 2
    assert set(placed.tolist()) <= {0, 1, 2}


def test_attention_is_credited_by_solved_position_added_and_accumulated():
    # Four equal subjects, one position: each must be served once in four rankings, twice in eight. Crediting by index,
    # multiplying instead of adding, or forgetting the past would serve somebody twice before all were served.
    received, earned, served = np.zeros(4), np.zeros(4), []
    for _ in range(8):
        standing = standing_of([1, 1, 1, 1], positions=1, received=received, before=earned, floor=0.9)
        placed = ThesisProgram().place(standing)
        received[placed] += standing.attention
        earned += standing.relevance
        served.append(int(placed[0]))
    assert sorted(served[:4]) == sorted(served[4:]) == [0, 1, 2, 3]


def test_the_prefilter_keeps_the_most_relevant_and_who_is_owed_most():
    # Subject 5 is owed most, but to show her breaks the floor; subject 3 could be promoted and is filtered out.
    received, before = [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1.5, 2]
    relevance = [10, 10, 10, 9.9, 1, 0.5]
    standing = standing_of(relevance, positions=1, floor=0.9, received=received, before=before)
    assert ThesisProgram(candidates=None).place(standing).tolist() == [3]
    assert ThesisProgram(candidates=2).place(standing).tolist() == [0]
    assert ThesisProgram(candidates=3).place(standing).tolist() == [0]
    assert ThesisProgram(candidates=4).place(standing).tolist() == [3]


def test_fewer_candidates_than_positions_are_all_positions():
    standing = standing_of([4, 3, 2, 1], positions=3, received=[1, 0, 0, 0])
    assert sorted(ThesisProgram(candidates=1).place(standing).tolist()) == [0, 1, 2]


def test_no_time_is_an_error_and_not_a_second_best_answer():
    rng = np.random.default_rng(1)
    standing = standing_of(rng.random(60), positions=5, floor=0.9, received=rng.random(60))
    with pytest.raises(EngineError, match="no optimum"):
        ThesisProgram(seconds=1e-9).place(standing)


def test_attention_of_the_thesis():
    assert geometric(5) == pytest.approx(np.array([16, 8, 4, 2, 1]) / 31)


@pytest.mark.parametrize("wrong", [{"candidates": 0}, {"objective": "cubic"}, {"seconds": 0.0}])
def test_impossible_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        ThesisProgram(**wrong)


@given(standings())
@settings(max_examples=60)
def test_the_prefiltered_exact_solver_costs_what_the_program_costs(standing):
    program, exact = ThesisProgram(candidates=4).place(standing), Prefiltered(candidates=4).place(standing)
    assert cost(standing, exact) == pytest.approx(cost(standing, program), abs=1e-9)
