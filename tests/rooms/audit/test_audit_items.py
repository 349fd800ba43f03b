"""Numbered results and aligned lists, against the alignment of single pairs."""

import numpy as np
import pytest
from audit_results import ask, result
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.resultpairs import Result, ResultPair, align
from aidos.errors import InputError
from aidos.rooms.audit.arrays import TopicMaps
from aidos.rooms.audit.designs import arrange
from aidos.rooms.audit.items import LEAST_CONTROLLED, PairItems

lists = st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True)


def page(number):
    return Result(url=f"https://www.example/{number}", title=f"page {number}")


def pair_of(vanilla, personalised, again=None):
    sides = [None if side is None else tuple(map(page, side)) for side in (vanilla, personalised, again)]
    return ResultPair(query="q", vanilla=sides[0], personalised=sides[1], again=sides[2])


@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=5))
def test_lists_are_those_of_single_pairs_and_each_result_has_one_number(given_lists):
    pairs = [pair_of(*both) for both in given_lists]
    items = PairItems.of(pairs)
    assert len({each.identity for each in items.items}) == len(items.items)
    for query, pair in enumerate(pairs):
        aligned = align(pair)
        assert tuple(items.items[item] for item in items.vanilla[query]) == aligned.items
        order = tuple(aligned.items[place] for place in aligned.order)
        assert tuple(items.items[item] for item in items.personalised[query]) == order
        assert tuple(items.items[item] for item in items.vanilla_shown(query)) == pair.vanilla
        assert tuple(items.items[item] for item in items.personalised_shown(query)) == pair.personalised
    maps = TopicMaps.from_dense(np.eye(len(items.items)))
    arrays = items.arrays(maps)
    for query in range(len(pairs)):
        vanilla, personalised = arrays.lists(query)
        assert (tuple(vanilla), tuple(personalised)) == (items.vanilla[query], items.personalised[query])


def test_addresses_that_lead_to_the_same_page_are_one_item_with_the_text_that_is_known():
    pairs = [
        ResultPair(
            query="q",
            vanilla=(Result(url="https://A.example/x", words="x"), Result(title="no address")),
            personalised=(Result(title="no  address"), Result(url="https://a.example/x#part", title="A title")),
        )
    ]
    items = PairItems.of(pairs)
    assert [" ".join(each.title.split()) for each in items.items] == ["no address", "A title"]
    assert items.vanilla == ((1, 0),)
    assert items.personalised == ((0, 1),)


def test_a_second_vanilla_list_controls_where_there_are_enough():
    with_it, without = pair_of([1, 2], [2, 1], [2, 1, 3]), pair_of([1, 2], [2, 1])
    assert not arrange([with_it] * (LEAST_CONTROLLED - 1))[1].controlled
    assert not arrange([with_it] * LEAST_CONTROLLED + [without] * (LEAST_CONTROLLED + 1))[1].controlled
    pairs, design = arrange([without] * LEAST_CONTROLLED + [with_it] * LEAST_CONTROLLED)
    assert design.controlled
    assert design.account.queries.tolist() == list(range(LEAST_CONTROLLED, 2 * LEAST_CONTROLLED))
    maps = TopicMaps.from_dense(np.eye(3))
    control = PairItems.of(pairs).control(maps, design.account.queries, design.second)
    assert len(control) == LEAST_CONTROLLED
    assert [side.tolist() for side in control.lists(0)] == [[0, 1, 2], [1, 0, 2]]
    itself = PairItems.of(pairs).control(maps, design.account.queries[:1], ~design.second[:1])
    assert [side.tolist() for side in itself.lists(0)] == [[0, 1], [0, 1]]


def test_no_pairs_and_maps_of_other_items_are_refused():
    with pytest.raises(InputError, match="no pairs"):
        PairItems.of([])
    with pytest.raises(InputError, match="2 results need as many topic maps, got 3"):
        PairItems.of([pair_of([1, 2], [2, 1])]).arrays(TopicMaps.from_dense(np.eye(3)))


def test_many_pairs_are_numbered_query_by_query():
    pairs = ask(np.random.default_rng(0), queries=30)
    items = PairItems.of(pairs)
    assert set(items.items[: len(pairs[0].vanilla)]) == set(pairs[0].vanilla)
    assert items.queries == tuple(pair.query for pair in pairs)
    assert result("jazz", 3).identity not in {each.identity for each in PairItems.of(pairs[:1]).items[6:]}


told = st.tuples(st.integers(0, 9), st.sampled_from(["", "one", "two"]))
shown = st.lists(told, min_size=1, unique_by=lambda each: each[0]).map(
    lambda found: tuple(Result(url=f"https://x.example/{page}", snippet=said) for page, said in found)
)


@given(st.lists(st.tuples(shown, shown, shown), min_size=1))
def test_what_results_say_and_which_were_met_does_not_depend_on_which_list_is_the_accounts(lists):
    read = [
        PairItems.of([ResultPair(query="q", vanilla=each[a], personalised=each[b], again=each[c]) for each in lists])
        for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 0, 2))
    ]
    assert all((each.items, each.met) == (read[0].items, read[0].met) for each in read)
    for met, each in zip(read[0].met, lists, strict=True):
        assert {read[0].items[item].url for item in met} == {found.url for side in each for found in side}
