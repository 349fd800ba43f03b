"""Equity of attention as its users meet it: parameters, memory, fairness over time, floors, actors, fading."""

import dataclasses
import pickle
from math import inf, nan

import numpy as np
import pytest
from exhaustive import all_answers, cost, dcg
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from aidos.core.guarantee import QualityFloor, statement
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.ranking import Ranking
from aidos.errors import InputError, ParameterError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.course import shape_scenario, simulate
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import SubjectRanking, gains
from aidos.rooms.fairness.reranker import Reranker
from oracles.fairness import ndcg_quality, unfairness

THREE = "geometric:share=0.5,positions=3"


def ask(relevance, **more):
    names = more.pop("names", None) or tuple(f"s{each}" for each in range(len(relevance)))
    return SubjectRanking(subject_ids=names, relevance=np.asarray(relevance, dtype=np.float64), **more)


@pytest.fixture
def linear():
    return ask(np.arange(10, 0, -1))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("quality_floor", (-0.1, 1.1, nan, inf)),
        ("unfairness_ceiling", (-1.0, nan)),
        ("searcher_floor", (-0.1, 1.5, nan)),
        ("half_life", (0.0, -1.0, nan, inf)),
        ("objective", ("l1", "")),
        ("gain", ("raw", "PAPER")),
        ("level", ("group",)),
        ("short_rankings", ("pad",)),
        ("attention", ("geometrical", "measured:0,0", "geometric:share=2,positions=5", "dcg:positions=63")),
    ],
)
def test_impossible_parameters_are_refused_in_python_and_from_outside(field, values):
    for value in values:
        with pytest.raises(ParameterError):
            EquityOfAttention(**{field: value})
        with pytest.raises((ParameterError, ValidationError)):
            TypeAdapter(EquityOfAttention).validate_python({field: value})


def test_all_impossible_parameters_are_named_at_once():
    with pytest.raises(ParameterError, match=r"gain.*half_life.*quality_floor.*objective.*searcher_floor"):
        EquityOfAttention(quality_floor=2.0, objective="l1", gain="raw", searcher_floor=-1.0, half_life=0.0)


def test_what_is_read_from_outside_is_what_python_builds():
    given = {"quality_floor": 0.9, "objective": "absolute", "half_life": 50}
    assert TypeAdapter(EquityOfAttention).validate_python(given) == EquityOfAttention(**given)


def test_it_is_a_frozen_value_whatever_it_has_counted(linear):
    made, other = EquityOfAttention(), EquityOfAttention()
    made.reranker().rank(linear)
    assert made == other
    assert hash(made) == hash(other)
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.quality_floor = 0.1


def test_the_same_attention_in_other_words_is_the_same_mechanism():
    spelled = EquityOfAttention(attention="geometric:positions=5,share=0.50")
    assert spelled == EquityOfAttention()
    assert spelled.attention == "geometric:share=0.5,positions=5"


def test_it_promises_its_floor():
    promised = EquityOfAttention(quality_floor=0.9, attention=THREE).guarantee(PublicFacts())
    assert promised == QualityFloor(measure="NDCG@3", at_least=0.9)
    assert "90%" in statement(promised)


def test_a_re_ranker_counts_across_calls_and_two_share_nothing(linear):
    equity = EquityOfAttention(quality_floor=0.5)
    made, other = equity.reranker(), equity.reranker()
    first, second = made.rank(linear), made.rank(linear)
    assert first.subject_ids != second.subject_ids
    assert other.rank(linear).subject_ids == first.subject_ids


def test_equal_parameters_rank_equally_whatever_was_ranked_before(linear):
    made = EquityOfAttention(quality_floor=0.5)
    first = made.reranker().rank(linear).subject_ids
    assert made.reranker().rank(linear).subject_ids == first
    assert pickle.loads(pickle.dumps(made)).reranker().rank(linear).subject_ids == first


def test_a_pickled_re_ranker_goes_on_counting_where_it_stood(linear):
    made = EquityOfAttention(quality_floor=0.5).reranker()
    made.rank(linear)
    sent = pickle.loads(pickle.dumps(made))
    assert sent != made
    assert sent.rank(linear).subject_ids == made.rank(linear).subject_ids
    assert sent.rank(linear).unfairness == made.rank(linear).unfairness


def test_running_it_starts_from_empty_accounts(linear):
    made = EquityOfAttention(quality_floor=0.5)
    counting = made.reranker()
    run = made.run([linear] * 3, Noise())
    assert [each.subject_ids for each in run] == [counting.rank(linear).subject_ids for _ in range(3)]


