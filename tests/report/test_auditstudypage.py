"""The page of the experiments on the audit: charts with tables and findings, parts that were run alone."""

import pyarrow as pa
import pytest

from aidos.report.page import Figure, render
from aidos.studies.audit.accounts import MARKED, UNMARKED
from aidos.studies.audit.experiment import run_experiment
from aidos.studies.audit.outcome import RAW, Outcome
from aidos.studies.audit.page import CLAIM_COLUMNS, AuditStudy, audit_study_page, claim_rows
from aidos.studies.audit.plan import PARTS, AuditExperiment
from aidos.world.size import World

pytestmark = pytest.mark.slow

FEW = {
    "samples": 2,
    "worlds": 1,
    "documents": 400,
    "queries": 60,
    "profile_sizes": (1, 2),
    "group_sizes": (2, 3),
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
    found = run_experiment(World(size=150, seed=7), AuditExperiment(**FEW, parts=parts))
    loops = [
        {**LOOPED, "topic": topic, "shield": shield, "marked": marked, "sensitive": marked, "found_after": False}
        | {"after": 0.5 if marked and shield == MARKED else 5.0}
        for shield in (MARKED, UNMARKED)
        for topic, marked in (("debt", True), ("gardening", False))
    ]
    world = pa.Table.from_pylist([ACCOUNT, {**ACCOUNT, "account": 1, "detected": False}])
    rows = {**found.rows, "accounts-audited": world, "loops-run": pa.Table.from_pylist(loops)}
    return Outcome(rows=rows, facts=found.facts)


def page_of(outcome):
    return audit_study_page(AuditStudy(outcome=outcome, command="aidos evaluate audit -o results"))


def test_the_page_has_a_chapter_for_each_part_and_says_what_it_cannot_know(outcome):
    page = page_of(outcome)
    titles = [chapter.title for chapter in page.chapters]
    assert titles == ["In short", *(TITLES[part] for part in PARTS), "The same again"]
    text = render(page)
    assert "Engines and accounts are made up" in text
    assert "remembers nothing" in text
    assert "aidos evaluate audit -o results" in text
    assert "Finding: not for release" not in text


def test_every_chart_has_a_table_of_its_own_and_a_caption_with_numbers(outcome):
    figures = [block for chapter in page_of(outcome).chapters for block in chapter.blocks if isinstance(block, Figure)]
    assert len(figures) >= 13
    assert len({figure.table.caption for figure in figures}) == len(figures)
    for figure in figures:
        assert figure.table.rows
        assert figure.caption.endswith(".")
        assert any(sign.isdigit() for sign in figure.caption)
        assert "nan" not in figure.caption


@pytest.mark.parametrize("part", PARTS)
def test_a_single_part_makes_a_page_of_its_own(outcome, part):
    alone = Outcome(rows={name: outcome.rows[name] for name in RAW[part]}, facts=outcome.facts)
    assert [chapter.title for chapter in page_of(alone).chapters] == ["In short", TITLES[part], "The same again"]
    rows = claim_rows(alone)
    assert rows
    assert all(row in claim_rows(outcome) for row in rows)


def test_findings_of_the_loop_are_read_from_its_rows(outcome):
    rows = {str(row[0]): row[1] for row in claim_rows(outcome)}
    assert len(CLAIM_COLUMNS) == 3
    assert rows["it is the mark that hides it: behind the shield without marks its weight is larger"] == "yes"
    kept = [{**row, "after": 9.0} for row in outcome.rows["loops-run"].to_pylist()]
    failed = Outcome(rows={"loops-run": pa.Table.from_pylist(kept)}, facts=outcome.facts)
    assert {row[1] for row in claim_rows(failed)} == {"no"}
    unmarked = [{**row, "marked": False} for row in kept]
    nothing = Outcome(rows={"loops-run": pa.Table.from_pylist(unmarked)}, facts=outcome.facts)
    assert [row[:2] for row in claim_rows(nothing)] == [("the first audit finds something sensitive to mark", "no")]
