"""The page about one query, and the tree that is drawn on it."""

import numpy as np
import pytest

from aidos.core.mechanism import Finding
from aidos.core.profile import SessionMemory
from aidos.errors import ParameterError
from aidos.report.page import DataTable, Figure, render
from aidos.report.trees import MOST_LINES, TreeLine, tree
from aidos.rooms.shield.profile.decision import Decision, SeedTopic
from aidos.rooms.shield.profile.explaining import Explained
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation
from aidos.rooms.shield.profile.page import (
    shield_page,
    standing_rows,
    state_words,
    tree_block,
)
from aidos.rooms.shield.profile.prune import Standing
from aidos.rooms.shield.profile.requirement import HeldProfile


def topic(name, depth, state="sent", *, sensitive=False):
    return SeedTopic(
        topic=name, depth=depth, state=state, sensitive=sensitive, asked=depth == 2, preference=0.5, cost=0.25
    )


def decided(topics, outcome="sent", **changes):
    given = {
        "outcome": outcome,
        "reason": "1 topic is left out",
        "topics": tuple(topics),
        "query_power": 0.3,
        "before": Standing(0.5, 0.4),
        "after": Standing(0.4, 1e-18),
        "iterations": 1,
        "sent": np.zeros(0, np.int32),
        "basis": HeldProfile(supports=np.zeros(1), documents=np.zeros(1)),
        "blind": False,
    }
    return Decision(**(given | changes))


def story(decision, **changes):
    names = {each.topic: f"The {each.topic} <b>" for each in decision.topics}
    terms = ProfileGeneralisation(risk="unmarked" if decision.blind else "excess")
    return Explained(query="a <query>", decision=decision, terms=terms, names=names, **changes)


SEED = [topic("root", 0), topic("arts", 1), topic("debt", 2, "hidden", sensitive=True)]


def test_the_page_is_a_finding_that_escapes_what_it_shows():
    page = shield_page(story(decided(SEED)))
    assert isinstance(page.source, Finding)
    text = render(page)
    assert "The debt &lt;b&gt;" in text
    assert "<query>" not in text
    assert "hidden, sensitive" in text


def test_states_are_hidden_only_where_something_was_weighed_up():
    weighed, distinct = decided(SEED), decided(SEED, "distinct")
    assert state_words(weighed, SEED[2]) == "hidden, sensitive"
    assert state_words(distinct, SEED[2]) == "not sent, sensitive"
    assert state_words(weighed, SEED[1]) == "sent"


def test_numbers_are_rounded_and_name_the_limit_and_what_was_shown_before():
    rows = standing_rows(story(decided(SEED)))
    assert [row[1:] for row in rows] == [(0.4, 0.0), (0.5, 0.4), (0.2, 0.1)]
    assert "at most 0.1" in rows[0][0]
    later = standing_rows(story(decided(SEED), memory=SessionMemory(shown=frozenset({"arts"}))))
    assert "shown before" in later[0][0]


def test_without_a_limit_no_risk_is_told_but_what_the_promise_is():
    told = story(decided(SEED, blind=True))
    assert [row[0].partition(":")[0].partition(",")[0] for row in standing_rows(told)] == [
        "power",
        "gain over the query alone",
    ]
    text = render(shield_page(told))
    assert "play no part in what is sent" in text
    assert "limit of risk" not in text


def test_what_gains_nothing_is_not_sent_and_says_so():
    assert "nothing would be gained" in render(shield_page(story(decided(SEED, "no-gain"))))


def test_a_story_without_topics_is_told_in_words():
    text = render(
        shield_page(story(decided([topic("root", 0, "hidden")], "nothing-in-common", reason="nothing at all")))
    )
    assert "Nothing at all." in text
    assert "<figure" not in text


def test_trees_that_cannot_be_looked_over_become_tables():
    many = [topic("root", 0), *(topic(f"t{number}", 1) for number in range(MOST_LINES))]
    assert isinstance(tree_block(story(decided(many))), DataTable)
    assert isinstance(tree_block(story(decided(many[:-1]))), Figure)
    with pytest.raises(ParameterError):
        tree("t", [TreeLine(name="x", depth=0, shown=True, sensitive=False, word="sent")] * (MOST_LINES + 1))


def test_a_tree_has_an_elbow_for_every_topic_below_another_and_stays_inside_its_width():
    lines = [
        TreeLine(name="a long name " * 9, depth=depth, shown=depth < 9, sensitive=depth > 10, word="hidden, sensitive")
        for depth in range(20)
    ]
    chart = tree("deep", lines)
    for drawing in (chart.wide, chart.narrow):
        assert drawing.body.count('stroke-width="1.3"') == 19
        assert drawing.body.count("<text") == 40
        assert drawing.body.count("<rect") == 9
        assert "\u2026" in drawing.body
