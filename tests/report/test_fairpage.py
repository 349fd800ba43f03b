"""The page of the fairness room, made from courses that are known."""

import numpy as np
import pytest

from aidos.core.mechanism import Finding
from aidos.report.page import DataTable, Figure, render
from aidos.rooms.fairness.course import Course
from aidos.rooms.fairness.page import FairnessStory, fairness_page, outcome_rows

NAMES = tuple(f"subject-{each}" for each in range(20))


def course(method, rate, floor, received=None):
    steps = np.arange(1, 301)
    earned = np.linspace(30, 10, 20)
    return Course(
        method=method,
        quality_floor=floor,
        unfairness=rate * steps,
        quality=np.where(steps % 2, 1.0, 0.9),
        names=NAMES,
        received=earned + np.linspace(3, -3, 20) if received is None else received,
        earned=earned,
    )


def story(**changes):
    chosen, before = course("adaptive", 0.2, 0.8), course("relevance", 1.9, None)
    given = {
        "title": "Attention",
        "lead": "A few words.",
        "courses": (chosen, before),
        "chosen": chosen,
        "before": before,
        "attention": "singular",
        "bounds": {0.8: 0.15},
    }
    return FairnessStory(**(given | changes))


def blocks(page, kind):
    return [block for chapter in page.chapters for block in chapter.blocks if isinstance(block, kind)]


def test_the_table_tells_the_gap_to_the_bound():
    columns, rows = outcome_rows(story().courses, {0.8: 0.15})
    told = [dict(zip(columns, row, strict=True)) for row in rows]
    assert told[0]["unfairness"] == 60.0
    assert told[0]["at least"] == 45.0
    assert told[0]["above it"] == "33.3%"
    assert told[0]["least quality"] == 0.9
    assert (told[1]["floor"], told[1]["at least"], told[1]["above it"]) == (None, None, None)


def test_captions_state_what_is_found():
    captions = " ".join(figure.caption for figure in blocks(fairness_page(story()), Figure))
    assert "adaptive ends lowest, at 60.0, relevance highest, at 570.0" in captions
    assert "no method that keeps the floor can end below 45.0" in captions
    assert "keeps 95.0% of its quality on average and 90.0% at least; the floor is 80%" in captions
    assert "10 of 20 accounts are owed attention" in captions


def test_who_is_owed_most_comes_first():
    tables = {table.caption: table for table in blocks(fairness_page(story()), DataTable)}
    assert tables["Who is owed most"].rows[0][0] == "subject-19"
    assert tables["Who received most beyond relevance"].rows[0][0] == "subject-0"


def test_groups_have_intervals():
    groups = {name: ("a" if number % 2 else "b") for number, name in enumerate(NAMES)}
    tables = {table.caption: table for table in blocks(fairness_page(story(groups=groups)), DataTable)}
    rows = tables["Groups, with 95 % bootstrap intervals"].rows
    assert [row[:2] for row in rows] == [("a", 10), ("b", 10)]
    assert " to " in rows[0][2]


def test_one_figure_for_each_floor_and_one_without_any():
    several = (course("adaptive", 0.2, 0.8), course("adaptive", 0.9, 0.95), course("relevance", 1.9, None))
    titles = [figure.chart.title for figure in blocks(fairness_page(story(courses=several, chosen=several[0])), Figure)]
    assert [title for title in titles if title.startswith("Unfairness")] == [
        "Unfairness over time at a floor of 0.8",
        "Unfairness over time at a floor of 0.95",
    ]
    alone = course("objective", 0.1, None)
    assert render(fairness_page(story(courses=(alone,), chosen=alone, before=None, bounds={})))


@pytest.mark.parametrize("received", [np.linspace(30, 10, 20), np.zeros(20)])
def test_perfect_balance_and_no_attention_at_all_can_be_drawn(received):
    chosen = course("adaptive", 0.0, 0.8, received=received)
    assert "adaptive" in render(fairness_page(story(courses=(chosen,), chosen=chosen, before=chosen)))


def test_real_subjects_make_a_finding_and_odd_names_are_harmless():
    odd = course("adaptive", 0.2, 0.8)
    odd = Course(
        **{field: getattr(odd, field) for field in odd.__slots__} | {"names": ("<script>alert(1)</script>", *NAMES[1:])}
    )
    page = fairness_page(story(courses=(odd,), chosen=odd, source=Finding(value=odd, about="the ranked subjects")))
    text = render(page)
    assert page.findings()
    assert "<script" not in text
    assert "the ranked subjects" in text
