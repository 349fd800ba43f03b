"""The experiments with little of everything: what holds in every run, what is kept, and what is refused."""

import numpy as np
import pytest

from aidos.errors import InputError, ParameterError
from aidos.studies.audit.engines import EVERY, METHODS, SETTINGS, SINGLE, SOME
from aidos.studies.audit.plan import PARTS, AuditExperiment, usual_plan
from aidos.studies.audit.sampled import BELOW, STRONG, VIEWS, WEAK
from aidos.studies.audit.study import AuditOutcome, study_audit
from aidos.world.size import World

pytestmark = pytest.mark.slow

WORLD = World(size=200, seed=7)
FEW = {
    "samples": 2,
    "worlds": 1,
    "documents": 800,
    "queries": 150,
    "profile_sizes": (1, 3),
    "group_sizes": (2, 3),
    "group_topics": (1, 3),
    "described_by": (5, 20),
    "null_sets": 10,
    "effect_sets": 5,
    "query_numbers": (30, 300),
    "timed_queries": (30, 60),
    "repetitions": 1,
    "accounts": 1,
    "loop_accounts": 1,
    "loop_queries": 150,
}
WITHOUT_WORLD = tuple(part for part in PARTS if part not in ("world", "loop"))


@pytest.fixture(scope="module")
def outcome():
    return study_audit(WORLD, AuditExperiment(**FEW, parts=WITHOUT_WORLD))


def rows_of(outcome, name):
    return outcome.tables[name].to_pylist()


def test_every_part_has_its_tables_and_what_must_hold_holds(outcome):
    assert all(outcome.has(part) for part in WITHOUT_WORLD)
    assert not outcome.has("world")
    assert set(outcome.rows) == {name for part in WITHOUT_WORLD for name in AuditOutcome.parts[part]}
    failed = [claim.finding for claim in outcome.claims if not claim.holds]
    # Where three queries in ten are personalised, 30 queries of people with one topic are too few to be certain of.
    certain = ("EM finds the topics", "false alarms", "for every number of people (every query)")
    assert [finding for finding in failed if any(word in finding for word in certain)] == []


def test_sampled_profiles_are_found_by_learning_their_mix_and_not_by_keeping_another(outcome):
    rows = {(row["weights"], row["method"]): row for row in rows_of(outcome, "recovery")}
    assert set(rows) == {(weights, method) for weights in (STRONG, WEAK) for method in ("INF", "EM")}
    assert rows[STRONG, "EM"]["mix_error"] < 0.05 < rows[STRONG, "INF"]["mix_error"]
    assert rows[STRONG, "EM"]["correlation"] > rows[WEAK, "EM"]["correlation"]


def test_topics_are_found_where_lists_mix_them_and_a_warning_comes_where_they_do_not(outcome):
    rows = {(row["setting"], row["method"], row["topics"]): row for row in rows_of(outcome, "topics")}
    assert set(rows) == {(setting, method, size) for setting in SETTINGS for method in METHODS for size in (None, 1, 3)}
    assert rows[EVERY, "INF", None]["r_precision"] >= 0.75
    assert rows[EVERY, "INF", None]["warned"] == rows[SOME, "INF", None]["warned"] == 0
    assert rows[SINGLE, "INF", None]["warned"] == 1
    assert rows[SINGLE, "INF", None]["mixing"] < 0.02 < rows[EVERY, "INF", None]["mixing"]
    assert [row["paper"] for row in rows.values() if row["paper"]] == [0.84] * len(METHODS)


def test_taking_more_topics_finds_more_and_precision_follows_from_recall(outcome):
    rows = [row for row in rows_of(outcome, "precision") if (row["setting"], row["method"]) == (EVERY, "INF")]
    recalls = [row["recall"] for row in sorted(rows, key=lambda row: row["taken"])]
    assert recalls == sorted(recalls)
    ranked = outcome.rows["topics-ranked"].to_pylist()
    own = [row["ranks"] for row in ranked if (row["setting"], row["method"]) == (EVERY, "INF")]
    first = next(row for row in rows if row["taken"] == 3)
    assert first["precision"] == pytest.approx(np.mean([sum(rank <= 3 for rank in ranks) / 3 for ranks in own]))


def test_lists_and_people_are_told_better_where_every_query_is_personalised(outcome):
    for name in ("disambiguation", "users"):
        means = {
            setting: np.mean([row["accuracy"] for row in rows_of(outcome, name) if row["setting"] == setting])
            for setting in (EVERY, SOME)
        }
        assert means[EVERY] > means[SOME] > 0.3
    told = {(row["method"], row["topics"]): row["paper"] for row in rows_of(outcome, "disambiguation")}
    assert told["EM", 1] == 0.74
    assert told["INF", 3] == 0.68
    three = [row for row in rows_of(outcome, "users") if row["people"] == 3]
    assert {row["chance"] for row in three} == {1 / 3}
    assert all(row["from_all_queries"] >= row["accuracy"] for row in three)


def test_the_papers_scores_are_those_of_their_definitions(outcome):
    """MAP, P@+1 and P@+3 by plain loops over a ranking of fifty topics."""
    ranked = outcome.rows["topics-ranked"].to_pylist()
    for row in rows_of(outcome, "topics"):
        if row["topics"] is None:
            continue
        names = ("setting", "method", "topics")
        own = [set(each["ranks"]) for each in ranked if all(each[name] == row[name] for name in names)]
        maps, plus = [], {1: [], 3: []}
        for true in own:
            hits, precisions = 0, []
            for place in range(1, 51):
                hits += place in true
                precisions += [hits / place] * (place in true)
            maps.append(sum(precisions) / len(true))
            for more, found in plus.items():
                taken = range(1, len(true) + more + 1)
                found.append(sum(place in true for place in taken) / len(taken))
        assert row["average_precision"] == pytest.approx(np.mean(maps))
        assert row["precision_plus_1"] == pytest.approx(np.mean(plus[1]))
        assert row["precision_plus_3"] == pytest.approx(np.mean(plus[3]))


