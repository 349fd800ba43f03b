"""Retrieval before and after a release: who is held out, what is measured, and whether a difference is told."""

import math
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from aidos.core.mechanism import Finding
from aidos.core.noise import Noise
from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.jobs.recipe import Recipe
from aidos.rooms.publish.catalogue import build_release
from aidos.rooms.publish.items import KINDS, contributions
from aidos.rooms.publish.released import CountedTables, counted_tables
from aidos.studies.tables import paired_test, tell_p
from aidos.studies.utility.retrieval import (
    MEASURES,
    RANKERS,
    HeldOut,
    Holding,
    RetrievalSettings,
    compare_retrieval,
    hold_out,
    score_retrieval,
)
from aidos.world.size import World
from aidos.world.write import write_sample

FEW = Holding(folds=5, queries=200)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("world") / "log.parquet"
    write_sample("log", World(size="tiny"), path)
    with EmbeddedEngine() as engine:
        yield engine.table(engine.parquet(path).fetch())


def count_all(log):
    """The log itself: people by item."""
    counted = {
        kind: contributions(log, KINDS[kind]).fetch(
            f"select {', '.join(KINDS[kind].columns)}, count(*) as people from {{table}} group by all"
        )
        for kind in ("clicks", "pairs")
    }
    return counted_tables(counted)


def release_by(epsilon):
    mechanism = build_release(Recipe(items=("clicks", "pairs"), parameters={"epsilon": epsilon, "delta": 0.01}))
    return lambda log: counted_tables({kind: made.table for kind, made in mechanism.run(log, Noise(3)).items()})


@pytest.fixture(scope="module")
def scores(log):
    sources = {"original": count_all, "again": count_all, "weak": release_by(40.0), "strong": release_by(2.0)}
    parts = []
    for fold in range(FEW.folds):
        held = hold_out(log, fold, FEW)
        for name, make in sources.items():
            scored = score_retrieval(make(held.training), held)
            parts.append(
                scored.append_column("fold", pa.repeat(fold, len(scored))).append_column(
                    "source", pa.repeat(name, len(scored))
                )
            )
    return Finding(value=pa.concat_tables(parts), about="the people of the log")


def people(table):
    return {row[0] for row in table.rows("select distinct client_id from {table}")}


def test_each_person_is_held_out_once(log):
    trained = [people(hold_out(log, fold, FEW).training) for fold in range(5)]
    everybody = people(log)
    missing = [everybody - some for some in trained]
    assert set.union(*missing) == everybody
    assert sum(map(len, missing)) == len(everybody)
    assert min(map(len, missing)) > len(everybody) / 10


def test_relevance_and_feedback_come_from_held_out_people_who_differ(log):
    held = hold_out(log, 0, FEW)
    out = people(log) - people(held.training)
    clicks = log.rows("select client_id, user_query, object_id, position from {table} where action = 'click'")
    givers = {}
    for person, query, address, position in clicks:
        if person in out:
            givers.setdefault((query, address), []).append((person, position))
    relevant = {(row["user_query"], row["object_id"]): row["grade"] for row in held.relevance.to_pylist()}
    told = {(row["user_query"], row["object_id"]): row["position"] for row in held.feedback.to_pylist()}
    assert len(held.relevance.column("user_query").unique()) == 200
    assert relevant.keys() | told.keys() <= givers.keys()
    for item, grade in relevant.items():
        assert grade <= len({person for person, _ in givers[item]})
    alone = {item: {person for person, _ in found} for item, found in givers.items()}
    in_relevance = {person for item in relevant if len(alone[item]) == 1 for person in alone[item]}
    in_feedback = {person for item in told if len(alone[item]) == 1 for person in alone[item]}
    assert in_relevance
    assert in_feedback
    assert not in_relevance & in_feedback
    assert min(told.values()) >= 1


def test_holding_out_repeats_itself_and_another_seed_divides_otherwise(log):
    first, again, other = (hold_out(log, 1, replace(FEW, seed=seed)) for seed in (7, 7, 8))
    assert first.relevance.equals(again.relevance)
    assert people(first.training) == people(again.training)
    assert people(first.training) != people(other.training)


def hand_made(grades):
    rows = [("fern", address, grade) for address, grade in grades.items()] + [("ivy", "z", 1)]
    relevance = pa.table(dict(zip(("user_query", "object_id", "grade"), zip(*rows, strict=True), strict=True)))
    return HeldOut(training=None, feedback=None, relevance=relevance)


def test_measures_are_those_of_the_textbook():
    clicks = pa.table({"user_query": ["fern"] * 4, "object_id": list("abcd"), "count": [9, 7, 5, 3]})
    scored = score_retrieval(CountedTables(clicks=clicks), hand_made({"b": 3, "d": 1, "x": 1}))
    for ranker in RANKERS:
        fern, ivy = (row for row in scored.to_pylist() if row["ranker"] == ranker)
        gained = 3 / math.log2(3) + 1 / math.log2(5)
        best = 3 + 1 / math.log2(3) + 1 / math.log2(4)
        assert fern["answered"]
        assert not ivy["answered"]
        assert fern["nDCG@10"] == pytest.approx(gained / best)
        assert fern["P@5"] == pytest.approx(2 / 5)
        assert fern["P@10"] == pytest.approx(2 / 10)
        assert fern["MAP"] == pytest.approx((1 / 2 + 2 / 4) / 3)
        assert [ivy[measure] for measure in MEASURES] == [0, 0, 0, 0]


