"""The pages of the utility experiments: figures with tables and findings, the papers beside, marked as findings."""

from dataclasses import replace

import pyarrow as pa
import pytest

from aidos.engine.embedded import EmbeddedEngine
from aidos.report.page import DataTable, Figure, render
from aidos.studies.figures import thinned
from aidos.studies.utility.experiment import Source, run_experiment
from aidos.studies.utility.page import CAME_OUT, CLAIM_COLUMNS, claim_rows
from aidos.studies.utility.plan import EXPERIMENTS, UtilityPlan
from aidos.studies.utility.study import UtilityOverview
from aidos.world.documents import document_blocks
from aidos.world.log import log_blocks
from aidos.world.size import World

pytestmark = pytest.mark.slow

WORLD = World(size=120, seed=7)
PLAN = UtilityPlan(
    epsilons=(50.0, 100.0),
    usual_epsilon=100.0,
    items_per_person=(1, 6, 40),
    ks=(5, 9),
    usual_k=5,
    tops=(10, 100),
    equal_epsilons=(20.0,),
    equal_delta=1e-2,
    kinds=("keywords", "queries"),
    noise_scales=(2.0, 20.0),
    thresholds=(10, 20),
    usual_noise=2.0,
    usual_threshold=10,
    folds=2,
    tried_queries=40,
    pool_size=40,
)
FIGURES = {"statistics": 20, "caching": 5, "substitution": 20, "retrieval": 4, "mechanisms": 4}


@pytest.fixture(scope="module")
def outcomes():
    with EmbeddedEngine(threads=1) as engine:
        source = Source(
            log=engine.table(pa.concat_tables(log_blocks(WORLD))),
            about="A sample",
            fingerprint="sample",
            documents=engine.table(pa.concat_tables(document_blocks(WORLD)).select(["object_id", "text"])),
        )
        return {name: run_experiment(name, source, PLAN) for name in EXPERIMENTS}


def page_of(outcome, *, synthetic=False):
    return replace(outcome, asked="aidos evaluate it -o results", synthetic=synthetic).page()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_chart_has_a_table_and_a_finding(outcomes, experiment):
    page = page_of(outcomes[experiment])
    figures = [block for chapter in page.chapters for block in chapter.blocks if isinstance(block, Figure)]
    assert len(figures) == FIGURES[experiment]
    assert all(figure.table.rows and figure.caption.endswith(".") for figure in figures)
    text = render(page)
    assert "Finding: not for release" in text
    assert "they carry no guarantee" in text
    assert "nan" not in text.replace("dominant", "")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_papers_stand_beside_what_was_found(outcomes, experiment):
    outcome = outcomes[experiment]
    tables = [block for block in page_of(outcome).chapters[0].blocks if isinstance(block, DataTable)]
    assert tables[0].columns == CLAIM_COLUMNS
    assert tables[0].rows == tuple(claim_rows(outcome))
    assert {row[CAME_OUT] for row in tables[0].rows} <= {"yes", "no", "cannot be told"}
    assert all(row[-1] for row in tables[0].rows)


def test_one_page_leads_to_all(outcomes):
    found = tuple(outcome for name, outcome in outcomes.items() if name != "caching")
    made = {"outcomes": found, "left_out": {"caching": "it needs documents"}, "asked": "aidos evaluate utility"}
    page = UtilityOverview(**made, synthetic=False).page()
    text = render(page)
    assert "Finding: not for release" in text
    assert "Caching is left out: it needs documents." in text
    for outcome in found:
        assert f'href="{outcome.experiment}/report.html"' in text
        assert sum(rows_of(page, outcome.experiment)) == len(claim_rows(outcome))
    assert "Finding" not in render(UtilityOverview(**made, synthetic=True).page())


def rows_of(page, experiment):
    table = next(block for block in page.chapters[0].blocks if isinstance(block, DataTable))
    return next(row[1:] for row in table.rows if row[0] == experiment)


def test_a_sample_is_about_nobody(outcomes):
    assert "Finding: not for release" not in render(page_of(outcomes["caching"], synthetic=True))


def test_so_many_lines_are_drawn_as_can_be_told_apart():
    lines = {str(number): [(1.0, 1.0)] for number in range(9)}
    assert list(thinned(lines)) == ["0", "2", "3", "5", "6", "8"]
    assert thinned({"a": []}) == {"a": []}