@pytest.mark.parametrize("objective", ["adaptive", "absolute", "squared"])
def test_singular_and_uniform_returns_to_its_minimum_every_n_rankings(objective):
    equity = EquityOfAttention(attention="singular", objective=objective, quality_floor=1.0)
    course = simulate(shape_scenario("uniform", 20), equity, method=objective, rankings=100)
    part = np.arange(1, 101) % 20
    assert course.unfairness == pytest.approx(2 * part * (1 - part / 20), abs=1e-9)
    assert (course.quality == 1).all()


def test_exponential_and_singular_above_a_half_is_the_order_by_relevance():
    equity = EquityOfAttention(attention="singular", quality_floor=0.51)
    scenario = shape_scenario("exponential", 50)
    course = simulate(scenario, equity, method="adaptive", rankings=60)
    assert (course.quality == 1).all()
    assert course.unfairness.tolist() == simulate(scenario, equity, method="relevance", rankings=60).unfairness.tolist()


@pytest.mark.parametrize("attention", ["singular", "geometric"])
@pytest.mark.parametrize("shape", ["linear", "exponential"])
def test_by_relevance_unfairness_grows_linearly(shape, attention):
    course = simulate(
        shape_scenario(shape, 30), EquityOfAttention(attention=attention), method="relevance", rankings=50
    )
    assert course.unfairness == pytest.approx(course.unfairness[0] * np.arange(1, 51), rel=1e-9)


def test_a_floor_of_one_reorders_equals_alone():
    relevance = np.array([5, 5, 5, 3, 3, 2, 1, 1, 1, 1])
    made = EquityOfAttention(quality_floor=1.0).reranker()
    answers = [made.rank(ask(relevance)) for _ in range(30)]
    assert {answer.quality for answer in answers} == {1.0}
    assert all(answer.relevance.tolist() == relevance.tolist() for answer in answers)
    assert {answer.subject_ids[0] for answer in answers} == {"s0", "s1", "s2"}


@pytest.mark.slow
def test_the_adaptive_objective_comes_closer_to_the_bound_than_both_others():
    for floor, bound, most, expected in [(0.8, 114.4, 150, (331, 168)), (0.95, 1025, 1040, (1101, 1189))]:
        equity = EquityOfAttention(quality_floor=floor)
        ends = {
            name: simulate(shape_scenario("linear"), equity, method=name, rankings=1000).final
            for name in ("adaptive", "absolute", "squared")
        }
        assert bound < ends["adaptive"] < most
        assert (ends["absolute"], ends["squared"]) == pytest.approx(expected, rel=0.02)


class Checked:
    """Places as equity does, and tries every answer beside it."""

    def __init__(self, equity):
        self.equity, self.reached = equity, []

    def place(self, standing):
        placed, ceiling = self.equity.place(standing), self.equity.unfairness_ceiling
        costs, values = all_answers(standing, 0.0)
        good = values >= standing.quality_floor * values[0] - 1e-10
        within = good & (costs + standing.unfairness <= ceiling + 1e-10)
        self.reached.append(bool(within.any()))
        if within.any():
            assert cost(standing, placed, 0.0) + standing.unfairness <= ceiling + 1e-9
            assert dcg(standing, placed) == pytest.approx(values[within].max(), abs=1e-9)
        return placed


@pytest.mark.parametrize("half_life", [None, 6.0])
def test_a_ceiling_holds_where_it_can_with_the_best_quality_and_the_floor_always(half_life):
    equity = EquityOfAttention(
        quality_floor=0.8, unfairness_ceiling=1.5, attention="geometric:share=0.5,positions=2", half_life=half_life
    )
    checked = Checked(equity)
    reranker = Reranker(equity, MemoryKeeper(half_life=half_life), checked)
    draws = np.random.default_rng(4)
    answers = [reranker.rank(ask(draws.random(6) + 0.3)) for _ in range(80)]
    assert 20 < sum(checked.reached) < 80
    assert min(answer.quality for answer in answers) >= 0.8 - 1e-9
    for answer, reached in zip(answers, checked.reached, strict=True):
        assert (answer.unfairness <= 1.5 + 1e-9) == reached


def test_nothing_is_reordered_while_the_order_by_relevance_keeps_the_ceiling():
    bounded = EquityOfAttention(quality_floor=0.7, unfairness_ceiling=3.0, attention=THREE)
    scenario = shape_scenario("linear", 12)
    course, alone = (simulate(scenario, bounded, method=name, rankings=50) for name in ("adaptive", "relevance"))
    untouched = int((alone.unfairness <= 3).sum())
    assert untouched > 1
    assert (course.quality[:untouched] == 1).all()
    assert course.quality[untouched:].min() < 1