def test_feedback_changes_the_second_ranker_only():
    clicks = pa.table({"user_query": ["fern"] * 2, "object_id": ["a", "b"], "count": [9, 7]})
    feedback = pa.table({"user_query": ["fern"], "object_id": ["b"], "position": [1.0]})
    held = replace(hand_made({"b": 1}), feedback=feedback)
    scored = score_retrieval(CountedTables(clicks=clicks), held).to_pylist()
    assert {row["ranker"]: row["MAP"] for row in scored if row["answered"]} == {
        "random walk": 0.5,
        "implicit feedback": 1.0,
    }


def test_transitions_let_the_walk_answer_what_has_no_clicks():
    clicks = pa.table({"user_query": ["moss"], "object_id": ["b"], "count": [7]})
    pairs = pa.table({"user_query": ["fern"], "next_query": ["moss"], "count": [2]})
    scored = score_retrieval(CountedTables(clicks=clicks, pairs=pairs), hand_made({"b": 1})).to_pylist()
    assert {row["ranker"] for row in scored if row["answered"]} == {"random walk"}


def test_the_same_counts_make_no_difference(scores):
    for change in compare_retrieval(scores, "original", "again").value:
        assert change.test.difference == 0
        assert change.test.p == 1
        assert change.test.before > 0


def test_a_stronger_promise_costs_more(scores):
    weak, strong = (compare_retrieval(scores, "original", after).value for after in ("weak", "strong"))
    assert [(change.ranker, change.measure) for change in weak] == [(r, m) for r in RANKERS for m in MEASURES]
    for one, other in zip(weak, strong, strict=True):
        assert one.test.before == other.test.before
        assert one.test.after > other.test.after
        assert one.test.low <= one.test.difference <= one.test.high < 0


def test_tests_are_over_queries_with_their_mean_over_folds(scores):
    table = scores.value
    change = compare_retrieval(scores, "original", "weak").value[0]
    rows = [row for row in table.to_pylist() if row["ranker"] == change.ranker]
    values = {}
    for row in rows:
        values.setdefault(row["query"], {}).setdefault(row["source"], []).append(row[change.measure])
    before = [np.mean(found["original"]) for found in values.values()]
    after = [np.mean(found["weak"]) for found in values.values()]
    expected = ttest_rel(after, before)
    assert change.test.pairs == len(values) < len(rows) / 4
    assert change.test.statistic == pytest.approx(expected.statistic)
    assert change.test.p == pytest.approx(expected.pvalue)


def test_among_the_answered_only_those_that_the_release_has_are_compared(scores):
    every, answered = (
        compare_retrieval(scores, "original", "weak", among=among).value for among in ("all", "answered")
    )
    for whole, part in zip(every, answered, strict=True):
        assert 2 <= part.test.pairs < whole.test.pairs
        assert part.test.after > whole.test.after


def test_an_empty_release_answers_nothing_and_scores_zero():
    clicks = pa.table({"user_query": pa.array([], pa.string()), "object_id": pa.array([], pa.string()),
                       "count": pa.array([], pa.int64())})  # fmt: skip
    scored = score_retrieval(CountedTables(clicks=clicks), hand_made({"b": 1}))
    assert not any(scored.column("answered").to_pylist())
    assert {value for measure in MEASURES for value in scored.column(measure).to_pylist()} == {0.0}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_the_paired_test_is_that_of_scipy(pairs):
    before, after = (np.array(values) for values in zip(*pairs, strict=True))
    change = after - before
    found = paired_test(before, after)
    assert found.difference == pytest.approx(change.mean(), abs=1e-12)
    if np.ptp(change) > 1e-6:
        expected = ttest_rel(after, before)
        interval = expected.confidence_interval(0.95)
        assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_where_nothing_varies_and_where_nothing_is_there():
    same, shifted = (paired_test([0.5, 0.25], after) for after in ([0.5, 0.25], [0.75, 0.5]))
    assert (same.p, same.low, same.high) == (1, 0, 0)
    assert (shifted.statistic, shifted.p, shifted.low) == (math.inf, 0, 0.25)
    single = paired_test([0.5], [0.25])
    assert math.isnan(single.p)
    assert single.difference == -0.25
    assert paired_test([], []).pairs == 0
    assert [tell_p(p) for p in (0.0, 1.2345e-30, 0.5, math.nan)] == ["< 1e-300", "1.2e-30", "0.5", ""]
    with pytest.raises(InputError):
        paired_test([1.0], [1.0, 2.0])
    assert paired_test([1.0], [math.nan]).pairs == 0


def test_logs_and_settings_that_cannot_work_are_refused(log, scores):
    with pytest.raises(InputError, match="object_id"):
        hold_out(log.select("select client_id, user_query from {table}"), 0)
    with pytest.raises(InputError, match="nobody who was held out clicked"):
        hold_out(log.select("select * from {table} where action = 'query'"), 0)
    with pytest.raises(ParameterError, match="from 0 to 4"):
        hold_out(log, 5)
    with pytest.raises(ParameterError):
        Holding(folds=1)
    with pytest.raises(ParameterError):
        RetrievalSettings(self_loop=1.0)
    with pytest.raises(InputError, match="without clicks"):
        score_retrieval(CountedTables(), hand_made({"b": 1}))
    with pytest.raises(ParameterError, match="no scores of stronger"):
        compare_retrieval(scores, "original", "stronger")


def test_what_measures_rankings_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    clicks = pa.table({"user_query": ["fern"], "object_id": ["b"], "count": [7]})
    with pytest.raises(MissingExtraError) as refused:
        score_retrieval(CountedTables(clicks=clicks), hand_made({"b": 1}))
    assert refused.value.extra == "studies"


def test_a_log_without_positions_has_no_feedback(log):
    held = hold_out(log.select("select * exclude (position) from {table}"), 0, FEW)
    assert held.feedback is None
    assert len(held.relevance)
