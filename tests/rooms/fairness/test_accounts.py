"""Accounts against plain sums over all rankings, and what must not change them."""

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.errors import ParameterError
from aidos.rooms.fairness.accounts import Accounts, MemoryKeeper, Served

WEIGHTS = np.array([0.6, 0.3, 0.1])


def served(slots, relevance, placed, attention=WEIGHTS, **more):
    told = {"ranking_id": "", "content": "", "placed_ids": (), "searcher_id": "", "quality": 1.0} | more
    return Served(
        slots=np.asarray(slots, dtype=np.int64),
        relevance=np.asarray(relevance, dtype=np.float64),
        placed=np.asarray(placed, dtype=np.int64),
        attention=np.asarray(attention, dtype=np.float64),
        **told,
    )


@st.composite
def sequences(draw):
    """Rankings over a dozen accounts: names (some twice, as actors are), relevance, who is placed."""
    rankings = []
    for _ in range(draw(st.integers(1, 12))):
        names = draw(st.lists(st.sampled_from("abcdefghijkl"), min_size=1, max_size=9))
        raw = np.array(draw(st.lists(st.floats(0.01, 1), min_size=len(names), max_size=len(names))))
        positions = min(3, len(names))
        placed = draw(st.permutations(range(len(names))))[:positions]
        rankings.append((names, raw / raw.sum(), placed, WEIGHTS[:positions] / WEIGHTS[:positions].sum()))
    return rankings


@given(sequences(), st.none() | st.floats(0.2, 50))
def test_accounts_are_the_faded_sums_over_all_rankings(rankings, half_life):
    accounts = Accounts(half_life=half_life)
    for names, relevance, placed, attention in rankings:
        accounts.count(served(accounts.slots(names), relevance, placed, attention))
    received, earned = dict.fromkeys(accounts.names, 0.0), dict.fromkeys(accounts.names, 0.0)
    for age, (names, relevance, placed, attention) in enumerate(reversed(rankings)):
        left = 1.0 if half_life is None else 0.5 ** (age / half_life)
        for name, worth in zip(names, relevance, strict=True):
            earned[name] += left * worth
        for index, weight in zip(placed, attention, strict=True):
            received[names[index]] += left * weight
    assert accounts.received() == pytest.approx(list(received.values()), abs=1e-12)
    assert accounts.earned() == pytest.approx(list(earned.values()), abs=1e-12)
    assert accounts.unfairness == pytest.approx(sum(abs(received[name] - earned[name]) for name in earned), abs=1e-12)
    assert accounts.rankings == len(rankings)


def test_attention_goes_to_who_is_placed_and_adds_up():
    accounts = Accounts()
    slots = accounts.slots(("a", "b", "c", "d"))
    for _ in range(2):
        accounts.count(served(slots, [0.4, 0.3, 0.2, 0.1], [3, 0, 1]))
    assert accounts.received().tolist() == [0.6, 0.2, 0.0, 1.2]
    assert accounts.earned(accounts.slots(["d", "a"])).tolist() == [0.2, 0.8]


def test_who_leaves_keeps_her_account_and_who_comes_starts_at_zero():
    accounts = Accounts()
    accounts.count(served(accounts.slots(["a", "b"]), [0.5, 0.5], [0], [1.0]))
    accounts.count(served(accounts.slots(["b", "new"]), [0.5, 0.5], [1], [1.0]))
    assert accounts.names == ["a", "b", "new"]
    assert accounts.received().tolist() == [1.0, 0.0, 1.0]
    assert accounts.earned().tolist() == [0.5, 1.0, 0.5]


def test_a_long_history_with_a_short_half_life_neither_vanishes_nor_overflows():
    accounts = Accounts(half_life=0.5)
    slots = accounts.slots(["a", "b"])
    for _ in range(2000):
        accounts.count(served(slots, [0.75, 0.25], [0], [1.0]))
    assert accounts.received() == pytest.approx([4 / 3, 0])
    assert accounts.earned() == pytest.approx([1.0, 1 / 3])
    assert accounts.unfairness == pytest.approx(2 / 3)


def test_a_list_that_changed_is_looked_up_anew_and_slots_cannot_be_overwritten():
    accounts, names = Accounts(), ["a", "b"]
    assert accounts.slots(names).tolist() == [0, 1]
    names[0] = "c"
    assert accounts.slots(names).tolist() == [2, 1]
    same = ("b", "a")
    assert accounts.slots(same) is accounts.slots(same)
    with pytest.raises(ValueError, match="read-only"):
        accounts.slots(same)[0] = 5