def test_a_ceiling_out_of_reach_gives_way_to_the_floor():
    tight = EquityOfAttention(quality_floor=0.99, unfairness_ceiling=0.0)
    as_fair_as_possible = EquityOfAttention(quality_floor=0.99)
    course, other = (
        simulate(shape_scenario("linear", 30), each, method="adaptive", rankings=50)
        for each in (tight, as_fair_as_possible)
    )
    assert (course.quality >= 0.99 - 1e-9).all()
    assert course.unfairness.tolist() == other.unfairness.tolist()


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), average=st.floats(0, 1), floor=st.floats(0, 1), people=st.integers(1, 4))
def test_no_searcher_falls_below_her_average(seed, average, floor, people):
    draws = np.random.default_rng(seed)
    made = EquityOfAttention(quality_floor=floor, searcher_floor=average, attention=THREE).reranker()
    seen = {}
    for _ in range(25):
        name = f"searcher-{draws.integers(people)}"
        answer = made.rank(ask(draws.random(8) ** 3 + 1e-9, searcher_id=name))
        seen.setdefault(name, []).append(answer.quality)
        assert np.mean(seen[name]) >= average - 1e-9
        assert answer.quality >= floor - 1e-9


def test_only_a_searcher_with_good_rankings_behind_her_gets_a_worse_one():
    made = EquityOfAttention(quality_floor=0.0, searcher_floor=0.9, attention="singular").reranker()
    for _ in range(20):
        made.rank(ask([1, 1, 1], searcher_id="ann"))
    made.rank(ask([4, 2, 1], searcher_id="ann"))
    assert made.rank(ask([4, 2, 1], searcher_id="bob")).quality >= 0.9
    assert made.rank(ask([4, 2, 1], searcher_id="ann")).quality < 0.5


def test_a_floor_for_searchers_needs_to_know_who_searched():
    keeper = MemoryKeeper()
    with pytest.raises(InputError, match="who searched") as caught:
        Reranker(EquityOfAttention(searcher_floor=0.9), keeper).rank(ask(np.ones(6)))
    assert "searcher_id" in caught.value.hint
    assert len(keeper.accounts) == 0


def test_accounts_of_actors_add_up_over_their_subjects():
    equity = EquityOfAttention(level="actor", attention=THREE, quality_floor=0.7)
    keeper = MemoryKeeper()
    reranker = Reranker(equity, keeper)
    draws = np.random.default_rng(0)
    received, earned = np.zeros(4), np.zeros(4)
    for _ in range(40):
        relevance, actors = draws.random(9), draws.integers(0, 4, 9)
        ranking = ask(relevance, actors=tuple(f"a{each}" for each in actors))
        answer = reranker.rank(ranking)
        np.add.at(earned, actors, relevance / relevance.sum())
        for name, weight in zip(answer.subject_ids, answer.attention, strict=False):
            received[actors[int(name[1:])]] += weight
        assert answer.unfairness == pytest.approx(unfairness(received, earned), abs=1e-9)
        assert answer.quality >= 0.7 - 1e-9
    assert sorted(keeper.accounts.names) == ["a0", "a1", "a2", "a3"]


def test_actors_are_served_as_if_each_were_one():
    # Two actors of equal merit, one with many subjects: each gets half of the attention.
    made = EquityOfAttention(level="actor", attention="singular", quality_floor=0.0).reranker()
    ranking = ask([4, 1, 1, 1, 1], actors=("one", "many", "many", "many", "many"))
    served = [made.rank(ranking).subject_ids[0] for _ in range(40)]
    assert served.count("s0") == 20


def test_accounts_of_actors_need_actors_and_few_positions():
    with pytest.raises(InputError, match="actor"):
        EquityOfAttention(level="actor").reranker().rank(ask(np.ones(6)))
    EquityOfAttention(level="actor", attention="dcg:positions=8")
    with pytest.raises(ParameterError, match="at most 8 positions, got 9"):
        EquityOfAttention(level="actor", attention="dcg:positions=9")


def test_a_half_life_forgets_by_the_closed_form():
    # A floor of 1 always serves the first of the two, who earns three quarters: each ranking leaves her 1/4 ahead.
    made = EquityOfAttention(attention="singular", quality_floor=1.0, half_life=8.0).reranker()
    fading = 0.5 ** (1 / 8)
    for number in range(1, 60):
        ahead = 0.25 * (1 - fading**number) / (1 - fading)
        assert made.rank(ask([3, 1])).unfairness == pytest.approx(2 * ahead, rel=1e-12)


def test_with_a_half_life_accounts_are_the_faded_sums():
    equity = EquityOfAttention(attention=THREE, quality_floor=0.6, half_life=5.0)
    keeper = MemoryKeeper(half_life=5.0)
    reranker, draws = Reranker(equity, keeper), np.random.default_rng(1)
    received, earned = np.zeros(6), np.zeros(6)
    for _ in range(50):
        relevance = draws.random(6)
        answer = reranker.rank(ask(relevance))
        received, earned = received * 0.5**0.2, earned * 0.5**0.2 + relevance / relevance.sum()
        for name, weight in zip(answer.subject_ids, answer.attention, strict=False):
            received[int(name[1:])] += weight
        assert answer.unfairness == pytest.approx(unfairness(received, earned), abs=1e-9)
    order = [int(name[1:]) for name in keeper.accounts.names]
    assert keeper.accounts.received() == pytest.approx(received[order])
    assert keeper.accounts.earned() == pytest.approx(earned[order])


