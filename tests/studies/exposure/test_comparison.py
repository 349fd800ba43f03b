"""Rankers side by side: what is measured, what counts, what is significant, and what machines are told."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aidos.errors import InputError
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.teaching import Rows
from aidos.rooms.exposure.queries.records import Exposures
from aidos.studies.exposure.comparison import Graded, Scored, compare, measure_all
from aidos.studies.exposure.study import LEARNED, MEASURES, NOTE, THESIS
from aidos.studies.tables import holm, paired_test
from oracles.ranking import kendall_tau, ndcg_at, precision_at

MEMBERS, QUERIES = 30, 40
TOPICAL = FEATURES.index("topical_sensitivity")
RANK = FEATURES.index("rank")


@pytest.fixture(scope="module")
def outcome():
    """The grade is topical sensitivity and noise; rank is the same, more noisy and upside down; the rest is noise."""
    stream = np.random.default_rng(8)
    number = MEMBERS * QUERIES
    grades = stream.integers(0, 3, number).astype(float)
    grades[:QUERIES] = 0.0  # one member has nothing that differs
    matrix = stream.random((number, len(FEATURES)))
    matrix[:, TOPICAL] = grades + stream.normal(0, 0.5, number)
    matrix[:, RANK] = -(grades + stream.normal(0, 2, number))
    matrix[:, 0] = 1.0
    whole = np.ones(number, dtype=np.bool_)
    numbers = np.arange(number, dtype=np.int32)
    exposures = Exposures(
        members=numbers // QUERIES,
        posts=numbers,
        first=numbers,
        second=numbers,
        ranks=np.ones(number, dtype=np.int16),
        whole=whole,
        certain=whole,
        documents=numbers,
        evenness=np.zeros(number, dtype=np.uint8),
    )
    rankers = {
        LEARNED: Scored(kind="learned", scores=grades + stream.normal(0, 0.1, number)),
        "another": Scored(kind="model", scores=matrix[:, 1]),
    }
    rows = Rows(exposures=exposures, matrix=matrix)
    return compare(rows, Graded(grades=grades, about="made up"), rankers), grades, rows


@given(
    st.integers(1, 60).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=n, max_size=n),
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
        )
    )
)
@settings(deadline=None)
def test_all_rankers_at_once_are_as_one_by_one(made):
    scores, grades = np.array(made[0], dtype=float), np.array(made[1], dtype=float)
    if np.ptp(grades) == 0:
        return
    expected = [
        (
            precision_at(column, grades, 10),
            precision_at(column, grades, 20),
            ndcg_at(column, grades, 10),
            ndcg_at(column, grades, 20),
            kendall_tau(column, grades),
        )
        for column in scores.T
    ]
    assert measure_all(scores, grades) == pytest.approx(np.array(expected))


def test_members_without_differences_are_left_out_and_counted(outcome):
    found, grades, _ = outcome
    assert (found.basis.members, found.basis.left_out) == (MEMBERS - 1, 1)
    assert found.basis.rows == (MEMBERS - 1) * QUERIES
    assert found.basis.critical == pytest.approx((grades[QUERIES:] > 0).mean())
    assert found.values.shape == (2 + len(FEATURES), MEMBERS - 1, len(MEASURES))


def test_features_rank_in_the_direction_that_serves_them_best(outcome):
    found, grades, rows = outcome
    assert found.directions[found.rankers.index("rank")] == -1
    assert found.directions[found.rankers.index("topical_sensitivity")] == 1
    mine = slice(QUERIES, 2 * QUERIES)
    assert found.of("rank", "ndcg_10")[0] == pytest.approx(ndcg_at(-rows.matrix[mine, RANK], grades[mine], 10))
    assert found.best_features(2) == ["topical_sensitivity", "rank"]


def test_a_constant_feature_is_chance(outcome):
    found, grades, _ = outcome
    constant = found.of(FEATURES[0], "precision_10")
    assert constant == pytest.approx(
        [(grades[at : at + QUERIES] > 0).mean() for at in range(QUERIES, len(grades), QUERIES)]
    )
    assert found.of(FEATURES[0], "kendall") == pytest.approx(np.zeros(MEMBERS - 1))


def test_comparisons_are_corrected_for_the_number_of_features(outcome):
    found, _, _ = outcome
    compared = found.comparisons("ndcg_20")
    assert [one.ranker for one in compared] == list(found.rankers[1:])
    raw = [paired_test(found.of(name, "ndcg_20"), found.of(LEARNED, "ndcg_20")).p for name in FEATURES]
    assert [one.corrected for one in compared[1:]] == pytest.approx(holm(raw).tolist())
    assert compared[0].corrected == compared[0].test.p
    assert found.unbeaten("ndcg_20") == []
    assert all(one.beaten for one in compared)


def test_what_is_not_worse_is_not_beaten(outcome):
    _, grades, rows = outcome
    scores = {"in question": Scored(kind="model", scores=rows.matrix[:, TOPICAL])}
    again = compare(rows, Graded(grades=grades, about=""), scores)
    assert again.unbeaten("kendall") == ["topical_sensitivity"]


def test_summary_and_json(outcome):
    found, _, _ = outcome
    summary = found.table().to_pylist()
    assert len(summary) == len(found.rankers) * len(MEASURES)
    row = next(row for row in summary if row["ranker"] == "rank" and row["measure"] == "kendall")
    values = found.of("rank", "kendall")
    assert row["mean"] == pytest.approx(values.mean())
    assert row["low"] < row["mean"] < row["high"]
    assert row["beaten"] is True
    assert row["direction"] == -1
    shown = set(found.shown(best=1))
    assert shown == {LEARNED, "another", "topical_sensitivity", *THESIS}
    told = json.loads(json.dumps(found.facts(), allow_nan=False))
    assert told["note"] == NOTE
    assert told["thesis"]["selectivity"]["precision_10"] == 0.508
    assert told["unbeaten_features"] == {measure: found.unbeaten(measure) for measure in MEASURES}


def test_where_all_grades_are_the_same_nothing_can_be_told(outcome):
    _, grades, rows = outcome
    with pytest.raises(InputError, match="different grades"):
        compare(rows, Graded(grades=np.ones_like(grades), about=""), {})


def test_what_was_not_measured_is_refused(outcome):
    with pytest.raises(InputError, match="not measured"):
        outcome[0].of("learned", "speed")
