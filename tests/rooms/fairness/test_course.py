"""What was served is recorded as the definition says: every ranking, by served position, added up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.model.attention import find_attention
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.course import Recorder
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import SubjectRanking, gains
from aidos.rooms.fairness.reranker import Reranker
from oracles.fairness import accumulate, ndcg_quality

THREE = find_attention("geometric:share=0.5,positions=3")


def ask(relevance, subjects=None, **more):
    subjects = range(len(relevance)) if subjects is None else subjects
    names = tuple(f"s{each}" for each in subjects)
    return SubjectRanking(subject_ids=names, relevance=np.asarray(relevance, dtype=np.float64), **more)


@st.composite
def served_rankings(draw):
    """Some of seven subjects in each ranking, in any order."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        there = draw(st.lists(st.integers(0, 6), min_size=1, max_size=7, unique=True))
        relevance = draw(st.lists(st.integers(0, 9), min_size=len(there), max_size=len(there)).filter(any))
        found.append((there, relevance, draw(st.permutations(range(len(there))))))
    return found


@given(served_rankings(), st.sampled_from(["paper", "linear", "exponential-5"]))
def test_the_recorder_equals_the_definition(rankings, gain):
    recorder = Recorder("by hand", THREE, gain)
    for there, relevance, order in rankings:
        recorder.add(ask(relevance, there), np.array(order))
    course = recorder.course()
    for count in range(1, len(rankings) + 1):
        orders = [[there[each] for each in order] for there, _, order in rankings[:count]]
        values = [[relevance[each] for each in order] for _, relevance, order in rankings[:count]]
        known = accumulate(orders, values, THREE)
        assert course.unfairness[count - 1] == pytest.approx(known.unfairness, abs=1e-9)
        _, relevance, order = rankings[count - 1]
        worth = gains(np.array(relevance, dtype=np.float64), gain)
        assert course.quality[count - 1] == pytest.approx(ndcg_quality(worth, np.array(order), 3), abs=1e-9)
    places = [int(name[1:]) for name in course.names]
    assert course.received == pytest.approx(known.attention[places], abs=1e-9)
    assert course.earned == pytest.approx(known.relevance[places], abs=1e-9)


def test_attention_goes_on_adding_up_after_the_first_ranking():
    recorder = Recorder("relevance", THREE, "paper")
    for _ in range(10):
        recorder.add(ask([3, 2, 1]))
    course = recorder.course()
    assert course.received.sum() == pytest.approx(10)
    assert course.earned.sum() == pytest.approx(10)
    assert course.unfairness == pytest.approx(course.unfairness[0] * np.arange(1, 11))
    assert course.final == course.unfairness[-1]


def test_attention_is_credited_by_the_served_position_and_added():
    recorder = Recorder("reversed", THREE, "paper")
    for _ in range(2):
        recorder.add(ask([3, 2, 1]), np.array([2, 1, 0]))
    weights = THREE.weights(np.ones(3))
    assert recorder.course().received == pytest.approx(2 * weights[::-1])


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 4.0]))
def test_a_recorded_answer_costs_what_the_reranker_said(seed, half_life):
    draws = np.random.default_rng(seed)
    equity = EquityOfAttention(attention=str(THREE), quality_floor=0.7, half_life=half_life)
    reranker = Reranker(equity, MemoryKeeper(half_life=half_life))
    recorder = Recorder("again", THREE, "paper", half_life=half_life)
    for _ in range(6):
        there = draws.choice(8, size=5, replace=False)
        ranking = ask(draws.random(5), there)
        answer = reranker.rank(ranking)
        recorder.add(ranking, np.array([ranking.subject_ids.index(name) for name in answer.subject_ids]))
        assert recorder.series.unfairness[-1] == pytest.approx(answer.unfairness, abs=1e-9)
        assert recorder.series.quality[-1] == pytest.approx(answer.quality, abs=1e-9)


def test_accounts_of_actors_can_be_recorded():
    recorder = Recorder("relevance", THREE, "paper")
    recorder.add(ask([3, 2, 1]), accounts=("a", "b", "a"))
    course = recorder.course(0.8)
    assert course.names == ("a", "b")
    assert course.earned == pytest.approx([4 / 6, 2 / 6])
    assert course.quality_floor == 0.8


def test_a_course_of_nothing_is_refused():
    with pytest.raises(InputError, match="no rankings"):
        Recorder("relevance", THREE, "paper").course()
