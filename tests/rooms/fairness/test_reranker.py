"""From a ranking to its answer: replay, order, bad input, a million subjects."""

import time
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import BrokenPromiseError, InputError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.heuristics import ByDeficit
from aidos.rooms.fairness.rankings import SubjectRanking
from aidos.rooms.fairness.reranker import Reranker

TWO = EquityOfAttention(attention="geometric:share=0.5,positions=2", quality_floor=0.7)


def ask(relevance, **more):
    names = more.pop("names", None) or tuple(f"s{each}" for each in range(len(relevance)))
    return SubjectRanking(subject_ids=names, relevance=np.asarray(relevance, dtype=np.float64), **more)


@pytest.fixture
def keeper():
    return MemoryKeeper()


@pytest.fixture
def reranker(keeper):
    return Reranker(TWO, keeper)


def told(answer):
    return (answer.subject_ids, answer.relevance.tolist(), answer.quality, answer.unfairness, answer.ranking_id)


def test_a_replayed_ranking_gets_the_same_answer_and_counts_nothing(reranker, keeper):
    first = reranker.rank(ask([5, 4, 3, 2], ranking_id="one", searcher_id="ann"))
    reranker.rank(ask([5, 4, 3, 2], ranking_id="two", searcher_id="ann"))
    state = keeper.accounts.received().tolist(), keeper.accounts.rankings, keeper.accounts.searchers["ann"].quality
    again = reranker.rank(ask([5, 4, 3, 2], ranking_id="one", searcher_id="ann"))
    assert told(again) == told(first)
    assert (first.replayed, again.replayed) == (False, True)
    after = keeper.accounts.received().tolist(), keeper.accounts.rankings, keeper.accounts.searchers["ann"].quality
    assert after == state


@pytest.mark.parametrize(
    "other",
    [
        ask([5, 4, 3, 2.5], ranking_id="one"),
        ask([5, 4, 3, 2], ranking_id="one", names=("s0", "s1", "s2", "x")),
        ask([5, 4, 3, 2], ranking_id="one", names=("s", "0s1", "s2", "s3")),
        ask([5, 4, 3, 2], ranking_id="one", actors=("a", "b", "c", "d")),
        ask([5, 4, 3], ranking_id="one"),
    ],
)
def test_the_same_name_with_other_content_is_refused_and_changes_nothing(other, reranker, keeper):
    reranker.rank(ask([5, 4, 3, 2], ranking_id="one"))
    with pytest.raises(InputError, match="ranking one was served before") as caught:
        reranker.rank(other)
    assert "id of its own" in caught.value.hint
    assert keeper.accounts.rankings == 1
    assert len(keeper.accounts) == 4


def test_without_a_name_every_call_counts(reranker, keeper):
    for _ in range(3):
        assert not reranker.rank(ask([2, 1])).replayed
    assert keeper.accounts.rankings == 3


@given(st.lists(st.integers(0, 4), min_size=2, max_size=9).filter(any), st.integers(0, 2**32 - 1))
def test_the_rest_follows_by_relevance_and_equals_as_they_came(relevance, seed):
    reranker = Reranker(TWO, MemoryKeeper())
    order = np.random.default_rng(seed).permutation(len(relevance))
    for _ in range(4):
        answer = reranker.rank(ask(np.array(relevance)[order], names=tuple(f"s{each}" for each in order)))
        rest = [int(name[1:]) for name in answer.subject_ids[2:]]
        came = {int(each): place for place, each in enumerate(order)}
        assert rest == sorted(rest, key=lambda each: (-relevance[each], came[each]))
        assert sorted(answer.subject_ids) == sorted(f"s{each}" for each in range(len(relevance)))
        assert answer.relevance.tolist() == [relevance[int(name[1:])] for name in answer.subject_ids]


def test_unsorted_input_gets_the_answer_of_sorted_input():
    relevance = np.random.default_rng(0).random(30)
    order = np.argsort(-relevance)
    first, second = Reranker(TWO, MemoryKeeper()), Reranker(TWO, MemoryKeeper())
    for _ in range(20):
        unsorted = first.rank(ask(relevance))
        by_relevance = second.rank(ask(relevance[order], names=tuple(f"s{each}" for each in order)))
        assert unsorted.subject_ids == by_relevance.subject_ids
        assert unsorted.unfairness == pytest.approx(by_relevance.unfairness)


