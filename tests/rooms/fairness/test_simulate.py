"""Every method on small scenarios: valid placements, floors kept by those that say so, numbers that add up."""

import numpy as np
import pytest

from aidos.core.progress import SILENT
from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.course import SHAPES, Scenario, shape_scenario, simulate
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.reranker import METHODS, find_method

EQUITY = EquityOfAttention(attention="geometric:share=0.5,positions=3", quality_floor=0.9)


@pytest.fixture
def ratings():
    """Three queries over a dozen subjects, two of whom do not appear in each."""
    draws = np.random.default_rng(0)
    relevance = draws.integers(1, 6, (3, 12)).astype(np.float64)
    for query, row in enumerate(relevance):
        row[[query, query + 5]] = np.nan
    return Scenario(
        name="ratings",
        subject_ids=tuple(f"s{each}" for each in range(12)),
        relevance=relevance,
        queries=("clean", "near", "quiet"),
        groups=tuple("xy"[each % 2] for each in range(12)),
        actors=tuple("abcd"[each % 4] for each in range(12)),
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_places_validly_and_keeps_the_floor_it_claims(name, ratings):
    keeper = MemoryKeeper()
    method = find_method(name)
    reranker = method.reranker(EQUITY, keeper)
    prepared = [reranker.prepare(each) for each in ratings.rankings()]
    for number in range(30):
        step = reranker.serve(prepared[number % 3])
        assert len(set(step.placed.tolist())) == len(step.placed) == 3
        assert 0 <= step.placed.min() <= step.placed.max() < 10
        if method.keeps_floor:
            assert step.quality >= 0.9 - 1e-9
    assert keeper.accounts.received().sum() == pytest.approx(30)
    assert keeper.accounts.earned().sum() == pytest.approx(30)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.needs_groups])
def test_methods_that_need_groups_say_so_where_there_are_none(name):
    with pytest.raises((InputError, ParameterError), match="group"):
        simulate(shape_scenario("linear", 10), EQUITY, method=name, rankings=2)


@pytest.mark.parametrize("name", METHODS)
def test_a_simulation_comes_out_the_same_twice(name, ratings):
    first, second = (simulate(ratings, EQUITY, method=name, rankings=12) for _ in range(2))
    assert first.unfairness.tolist() == second.unfairness.tolist()
    assert first.quality.tolist() == second.quality.tolist()


def test_the_course_ends_where_the_accounts_are(ratings):
    course = simulate(ratings, EQUITY, method="adaptive", rankings=20)
    assert len(course.unfairness) == len(course.quality) == 20
    assert course.final == pytest.approx(np.abs(course.received - course.earned).sum())
    assert course.method == "adaptive"
    assert course.quality_floor == 0.9
    assert course.seconds > 0


def test_subjects_missing_from_a_query_earn_nothing_from_it(ratings):
    course = simulate(ratings, EQUITY, method="relevance", rankings=1)
    assert set(course.names) == set(ratings.subject_ids) - {"s0", "s5"}


def test_queries_are_asked_in_turn(ratings):
    rankings = ratings.rankings()
    assert [each.query_id for each in rankings] == ["clean", "near", "quiet"]
    assert rankings[1].groups == tuple(group for each, group in enumerate(ratings.groups) if each not in {1, 6})
    course = simulate(ratings, EQUITY, method="relevance", rankings=6)
    assert course.unfairness[5] == pytest.approx(2 * course.unfairness[2])


def test_actors_share_accounts_in_a_simulation_too(ratings):
    equity = EquityOfAttention(attention=EQUITY.attention, level="actor")
    assert sorted(simulate(ratings, equity, method="adaptive", rankings=6).names) == list("abcd")


def test_the_exact_methods_stay_ahead_of_doing_nothing_and_the_floor_costs_something():
    scenario = shape_scenario("linear", 30)
    ends = {name: simulate(scenario, EQUITY, method=name, rankings=200).final for name in ("adaptive", "relevance")}
    free = simulate(
        scenario, EquityOfAttention(attention=EQUITY.attention, quality_floor=0), method="adaptive", rankings=200
    )
    assert free.final < ends["adaptive"] < ends["relevance"]


def test_each_method_has_its_own_objective():
    equity = EquityOfAttention(attention=EQUITY.attention, quality_floor=0.8, objective="absolute")
    scenario = shape_scenario("linear", 30)
    courses = {
        name: simulate(scenario, equity, method=name, rankings=100).final
        for name in METHODS
        if not METHODS[name].needs_groups and not METHODS[name].policy
    }
    assert len(set(courses.values())) == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_those_of_the_paper(shape):
    relevance = shape_scenario(shape, 4).relevance[0]
    assert (
        relevance.tolist()
        == {"uniform": [1, 1, 1, 1], "linear": [4, 3, 2, 1], "exponential": [1, 0.5, 0.25, 0.125]}[shape]
    )


def test_exponential_relevance_does_not_vanish_for_many():
    course = simulate(shape_scenario("exponential", 3000), EQUITY, method="adaptive", rankings=3)
    assert np.isfinite(course.unfairness).all()


def test_unknown_shapes_and_methods_get_a_hint():
    with pytest.raises(ParameterError, match="no shape called cubic") as caught:
        shape_scenario("cubic")
    assert "linear" in caught.value.hint
    with pytest.raises(ParameterError, match="no method called adaptiv") as caught:
        simulate(shape_scenario("linear"), EQUITY, method="adaptiv", rankings=1)
    assert caught.value.hint == "did you mean adaptive?"
    with pytest.raises(ParameterError) as caught:
        find_method("xyzzy")
    assert "thesis" in caught.value.hint


def test_progress_is_told():
    told = []

    class Heard:
        def task(self, title, *, total, unit):
            told.append((title, total, unit))
            return SILENT.task(title, total=total, unit=unit)

    simulate(shape_scenario("linear", 10), EQUITY, method="relevance", rankings=70, progress=Heard())
    assert told == [("relevance at 0.9", 70, "rankings")]