def test_short_rankings_are_refused_or_share_the_attention():
    with pytest.raises(InputError, match="4 subjects, but attention on 5 positions") as caught:
        EquityOfAttention().reranker().rank(ask([4, 3, 2, 1]))
    assert "share" in caught.value.hint
    answer = EquityOfAttention(short_rankings="share").reranker().rank(ask([4, 3, 2, 1]))
    assert len(answer.attention) == 4
    assert answer.attention.sum() == pytest.approx(1)
    assert EquityOfAttention(short_rankings="share").reranker().rank(ask([2.0])).quality == 1


class Watched:
    """Places as equity does, and looks who is owed but left out while somebody without merit is placed."""

    def __init__(self, equity):
        self.equity, self.without_merit = equity, 0

    def place(self, standing):
        placed = self.equity.place(standing)
        left_out = np.delete(np.arange(len(standing.gains)), placed)
        undeserved = standing.earned[placed] == 0
        self.without_merit += int(undeserved.sum())
        assert not undeserved.any() or not (standing.balance[left_out] < -1e-9).any()
        return placed


@pytest.mark.parametrize("floor", [0.0, 0.8])
@pytest.mark.parametrize("objective", ["adaptive", "absolute", "squared"])
def test_without_merit_nobody_gets_attention_while_somebody_is_owed(objective, floor):
    equity = EquityOfAttention(quality_floor=floor, objective=objective, attention=THREE)
    watched = Watched(equity)
    reranker, draws = Reranker(equity, MemoryKeeper(), watched), np.random.default_rng(5)
    for _ in range(100):
        relevance = np.zeros(10)
        relevance[draws.permutation(4)[:2]] = draws.random(2)
        reranker.rank(ask(relevance))
    assert watched.without_merit > 0


def test_who_joins_starts_at_zero_and_who_leaves_keeps_the_account():
    equity = EquityOfAttention(attention="singular", quality_floor=0.0)
    keeper = MemoryKeeper()
    reranker = Reranker(equity, keeper)
    for _ in range(7):
        reranker.rank(ask([3, 2, 1], names=("a", "b", "c")))
    before = dict(zip(keeper.accounts.names, keeper.accounts.received() - keeper.accounts.earned(), strict=True))
    reranker.rank(ask([1, 1], names=("new", "a")))
    after = dict(zip(keeper.accounts.names, keeper.accounts.received() - keeper.accounts.earned(), strict=True))
    assert (after["b"], after["c"]) == (before["b"], before["c"])
    assert after["new"] + after["a"] == pytest.approx(before["a"])
    assert after["new"] in (pytest.approx(0.5), pytest.approx(-0.5))


def test_rankings_of_some_subjects_count_for_those_alone():
    made = EquityOfAttention(attention=THREE, quality_floor=0.8).reranker()
    draws = np.random.default_rng(2)
    received, earned = np.zeros(30), np.zeros(30)
    for _ in range(60):
        there = draws.choice(30, size=8, replace=False)
        relevance = draws.random(8)
        answer = made.rank(ask(relevance, names=tuple(f"s{each}" for each in there)))
        earned[there] += relevance / relevance.sum()
        for name, weight in zip(answer.subject_ids, answer.attention, strict=False):
            received[int(name[1:])] += weight
        assert answer.unfairness == pytest.approx(unfairness(received, earned), abs=1e-9)


@pytest.mark.parametrize("gain", ["paper", "linear", "exponential-1", "exponential-5"])
def test_the_reported_quality_is_that_of_the_served_order(gain):
    made = EquityOfAttention(quality_floor=0.7, gain=gain).reranker()
    relevance = np.random.default_rng(3).random(20)
    for _ in range(10):
        answer = made.rank(ask(relevance))
        order = np.array([int(name[1:]) for name in answer.subject_ids])
        assert answer.quality == pytest.approx(ndcg_quality(gains(relevance, gain), order, 5), abs=1e-12)


def test_a_plain_ranking_with_scores_will_do(linear):
    plain = Ranking(tuple(linear.subject_ids), tuple(linear.relevance.tolist()))
    plainly, fully = (EquityOfAttention().reranker().rank(each) for each in (plain, linear))
    assert plainly.subject_ids == fully.subject_ids
    with pytest.raises(InputError, match="no scores"):
        EquityOfAttention().reranker().rank(Ranking(("a", "b")))
