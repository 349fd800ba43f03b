"""The page about two audits of one account."""

from dataclasses import replace

import numpy as np
from made_findings import conclusion, finding, span

from aidos.core.mechanism import Finding
from aidos.report.page import render
from aidos.rooms.audit.comparison import AuditComparison
from aidos.rooms.audit.jobs.compare import ComparedAudits
from aidos.rooms.audit.uncertainty import Interval


def story(factors, *, found=None, reach=1.0, **changes):
    """The second audit has the weights of the first times a factor, topic by topic."""
    before = finding()
    after = replace(
        before,
        topics=tuple(
            replace(
                each,
                weight=span(each.weight.value * factors.get(each.topic.id, 1.0)),
                found=each.found if found is None else each.topic.id in found,
            )
            for each in reversed(before.topics)
        ),
        rate=span(0.12, 0.05),
        detected=found != (),
        conclusion=conclusion(found != ()),
        p_value=conclusion(found != ()).p_value,
    )
    weights = {each.topic.id: each.weight.value for each in before.topics}
    difference = np.array([weights[topic] * (factors.get(topic, 1.0) - 1) for topic in before.space.ids])
    comparison = AuditComparison(
        topics=before.space.topics,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        rate_difference=-0.29,
        rate=Interval(-0.4, -0.2),
    )
    return ComparedAudits(before=before, after=after, comparison=comparison, **changes)


def test_topics_are_matched_by_id_and_those_that_changed_come_first():
    changes = story({"gambling": 0.0, "diabetes": 0.1}, found=("hiking",)).topics
    assert [each.before.topic.id for each in changes][:3] == ["diabetes", "gambling", "hiking"]
    assert all(each.before.topic == each.after.topic for each in changes)
    assert [each.happened for each in changes[:3]] == ["no longer found", "no longer found", "no change beyond chance"]
    assert changes[0].change.value < -2
    assert changes[1].change.value > 1


def test_the_words_name_what_fell_what_rose_and_what_stayed():
    words = story({"diabetes": 0.1, "hiking": 2.0}, found=("hiking", "gambling")).summary
    assert words == (
        "The service changed results in about 4 of 10 searches before and in about 1 of 10 searches after. "
        "It pulls less on Diabetes. It pulls more on Hiking & <trails>. It still goes by Gambling."
    )
    assert "No topic changed by more than chance." in story({}).summary
    gone = story({"diabetes": 0, "hiking": 0, "gambling": 0}, found=()).summary
    assert "Before: personalised by topic. After: nothing found." in gone


def test_the_page_is_a_finding_with_every_topic_and_the_marks():
    made = story({"diabetes": 0.1}, found=("hiking", "gambling"), marked=("diabetes",), notes=("So.",)).page()
    assert isinstance(made.source, Finding)
    text = render(made)
    assert "Diabetes (marked)" in text
    assert "no longer found, marked" in text
    assert "Hiking &amp; &lt;trails&gt;" in text
    assert "<trails>" not in text
    assert "looks the same as an effect of what you did" in text


def test_the_figure_has_two_dots_for_each_topic_and_the_table_all_numbers():
    told = story({"diabetes": 0.1})
    figure = told.figure()
    assert figure.caption == "1 topic changed by more than chance."
    assert figure.chart.wide.body.count("<rect") == 1 + 6
    assert figure.chart.wide.body.count("<circle") == 1 + 6
    rows = figure.table.rows
    assert rows[0][:5] == ("Diabetes", "+3.10", "+0.31", "-2.79", "-3.79 to -1.79")
    assert len(figure.table.rows) == 6