def test_splits_group_topics_numbers_of_topics_and_times_are_all_there(outcome):
    splits = rows_of(outcome, "splits")
    assert {row["learned_from"] for row in splits} == {0.8, 0.9}
    assert all(row["gain"] == 0 for row in splits if row["learned_from"] == 0.8)
    raw = outcome.rows["lists-told-apart"].to_pylist()
    assert {(row["learned_from"], row["queries"]) for row in raw} == {(0.8, 30), (0.9, 15)}
    assert {(row["topics"], row["people"]) for row in rows_of(outcome, "users")} == {(1, 2), (1, 3), (3, 2), (3, 3)}
    sweep = {(row["setting"], row["described_by"]): row["accuracy"] for row in rows_of(outcome, "sweep")}
    assert set(sweep) == {(setting, number) for setting in (EVERY, SOME) for number in (5, 20)}
    assert sweep[EVERY, 20] > 0.5
    times = rows_of(outcome, "time_by_topics")
    assert {(row["topics"], row["method"]) for row in times} == {
        (size, name) for size in (1, 3) for name in ("INF", "EM")
    }
    assert all(row["seconds"] > 0 for row in times)
    assert all(row["times_inf"] == 1 for row in times if row["method"] == "INF")


def test_alarms_are_counted_for_both_kinds_of_noise_with_one_and_two_vanilla_lists(outcome):
    rows = rows_of(outcome, "alarms")
    assert {(row["noise"], row["vanilla_lists"]) for row in rows} == {
        (noise, number) for noise in (BELOW, VIEWS) for number in (1, 2)
    }
    assert all(row["data_sets"] == 10 for row in rows)
    judged = outcome.rows["nothing-judged"].to_pylist()
    assert all(row["alarm"] == (row["p_value"] <= 0.05) for row in judged)


def test_more_queries_detect_more_and_are_foretold_to(outcome):
    few, many = rows_of(outcome, "power")
    assert few["detected"] <= many["detected"]
    assert few["foretold"] < many["foretold"]


def test_time_is_told_in_times_of_inference(outcome):
    rows = rows_of(outcome, "time")
    assert all(row["times_inf"] == 1 for row in rows if row["method"] == "INF")
    assert all(row["seconds"] > 0 and row["rounds"] >= 1 for row in rows)


def test_json_has_no_number_that_json_does_not_know(outcome):
    for rows in outcome.facts().values():
        for row in rows if isinstance(rows, list) else []:
            assert all(not isinstance(value, float) or np.isfinite(value) for value in row.values())


def test_the_same_again_gives_the_same_numbers(outcome):
    again = study_audit(WORLD, AuditExperiment(**FEW, parts=("disambiguation",)))
    assert again.rows["lists-told-apart"].equals(outcome.rows["lists-told-apart"])


def test_parts_are_kept_and_other_plans_are_refused(tmp_path):
    plan = AuditExperiment(**FEW, parts=("power",))
    first = study_audit(WORLD, plan, output=tmp_path / "kept")
    kept = tmp_path / "kept" / "effects-judged.parquet"
    when = kept.stat().st_mtime_ns
    more = study_audit(WORLD, AuditExperiment(**FEW, parts=("power", "time")), output=tmp_path / "kept")
    assert kept.stat().st_mtime_ns == when
    assert more.rows["effects-judged"].equals(first.rows["effects-judged"])
    assert more.has("time")
    with pytest.raises(InputError, match="another experiment"):
        study_audit(WORLD, AuditExperiment(**{**FEW, "samples": 3}), output=tmp_path / "kept")


def test_a_tiny_world_has_less_tried_than_a_small_one():
    tiny, small = usual_plan(World("tiny")), usual_plan(World("small"))
    assert tiny.null_sets < small.null_sets == 200
    assert small.profile_sizes == tuple(range(1, 11))
    assert small.group_sizes == tuple(range(2, 11))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parts": ("mood",)}, "no part 'mood'"),
        ({"parts": ()}, "at least one of parts"),
        ({"profile_sizes": ()}, "at least one of profile sizes"),
        ({"group_sizes": (1, 2)}, "each of group_sizes must be at least 2"),
        ({"null_sets": 1}, "null_sets"),
    ],
)
def test_wrong_plans_are_refused(changes, words):
    with pytest.raises(ParameterError, match=words):
        AuditExperiment(**{**FEW, **changes})


@pytest.mark.slow
def test_all_numbers_that_paper_and_issue_ask_for_come_out():
    fewer = {"samples": 4, "worlds": 2, "effect_sets": 20, "query_numbers": (100, 400), "accounts": 4}
    found = study_audit(World("small"), AuditExperiment(**fewer, loop_accounts=1, timed_queries=(100, 400)))
    assert isinstance(found, AuditOutcome)
    # Shapes that the paper saw take more samples than there are here to come out for sure; the page tells if they did.
    ours = [claim for claim in found.claims if not claim.finding.endswith("the paper)")]
    assert len(ours) > len(found.claims) / 2
    assert [claim.finding for claim in ours if not claim.holds] == []
