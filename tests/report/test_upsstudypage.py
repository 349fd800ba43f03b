"""The page of the experiments on profile generalisation: charts with tables and findings, parts that were run alone."""

from dataclasses import replace

import pytest

from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch
from aidos.report.page import Figure, render
from aidos.studies.ups.plan import PARTS, UpsExperiment
from aidos.studies.ups.study import UpsOutcome, study_ups
from aidos.world.size import World

SMALL = {
    "limits": (0.1, 1.0),
    "session_limits": (0.1,),
    "seed_sizes": (10, 20),
    "taxonomy_sizes": (300, 600),
    "trials": 2,
    "small_seeds": 12,
    "searchers": 40,
    "queries_per_searcher": 6,
    "made_up": 3,
    "small_people": 6,
    "watched_queries": (1, 5),
    "watched": 2,
    "walk": 60,
    "results": 20,
}
TITLES = {
    "speed": ["Cost"],
    "limits": ["Power and risk by the limit"],
    "quality": ["Beside the best there is"],
    "eavesdropper": ["The eavesdropper who knows the rule", "Sessions under a limit"],
    "reranking": ["Re-ranking"],
}


@pytest.fixture(scope="module")
def outcome():
    return study_ups(
        World(size=150, seed=7),
        TopicSearch(default_taxonomy()),
        UpsExperiment(**SMALL),
        asked="aidos evaluate ups -o results",
    )


def claim_rows(outcome):
    (table,) = outcome.blocks()
    assert table.columns == ("finding", "holds", "numbers")
    return table.rows


def test_the_page_has_a_chapter_for_each_part_and_says_what_it_does_not_protect(outcome):
    page = outcome.page()
    assert [chapter.title for chapter in page.chapters] == [
        "In short",
        *(title for part in PARTS for title in TITLES[part]),
        "The same again",
    ]
    text = render(page)
    assert "this is not differential privacy" in text
    assert "The query itself is not protected" in text
    assert "aidos evaluate ups -o results" in text
    assert "Finding: not for release" not in text


def test_every_chart_has_a_table_of_its_own_and_a_caption_with_a_finding(outcome):
    figures = [block for chapter in outcome.page().chapters for block in chapter.blocks if isinstance(block, Figure)]
    assert len(figures) >= 15
    assert len({figure.table.caption for figure in figures}) == len(figures)
    for figure in figures:
        assert figure.table.rows
        assert figure.caption.endswith(".")
        assert any(sign.isdigit() for sign in figure.caption) or "too few" in figure.caption or "None" in figure.caption
        assert "nan" not in figure.caption


@pytest.mark.parametrize("part", PARTS)
def test_a_single_part_makes_a_page_of_its_own(outcome, part):
    alone = replace(outcome, rows={name: outcome.rows[name] for name in UpsOutcome.parts[part]})
    page = alone.page()
    assert [chapter.title for chapter in page.chapters] == ["In short", *TITLES[part], "The same again"]
    assert all(row in claim_rows(outcome) for row in claim_rows(alone))


def test_findings_are_told_as_rows(outcome):
    rows = claim_rows(outcome)
    assert all(len(row) == 3 and row[1] in ("yes", "no") for row in rows)
    assert any("ratio greedy" in str(row[0]) for row in rows)