@pytest.mark.parametrize(
    ("relevance", "words"),
    [
        ([1, -1, 2], "subject 2 of 3 is negative"),
        ([1, 2, nan], "subject 3 of 3 is not a number"),
        ([inf, 2, 1], "subject 1 of 3 is infinite"),
        ([-inf, 2, 1], "subject 1 of 3 is infinite"),
        ([0, 0, 0], "every subject is 0"),
        ([1e308, 1e308, 1e308], "too large to add"),
        ([], "no subjects"),
    ],
)
def test_bad_relevance_is_refused_with_the_place(relevance, words):
    with pytest.raises(InputError, match=words) as caught, np.errstate(over="ignore"):
        ask(relevance, ranking_id="q7", place="runs.jsonl, line 3")
    assert "runs.jsonl, line 3: ranking q7" in caught.value.message
    assert caught.value.hint


def test_duplicates_and_lists_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="twice"):
        ask([2, 1], names=("a", "a"))
    with pytest.raises(InputError, match="3 subjects but 2 relevances"):
        ask([2, 1], names=("a", "b", "c"))
    with pytest.raises(InputError, match="2 subjects but 1 actors"):
        ask([2, 1], actors=("a",))
    with pytest.raises(InputError, match="2 subjects but 3 groups"):
        ask([2, 1], groups=("a", "b", "c"))


def test_the_relevance_given_is_not_changed(reranker):
    relevance = np.array([1.0, 3.0, 2.0])
    reranker.rank(ask(relevance))
    assert relevance.tolist() == [1.0, 3.0, 2.0]


def test_a_policy_that_is_no_floor_keeper_is_served_but_equity_never_breaks_its_floor(monkeypatch, keeper):
    strict = EquityOfAttention(attention="singular", quality_floor=1.0)
    loose = Reranker(strict, keeper, ByDeficit())
    assert min(loose.rank(ask([3, 2, 1])).quality for _ in range(5)) < 1
    before = keeper.accounts.rankings
    monkeypatch.setattr("aidos.rooms.fairness.solver.least_cost", lambda standing, width: np.array([2]))
    with pytest.raises(BrokenPromiseError, match="below its floor"):
        Reranker(strict, keeper).rank(ask([3, 2, 1]))
    assert keeper.accounts.rankings == before


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e300])
def test_the_scale_of_relevance_does_not_matter(scale):
    relevance = np.array([9.0, 7, 6, 5, 3, 2, 1])
    plain, scaled = Reranker(TWO, MemoryKeeper()), Reranker(TWO, MemoryKeeper())
    for _ in range(15):
        assert plain.rank(ask(relevance)).subject_ids == scaled.rank(ask(relevance * scale)).subject_ids


@pytest.mark.parametrize("floor", [0.95, 1.0])
def test_many_positions_keep_their_floor_too(floor):
    reranker = Reranker(EquityOfAttention(attention="dcg:positions=9", quality_floor=floor), MemoryKeeper())
    draws = np.random.default_rng(1)
    for _ in range(4):
        # Nearly equal subjects, where a solver's usual tolerance would be far above the floor's.
        assert reranker.rank(ask(1 + 1e-7 * draws.random(12))).quality >= floor - 1e-9


def test_a_million_subjects_in_one_ranking():
    draws = np.random.default_rng(2)
    ranking = ask(np.sort(draws.random(1_000_000))[::-1])
    keeper = MemoryKeeper()
    reranker = Reranker(EquityOfAttention(quality_floor=0.9), keeper)
    prepared = reranker.prepare(ranking)
    reranker.serve(prepared)
    started = time.perf_counter()
    steps = [reranker.serve(prepared) for _ in range(3)]
    assert time.perf_counter() - started < 3
    assert min(step.quality for step in steps) >= 0.9 - 1e-9
    received, earned, _ = keeper.accounts.kept()
    assert received.nbytes + earned.nbytes == 16_000_000
    assert earned.sum() == pytest.approx(4)