def test_slots_that_a_caller_changes_in_place_are_counted_as_they_are():
    accounts = Accounts()
    accounts.slots(["a", "b", "c"])
    slots = np.array([0, 1])
    accounts.count(served(slots, [0.5, 0.5], [0], [1.0]))
    slots[0] = 2
    accounts.count(served(slots, [0.5, 0.5], [0], [1.0]))
    assert accounts.unfairness == pytest.approx(float(np.abs(accounts.received() - accounts.earned()).sum()))


@pytest.mark.parametrize(
    ("slots", "relevance", "placed", "attention"),
    [
        ([0, 1], [1.0], [0], [1.0]),
        ([0, 1], [0.5, 0.5], [0], [0.5, 0.5]),
        ([0, 1], [0.5, 0.5], [2], [1.0]),
        ([0, 2], [0.5, 0.5], [0], [1.0]),
        ([0, -1], [0.5, 0.5], [0], [1.0]),
    ],
)
def test_a_ranking_that_makes_no_sense_adds_nothing(slots, relevance, placed, attention):
    accounts = Accounts(half_life=3)
    accounts.slots(["a", "b"])
    with pytest.raises((ValueError, IndexError)):
        accounts.count(served(slots, relevance, placed, attention))
    assert accounts.rankings == 0
    assert accounts.kept()[2] == 1.0
    assert not accounts.earned().any()


@pytest.mark.parametrize("half_life", [0, -1.0, nan, inf])
def test_an_impossible_half_life_is_refused(half_life):
    with pytest.raises(ParameterError, match="half_life must be greater than 0"):
        Accounts(half_life=half_life)


@given(sequences(), sequences(), st.none() | st.floats(0.2, 50))
def test_what_is_kept_goes_on_bit_for_bit(first, second, half_life):
    whole = Accounts(half_life=half_life)
    for ranking in first:
        whole.count(served(whole.slots(ranking[0]), *ranking[1:], searcher_id="s", quality=0.9))
    resumed = Accounts(half_life=half_life)
    received, earned, scale = whole.kept()
    resumed.load(whole.names, received, earned, rankings=whole.rankings)
    resumed.resume(scale=scale, unfairness=whole.unfairness, searchers={})
    for ranking in second:
        for accounts in (whole, resumed):
            accounts.count(served(accounts.slots(ranking[0]), *ranking[1:]))
    assert resumed.received().tobytes() == whole.received().tobytes()
    assert resumed.earned().tobytes() == whole.earned().tobytes()
    assert (resumed.unfairness, resumed.rankings) == (whole.unfairness, whole.rankings)


def test_loading_replaces_everything_and_adds_the_unfairness_up():
    accounts = Accounts()
    accounts.count(served(accounts.slots(["x"]), [1.0], [0], [1.0], searcher_id="s"))
    accounts.load(["a", "b"], np.array([1.0, 2.0]), np.array([1.5, 1.0]), rankings=7)
    assert (accounts.unfairness, accounts.rankings, accounts.searchers) == (1.5, 7, {})
    assert accounts.slots(["b", "x"]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="name of its own"):
        accounts.load(["a", "a"], np.zeros(2), np.zeros(2), rankings=0)


def test_memory_keeper_answers_by_name_and_counts_a_name_once():
    keeper = MemoryKeeper()
    with keeper.turn() as accounts:
        assert keeper.answer("r") is None
        one = served(
            accounts.slots(["a", "b"]), [0.5, 0.5], [1], [1.0], ranking_id="r", placed_ids=("b",), searcher_id="s"
        )
        keeper.record(one)
        again = keeper.answer("r")
        assert (again.placed_ids, again.unfairness) == (("b",), 1.0)
        with pytest.raises(RuntimeError, match="counted before"):
            keeper.record(one)
    assert keeper.accounts.rankings == 1
    assert keeper.accounts.searchers["s"].rankings == 1


def test_rankings_without_a_name_count_every_time():
    keeper = MemoryKeeper()
    with keeper.turn() as accounts:
        for _ in range(3):
            keeper.record(served(accounts.slots(["a"]), [1.0], [0], [1.0]))
    assert keeper.accounts.rankings == 3
    assert keeper.answer("") is None
