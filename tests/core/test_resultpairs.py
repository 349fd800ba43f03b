"""Pairs of result lists: what is the same result, and the two lists over the same items."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aidos.core.resultpairs import Result, ResultPair, align, align_lists, same_address
from aidos.errors import ParameterError


def results(letters: str) -> tuple[Result, ...]:
    return tuple(Result(url=f"https://site.example/{letter}", title=letter) for letter in letters)


def titles(found: tuple[Result, ...]) -> str:
    return "".join(result.title for result in found)


def in_other_order(items: tuple[Result, ...], order: tuple[int, ...]) -> str:
    return "".join(items[place].title for place in order)


lists = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=10, unique=True).map("".join)


@given(vanilla=lists, other=lists)
def test_alignment_is_a_permutation_that_keeps_both_orders(vanilla: str, other: str) -> None:
    found = align_lists(results(vanilla), results(other))
    assert sorted(found.order) == list(range(len(found)))
    assert {item.title for item in found.items} == {*vanilla, *other}
    assert titles(found.items) == vanilla + "".join(letter for letter in other if letter not in vanilla)
    assert in_other_order(found.items, found.order) == other + "".join(x for x in vanilla if x not in other)
    assert found.shared == len({*vanilla} & {*other})
    assert found.is_unchanged == (titles(found.items) == in_other_order(found.items, found.order))


@given(vanilla=lists, other=lists)
def test_swapping_the_lists_inverts_the_permutation_where_nothing_is_missing(vanilla: str, other: str) -> None:
    both = [letter for letter in other if letter in vanilla] or list(vanilla)
    first, second = "".join(sorted(both)), "".join(both)
    there = align_lists(results(first), results(second)).order
    back = align_lists(results(second), results(first)).order
    assert tuple(there[place] for place in back) == tuple(range(len(there)))


def test_every_order_of_four_is_found_again() -> None:
    for order in permutations(range(4)):
        other = tuple(results("abcd")[place] for place in order)
        assert align_lists(results("abcd"), other).order == order


def test_lists_that_share_nothing_stand_behind_each_other() -> None:
    found = align_lists(results("ab"), results("cd"))
    assert titles(found.items) == "abcd"
    assert found.order == (2, 3, 0, 1)
    assert not found.shared


def test_the_second_vanilla_list_is_aligned_with_the_first() -> None:
    pair = ResultPair(query="q", vanilla=results("abc"), personalised=results("cba"), again=results("acb"))
    assert align(pair).order == (2, 1, 0)
    assert pair.again is not None
    assert align_lists(pair.vanilla, pair.again).order == (0, 2, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTPS://Site.Example/A", "https://site.example/A"),
        ("https://site.example", "https://site.example/"),
        ("https://site.example/a#:~:text=words", "https://site.example/a"),
        ("https://site.example?Q=1", "https://SITE.example/?Q=1"),
        (" https://site.example/a ", "https://site.example/a"),
    ],
)
def test_ways_to_write_one_address_are_the_same(one: str, other: str) -> None:
    assert same_address(one) == same_address(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://site.example/A", "https://site.example/a"),
        ("https://site.example/?a=1", "https://site.example/?a=2"),
        ("https://site.example/#!/a", "https://site.example/#!/b"),
        ("http://site.example/", "https://site.example/"),
        ("doc-A", "doc-a"),
    ],
)
def test_different_pages_stay_different(one: str, other: str) -> None:
    assert same_address(one) != same_address(other)


@given(st.text(max_size=40) | st.text("aA:/?#! .", max_size=12).map("hTTp://".__add__))
def test_comparing_an_address_twice_changes_nothing(text: str) -> None:
    assert same_address(same_address(text)) == same_address(text)


def test_a_result_without_address_is_known_by_its_title() -> None:
    assert Result(title="one  two").identity == Result(title="one two").identity
    assert Result(title="one").identity != Result(url="one").identity


def test_text_is_title_and_snippet_or_else_the_words_of_the_address() -> None:
    assert Result(url="u", title="t", snippet="s", words="w").text == "t\ns"
    assert Result(url="u", words="w").text == "w"
    assert not Result(url="u").text


def test_bad_values_are_refused() -> None:
    with pytest.raises(ParameterError, match="address or a title"):
        Result(snippet="s")
    with pytest.raises(ParameterError, match="organic, ad, other"):
        Result(url="u", kind="news")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="vanilla must hold"):
        ResultPair(query="q", vanilla=(), personalised=results("a"))
    with pytest.raises(ParameterError, match="again holds a result twice"):
        ResultPair(query="q", vanilla=results("a"), personalised=results("a"), again=results("aa"))
