"""The page of the experiments on the audit: charts with tables and findings, parts that were run alone."""

from dataclasses import replace

import pyarrow as pa
import pytest

from aidos.report.page import Figure, render
from aidos.studies.audit.loop import MARKED, UNMARKED
from aidos.studies.audit.plan import PARTS, AuditExperiment
from aidos.studies.audit.study import AuditOutcome, study_audit
from aidos.world.size import World

pytestmark = pytest.mark.slow

FEW = {
    "samples": 2,
    "worlds": 1,
    "documents": 400,
    "queries": 60,
    "profile_sizes": (1, 2),
    "group_sizes": (2, 3),
    "group_topics": (1, 2),
    "described_by": (3, 6),
    "null_sets": 10,
    "effect_sets": 5,
    "query_numbers": (20, 40),
    "timed_queries": (20, 30),
    "repetitions": 1,
}
TITLES = {
    "recovery": "Lists drawn from the model",
    "topics": "Which topics are found",
    "disambiguation": "Which of two lists is personalised",
    "users": "Whose lists they are",
    "sweep": "How many topics describe results",
    "time": "INF against EM",
    "alarms": "False alarms",
    "power": "How many queries are needed",
    "world": "Accounts of the sample world",
    "loop": "Audit, shield, audit again",
}
ACCOUNT = {
    "account": 0,
    "queries": 40,
    "topics": 60,
    "true_topics": 6,
    "r_precision": 0.8,
    "r_precision_of_shift": 0.7,
    "detected": True,
    "p_value": 0.01,
    "found": 3,
    "found_true": 2,
    "sensitive_found": True,
    "rate": 0.4,
    "true_rate": 0.5,
}
LOOPED = {
    "account": 0,
    "audited_as": "debt",
    "true_weight": 1.0,
    "before": 8.0,
    "found_before": True,
    "changed": True,
    "p_before": 0.001,
    "p_after": 0.2,
    "sent": 0.4,
    "hidden": 0.1,
}


@pytest.fixture(scope="module")
def outcome():
    """Measured but for accounts and loops, whose rows are given."""
    parts = tuple(part for part in PARTS if part not in ("world", "loop"))
    asked = "aidos evaluate audit -o results"
    found = study_audit(World(size=150, seed=7), AuditExperiment(**FEW, parts=parts), asked=asked)
    loops = [
        {**LOOPED, "topic": topic, "shield": shield, "marked": marked, "sensitive": marked, "found_after": False}
        | {"after": 0.5 if marked and shield == MARKED else 5.0}
        for shield in (MARKED, UNMARKED)
        for topic, marked in (("debt", True), ("gardening", False))
    ]
    world = pa.Table.from_pylist([ACCOUNT, {**ACCOUNT, "account": 1, "detected": False}])
    rows = {**found.rows, "accounts-audited": world, "loops-run": pa.Table.from_pylist(loops)}
    return replace(found, rows=rows)


def claim_rows(outcome):
    (table,) = outcome.blocks()
    assert table.columns == ("finding", "holds", "numbers")
    return table.rows


def test_the_page_has_a_chapter_for_each_part_and_says_what_it_cannot_know(outcome):
    page = outcome.page()
    titles = [chapter.title for chapter in page.chapters]
    assert titles == ["In short", *(TITLES[part] for part in PARTS), "The same again"]
    text = render(page)
    assert "Engines and accounts are made up" in text
    assert "remembers nothing" in text
    assert "aidos evaluate audit -o results" in text
    assert "Finding: not for release" not in text


def test_every_chart_has_a_table_of_its_own_and_a_caption_with_numbers(outcome):
    figures = [block for chapter in outcome.page().chapters for block in chapter.blocks if isinstance(block, Figure)]
    assert len(figures) >= 13
    assert len({figure.table.caption for figure in figures}) == len(figures)
    for figure in figures:
        assert figure.table.rows
        assert figure.caption.endswith(".")
        assert any(sign.isdigit() for sign in figure.caption)
        assert "nan" not in figure.caption


@pytest.mark.parametrize("part", PARTS)
def test_a_single_part_makes_a_page_of_its_own(outcome, part):
    alone = replace(outcome, rows={name: outcome.rows[name] for name in AuditOutcome.parts[part]})
    assert [chapter.title for chapter in alone.page().chapters] == ["In short", TITLES[part], "The same again"]
    rows = claim_rows(alone)
    assert rows
    assert all(row in claim_rows(outcome) for row in rows)


def test_findings_of_the_loop_are_read_from_its_rows(outcome):
    rows = {str(row[0]): row[1] for row in claim_rows(outcome)}
    assert rows["it is the mark that hides it: behind the shield without marks its weight is larger"] == "yes"
    kept = [{**row, "after": 9.0} for row in outcome.rows["loops-run"].to_pylist()]
    failed = replace(outcome, rows={"loops-run": pa.Table.from_pylist(kept)})
    assert {row[1] for row in claim_rows(failed)} == {"no"}
    unmarked = [{**row, "marked": False} for row in kept]
    nothing = replace(outcome, rows={"loops-run": pa.Table.from_pylist(unmarked)})
    assert [row[:2] for row in claim_rows(nothing)] == [("the first audit finds something sensitive to mark", "no")]
