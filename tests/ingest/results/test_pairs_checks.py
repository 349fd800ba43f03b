"""What is told of pairs before anything is learned from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from aidos.core.resultpairs import Result, ResultPair
from aidos.ingest.results.checks import Remark, examine_pairs, find_remarks

ENGLISH = "How to care for the garden and the trees that are in your town with this guide"
GERMAN = "Wie man den Garten und die Bäume in der Stadt pflegt, ein Ratgeber für alle"


def results(letters: str, text: str = "words") -> tuple[Result, ...]:
    return tuple(Result(url=f"https://site.example/{x}", title=f"{x} {text}") for x in letters)


def pair(vanilla: str, personalised: str, again: str | None = "x", text: str = "words") -> ResultPair:
    return ResultPair(
        query=vanilla + personalised,
        vanilla=results(vanilla, text),
        personalised=results(personalised, text),
        again=None if again is None else results(again, text),
    )


def remarks(*pairs: ResultPair, topics: int | None = None) -> dict[str, Remark]:
    return {remark.kind: remark for remark in find_remarks(examine_pairs(pairs), topics=topics)}


GOOD = pair("abc", "bac")


def test_good_pairs_have_no_remark() -> None:
    assert not remarks(GOOD, pair("abc", "cab"))


def test_numbers_are_counted() -> None:
    when = datetime(2026, 1, 2)  # noqa: DTZ001
    facts = examine_pairs([replace(GOOD, when=when), pair("abcd", "abef", None), pair("a", "a")])
    assert (facts.pairs, facts.queries, facts.with_again) == (3, 3, 2)
    assert (facts.shortest, facts.median, facts.longest, facts.items) == (1, 3, 6, 10)
    assert facts.shared == pytest.approx((1 + 2 / 6 + 1) / 3)
    assert (facts.first, facts.last) == (when, when)


def test_single_results_warn_and_stop_where_there_is_nothing_else() -> None:
    found = remarks(GOOD, pair("a", "a"))["single-result"]
    assert (found.count, found.stops) == (1, False)
    assert found.sentence.startswith("1 pair has one result only")
    assert remarks(pair("a", "a"), pair("b", "b"))["single-result"].stops


def test_identical_lists_are_told_only_where_all_are() -> None:
    assert "identical-lists" not in remarks(GOOD, pair("abc", "abc"))
    found = remarks(pair("abc", "abc"), pair("de", "de"), pair("f", "f"))["identical-lists"]
    assert found.count == 2
    assert not found.stops  # that nothing is personalised is a finding


def test_a_longer_list_with_the_same_order_is_not_identical() -> None:
    assert examine_pairs([pair("abc", "ab")]).identical == 0


def test_lists_without_overlap_warn_and_stop_where_no_pair_has_any() -> None:
    assert not remarks(GOOD, pair("ab", "cd"))["no-overlap"].stops
    assert remarks(pair("ab", "cd"))["no-overlap"].stops


def test_unequal_lengths_are_told() -> None:
    assert remarks(GOOD, pair("abc", "ab"), pair("a", "ab"))["unequal-lengths"].count == 2


def test_items_without_text_are_told_apart_from_items_with_words_in_their_address() -> None:
    known = (Result(url="https://roses.example/", words="roses"), Result(url="doc-1"))
    other = ResultPair(query="q", vanilla=known, personalised=known[::-1])
    found = remarks(GOOD, other)
    assert found["text-by-address"].count == 1
    assert "the words of the address are used" in found["text-by-address"].sentence
    assert (found["no-text"].count, found["no-text"].stops) == (1, False)
    wordless = ResultPair(query="q", vanilla=known[1:], personalised=known[1:])
    assert remarks(wordless)["no-text"].stops


def test_fewer_pairs_than_topics_are_told() -> None:
    found = remarks(GOOD, pair("abc", "cab"), topics=3)["few-queries"]
    assert "2 pairs are fewer than the 3 topics" in found.sentence
    assert "few-queries" not in remarks(GOOD, pair("abc", "cab"), topics=2)


def test_other_languages_are_told() -> None:
    many = "abcdefghijklmnopqrstuvwxyz"
    assert "not-english" not in remarks(pair(many, many[::-1], text=ENGLISH))
    assert "not-english" in remarks(pair(many, many[::-1], text=GERMAN))
    assert "not-english" in remarks(pair(many, many[::-1], text="как ухаживать за садом и деревьями в городе теперь"))
    assert examine_pairs([GOOD]).english is None


def test_lists_fetched_far_apart_and_missing_noise_control_are_told() -> None:
    late = replace(GOOD, gap=timedelta(hours=-2))
    soon = replace(GOOD, gap=timedelta(minutes=5))
    assert remarks(late, soon)["far-apart"].count == 1
    assert "no-noise-control" in remarks(pair("abc", "bac", None))


def test_what_stops_comes_first() -> None:
    found = find_remarks(examine_pairs([pair("ab", "cde", None)]), topics=9)
    assert [remark.stops for remark in found] == sorted((remark.stops for remark in found), reverse=True)
    assert found[0].kind == "no-overlap"
