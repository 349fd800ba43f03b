"""Claims are read from results: the same fact comes out, does not, or cannot be told."""

import pyarrow as pa
import pytest

from aidos.studies.utility.ground import SCHEMA
from aidos.studies.utility.outcome import UtilityBasis, UtilityOutcome
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER, PoolGrid, UtilityPlan

PLAN = UtilityPlan(kinds=("queries",))
BASIS = UtilityBasis(about="made up", people=1_000, kinds=("queries",))


def outcome(experiment, rows):
    fixed = dict.fromkeys(SCHEMA.names) | {"experiment": experiment, "halved": False, "repeat": 0}
    table = pa.Table.from_pylist([fixed | row for row in rows], schema=SCHEMA)
    return UtilityOutcome(experiment=experiment, plan=PLAN, rows={"results": table}, basis=BASIS)


def claim(found, words):
    return next(one for one in found.claims if words in one.finding)


def by_limit(distinct, totals, mean=20.0):
    shared = {"kind": "queries", "mechanism": PAPER, "epsilon": PLAN.usual_epsilon}
    limits = PLAN.items_per_person
    rows = [
        {"measure": "distinct", "items_per_person": m, "value": v, **shared}
        for m, v in zip(limits, distinct, strict=True)
    ]
    rows += [
        {"measure": "total", "items_per_person": m, "value": v, **shared} for m, v in zip(limits, totals, strict=True)
    ]
    return [*rows, {"measure": "mean_items", "kind": "queries", "mechanism": ORIGINAL, "value": mean}]


@pytest.mark.parametrize(
    ("distinct", "totals", "falls", "tips"),
    [
        ((70, 60, 50, 40, 30, 20, 10), (1, 2, 3, 4, 3, 2, 1), True, True),
        ((70, 60, 65, 40, 30, 20, 10), (1, 2, 3, 4, 5, 6, 7), False, None),
        ((70, 70, 70, 70, 70, 70, 70), (9, 2, 2, 2, 2, 2, 2), False, False),
        ((0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0), None, None),
    ],
)
def test_counts_by_limit(distinct, totals, falls, tips):
    found = outcome("statistics", by_limit(distinct, totals))
    assert claim(found, "fewer distinct queries").holds is falls
    assert claim(found, "tipping near").holds is tips


def test_a_tipping_point_far_from_the_average_is_no_match():
    found = outcome("statistics", by_limit((7, 6, 5, 4, 3, 2, 1), (1, 9, 3, 3, 3, 2, 1), mean=50.0))
    told = claim(found, "tipping near")
    assert told.holds is False
    assert "most at m = 4" in told.here
    assert "average 50" in told.here


def test_the_first_threshold_is_judged_by_the_formula():
    told = claim(outcome("statistics", by_limit((7, 6, 5, 4, 3, 2, 1), (1, 2, 3, 4, 3, 2, 1))), "tau' is least")
    assert told.holds is (" of 11 settings" in told.here and told.here.startswith("so at 11"))


@pytest.mark.parametrize(("kept", "holds"), [(0.39, True), (0.30, False)])
def test_a_cache_is_close_or_not(kept, holds):
    rows = [{"measure": "hit_probability", "mechanism": ORIGINAL, "value": 0.4}]
    rows += [
        {"measure": "hit_probability", "mechanism": PAPER, "epsilon": e, "items_per_person": 6, "value": kept}
        for e in PLAN.epsilons
    ]
    assert claim(outcome("caching", rows), "a few per cent").holds is holds


def suggestions(measure, own, other):
    return [
        {
            "measure": measure,
            "mechanism": PAPER,
            "epsilon": 5.0,
            "items_per_person": 1,
            "top": 5,
            "value": own,
        },
        {"measure": measure, "mechanism": ANONYMOUS, "k": 10, "top": 5, "value": other},
    ]


@pytest.mark.parametrize(("own", "holds"), [(0.75, True), (0.4, False), (float("nan"), None)])
def test_precision_is_compared_where_both_suggest(own, holds):
    rows = suggestions("suggestion_precision", own, 0.8) + suggestions("suggestion_coverage", 0.1, 0.6)
    found = outcome("substitution", rows)
    assert claim(found, "as precise").holds is holds
    assert claim(found, "cover fewer").holds is True
    silent = outcome("substitution", suggestions("suggestion_coverage", 0.0, 0.0))
    assert claim(silent, "cover fewer").holds is None


def test_ranking_falls_with_noise_and_least_where_it_is_small():
    def value(noise, threshold):
        return 0.5 / (1 + noise / threshold)

    rows = [
        {
            "measure": "all nDCG@10 after",
            "mechanism": "pool-as-published",
            "method": "implicit feedback",
            "noise_scale": noise,
            "threshold": threshold,
            "value": value(noise, threshold),
        }
        for noise in PoolGrid().noise_scales
        for threshold in PoolGrid().thresholds
    ]
    found = outcome("retrieval", rows)
    assert claim(found, "falls as the noise").holds is True
    assert claim(found, "falls least").holds is True
    assert claim(found, "not significantly different").holds is None


def test_differences_are_judged_by_their_p():
    weak = {"mechanism": "pool-as-published", "noise_scale": 10.0, "threshold": 500, "method": "random walk"}
    rows = [
        {"measure": f"answered {name} p", "value": p, **weak}
        for name, p in (("nDCG@10", 0.5), ("P@5", 0.2), ("P@10", 0.02), ("MAP", 0.3))
    ]
    few, many = (
        outcome("retrieval", [*rows, {"measure": "answered nDCG@10 pairs", "value": queries, **weak}])
        for queries in (5, 50)
    )
    assert claim(few, "random walk on queries that are still answered").holds is None
    assert claim(many, "random walk on queries that are still answered").holds is True
    worse = outcome("retrieval", [*rows, {"measure": "all MAP p", "value": 0.001, **weak}])
    assert claim(worse, "random walk on all tried").holds is False


@pytest.mark.parametrize(("zealous", "others", "holds"), [(50.0, 100.0, True), (500.0, 100.0, False), (0.0, 0.0, None)])
def test_mechanisms_are_compared_under_both_relations(zealous, others, holds):
    shared = {"measure": "distinct", "kind": "queries", "epsilon": 1.0}
    rows = [{"mechanism": name, "value": zealous, **shared} for name in ("zealous", PAPER)]
    rows += [
        {"mechanism": name, "halved": halved, "value": others, **shared}
        for name in ("count-gaussian", "rounds")
        for halved in (False, True)
    ]
    claims = outcome("mechanisms", rows).claims
    assert [one.holds for one in claims] == [holds, holds]
    assert "replaced" in claims[1].finding


def test_facts_that_nothing_tells_are_named_all_the_same():
    """So that every fact has its line, and beside it the size from which on it holds."""
    assert {one.key: one.holds for one in outcome("retrieval", []).claims} == dict.fromkeys(
        (
            *(f"{ranker}-{among}" for ranker in ("random-walk", "implicit-feedback") for among in ("answered", "all")),
            *("noise-falls", "noise-least"),
        )
    )
    silent = outcome("substitution", []).claims
    assert [one.key for one in silent] == ["suggestion-precision", "suggestion-coverage", "suggestion-limit"]
    assert {one.holds for one in silent} == {None}
    assert claim(outcome("statistics", []), "closer to the truth").holds is None
