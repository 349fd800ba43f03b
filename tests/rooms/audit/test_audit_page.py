"""The page about one account, and the words that it shares with the terminal."""

from dataclasses import replace

import pytest
from made_findings import TOPICS, finding, span, watched

from aidos.core.mechanism import Finding
from aidos.report.page import TwoLists, render
from aidos.rooms.audit.findings import ListDifference, PowerPlan, Suspicion, TopicReason, WatchedResult
from aidos.rooms.audit.headline import verdict_words
from aidos.rooms.audit.page import audit_page, evidence_lists, topic_figure
from aidos.rooms.audit.wording import (
    difference_rows,
    listed,
    move_words,
    power_words,
    searches_words,
    shown_topics,
    topic_rows,
)


def page(**changes):
    return audit_page(finding(**changes), command="aidos audit learn pairs.jsonl")


def titles(made):
    return [chapter.title for chapter in made.chapters]


def test_the_verdict_names_how_often_and_which_topics():
    words = verdict_words(finding())
    assert words == (
        "The service changes your results in about 4 of 10 searches. "
        "It lifts results about Diabetes and Hiking & <trails>, and sinks results about Gambling."
    )
    nothing = verdict_words(finding(detected=False))
    assert nothing.startswith("Nothing found in 320 searches: no more moved, by topic or in any other way")
    assert "Diabetes" not in nothing
    vague = finding(topics=tuple(replace(each, found=False) for each in finding().topics))
    assert "cannot be told which" in verdict_words(vague)


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0.999, "nearly all searches"),
        (0.94, "about 9 of 10 searches"),
        (0.1, "about 1 of 10 searches"),
        (0.094, "about 9 of 100 searches"),
        (0.01, "about 1 of 100 searches"),
        (0.001, "fewer than 1 of 100 searches"),
    ],
)
def test_shares_are_said_as_people_say_them(rate, words):
    assert searches_words(rate) == words


def test_lists_of_names_read_as_a_sentence():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed([str(number) for number in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more topics"


def test_the_page_is_a_finding_that_escapes_what_it_shows():
    made = page()
    assert isinstance(made.source, Finding)
    text = render(made)
    assert "not for release" in text
    assert "Hiking &amp; &lt;trails&gt;" in text
    assert "<trails>" not in text
    assert "<b>" not in text
    assert "<script" not in text
    assert "WWW 2013" in text


def test_evidence_is_there_only_where_something_was_detected():
    assert "See for yourself" in titles(page())
    nothing = page(detected=False)
    assert "See for yourself" not in titles(nothing)
    text = render(nothing)
    assert "search 0" not in text
    assert "does not mean that the service holds no profile" in text
    assert "between about 480 and 1,300 searches in all" in text
    assert "41%" not in text  # a rate would say that something was found


def test_both_lists_of_a_search_stand_in_their_own_order():
    made = evidence_lists(finding(), watched())
    assert isinstance(made, TwoLists)
    without, with_account = made.lists
    assert [item.title[:8] for item in without] == [f"Result {rank}" for rank in range(1, 6)]
    assert [item.title[:8] for item in with_account] == [f"Result {rank}" for rank in (4, 1, 2, 3, 5)]
    assert with_account[0].words == "up 3 places: about Diabetes"
    assert with_account[0].move == "up"
    assert with_account[0].source == "site4.example.org"
    assert with_account[4].words == ""
    assert with_account[1].words == "down 1 place: less about Diabetes"
    assert all(not item.words for item in without)


def test_long_lists_are_cut_where_a_page_of_results_ends():
    results = tuple(
        WatchedResult(title=f"Result {rank}", address="", vanilla_rank=31 - rank, personalised_rank=rank)
        for rank in range(1, 31)
    )
    made = evidence_lists(finding(), replace(watched(), results=results))
    assert [len(each) for each in made.lists] == [10, 10]
    assert made.lists[1][0].words == "up 29 places"
    assert made.marks[-1] == "the first 10 of 30 results"


def test_moves_are_explained_by_what_a_result_has_of_a_topic():
    def moved(before, now, push):
        reason = TopicReason(topic=TOPICS["gambling"], push=push) if push else None
        return WatchedResult(title="t", address="", vanilla_rank=before, personalised_rank=now, reason=reason)

    assert move_words(moved(1, 4, -1.0), lifted=()) == "down 3 places: about Gambling"
    assert move_words(moved(4, 3, 1.0), lifted=()) == "up 1 place: less about Gambling"
    assert move_words(moved(4, 3, 1.0), lifted=("gambling",)) == "up 1 place: about Gambling"
    assert move_words(moved(4, 3, 0), lifted=()) == "up 1 place"
    assert move_words(moved(3, 3, 0), lifted=()) == ""


def test_all_topics_are_in_the_table_and_the_drawn_ones_begin_with_those_found():
    rows = topic_figure(finding()).table.rows
    assert [row[0] for row in rows] == [each.topic.name for each in finding().topics]
    assert [row[1] for row in rows] == ["lifts it", "lifts it", "sinks it", *["may be chance"] * 3]
    assert rows[0][2:4] == ("+3.10", "+2.30 to +3.90")
    drawn = [each.topic.id for each in shown_topics(finding(), 4)]
    assert drawn == ["diabetes", "hiking", "gambling", "chess"]
    assert topic_rows(()) == []


def test_noise_is_shown_where_it_is_known_and_asked_for_where_it_is_not():
    rows = difference_rows(finding().differences)
    assert rows[0][1:] == ("0.110", "0.020", "0.0005")
    assert "Noise is how far" in render(page())
    alone = (ListDifference(measure="rbo", mean=0.25, noise=None, p_value=None),)
    assert difference_rows(alone)[0][1:] == ("0.250", None, None)
    assert "without an account twice" in render(page(differences=alone))
    assert "How far the lists differ" not in titles(page(differences=()))


def test_exchanged_lists_are_told_first_and_warnings_before_the_method():
    whole = page(suspicion=Suspicion(whole_file=True, pairs=()))
    assert "probably exchanged" in render(whole)
    assert type(whole.chapters[0].blocks[0]).__name__ == "Callout"
    made = page(warnings=("lists hardly mix topics",))
    assert titles(made)[-2:] == ["Before you believe it", "How it was found"]
    assert "Lists hardly mix topics." in render(made)
    assert "Before you believe it" not in titles(page())


def test_a_plan_says_how_many_searches_or_that_no_number_can_be_named():
    def words(fewest, queries):
        return power_words(
            finding(power=PowerPlan(topic=TOPICS["chess"], chance=0, fewest=fewest, queries=queries), detected=False)
        )

    assert "no number can be named" in words(None, None)
    assert "at least about 99 searches in all" in words(99, None)
    assert "at least about 130 searches in all" in words(121, 10**7)
    assert "between about 130 and 4,200 searches in all" in words(130, 4195)
    assert "more than 100,000 searches" in words(10**6, None)


def test_one_of_something_is_one():
    one = finding(detected=False, queries=1)
    assert "found in 1 search:" in verdict_words(one)
    assert "None of 1 topic moves" in topic_figure(replace(one, topics=one.topics[:1])).caption


def test_a_page_of_many_topics_draws_those_that_matter():
    one = finding().topics[3]
    many = tuple(
        replace(one, topic=replace(one.topic, id=f"t{number}", name=f"Topic {number}"), weight=span(-number / 10))
        for number in range(100)
    )
    made = topic_figure(finding(topics=many))
    assert "The 14 that stand out most are drawn" in made.caption
    assert len(made.table.rows) == 100
