"""Summaries by hand: means, medians, slopes, tests, and what claims read from them."""

import numpy as np
import pyarrow as pa
import pytest

from aidos.studies.ups.claims import (
    compare_rankings,
    sum_up_limits,
    sum_up_quality,
    sum_up_reranking,
    sum_up_sessions,
    sum_up_slopes,
    sum_up_speed,
)
from aidos.studies.ups.ranking import GENERALISED, NONE, UNMARKED, WHOLE
from aidos.studies.ups.study import UpsBasis, UpsOutcome

BASIS = UpsBasis(about="by hand", taxonomy="t", topics=9)


def table(rows):
    return pa.Table.from_pylist(rows)


def timed(power):
    return table(
        [
            {"tree": "t", "algorithm": "ratio", "size": size, "trial": trial, "topics": size, "iterations": 3}
            | {"seconds": (1 + trial / 10) * 1e-6 * size**power}
            for size in (10, 100, 1000, 10_000)
            for trial in range(3)
        ]
    )


def test_times_are_medians_and_their_exponent_is_found():
    rows = sum_up_speed(timed(1.2)).to_pylist()
    assert [row["size"] for row in rows] == [10, 100, 1000, 10_000]
    assert rows[1]["milliseconds"] == pytest.approx(1.1e-3 * 100**1.2)
    assert rows[0]["trials"] == 3
    (slope,) = sum_up_slopes(timed(1.2)).to_pylist()
    assert slope["exponent"] == pytest.approx(1.2)
    assert slope["at_the_end"] == pytest.approx(1.2)
    assert (slope["smallest"], slope["largest"]) == (100, 10_000)


@pytest.mark.parametrize(("power", "holds"), [(1.1, True), (2.0, False)])
def test_a_quadratic_cost_is_not_called_near_linear(power, holds):
    claims = UpsOutcome(rows={"seeds-timed": timed(power)}, basis=BASIS).claims
    (claim,) = [claim for claim in claims if "near-linear" in claim.finding]
    assert claim.holds is holds


def limited(risk, bare=False):
    row = {"tree": "t", "seed": 0, "topics": 5, "power_before": 0.8, "risk_before": 0.9, "iterations": 2}
    return row | {"algorithm": "ratio", "limit": 0.1, "power": 0.4, "risk": risk, "bare": bare}


def test_a_profile_above_the_limit_is_noticed_and_a_bare_root_is_not_one():
    rows = table([limited(0.05), limited(0.3)])
    (row,) = sum_up_limits(rows).to_pylist()
    assert row["over_limit"] == pytest.approx(0.2)
    assert row["share"] == pytest.approx(0.5)
    assert sum_up_limits(table([limited(0.3, bare=True)])).to_pylist()[0]["over_limit"] == 0
    claim = next(
        one for one in UpsOutcome(rows={"limits-tried": rows}, basis=BASIS).claims if "keeps the" in one.finding
    )
    assert not claim.holds


def compared(share, algorithm="ratio", pruned=True):
    return {"tree": "random", "seed": 0, "limit": 0.1, "algorithm": algorithm, "pruned": pruned, "share": share}


def test_quality_counts_seeds_that_had_to_be_pruned():
    rows = [compared(0.9), compared(1.0), compared(0.1, pruned=False)]
    means = {row["limit"]: row["share"] for row in sum_up_quality(table(rows)).to_pylist()}
    assert means == {None: pytest.approx(0.95), 0.1: pytest.approx(0.95)}


def test_claims_about_quality_fail_where_they_should():
    rows = [compared(0.9), compared(0.9, "greedy-il"), compared(0.8, "greedy-dp")]
    claims = UpsOutcome(rows={"best-compared": table(rows)}, basis=BASIS).claims
    assert [claim.holds for claim in claims] == [False, False, False]
    rows = [compared(0.96), compared(0.7, "greedy-il"), compared(0.7, "greedy-dp")]
    assert all(claim.holds for claim in UpsOutcome(rows={"best-compared": table(rows)}, basis=BASIS).claims)


def month(memory, reappeared, together):
    guessed = dict.fromkeys(("first", "right", "blind", "ranking", "precision", "shown"), 0.5)
    about = {"people": "p", "person": 0, "algorithm": "ratio", "limit": 0.1, "memory": memory, "sent": 1, "power": 0.1}
    return {**about, "reappeared": reappeared, "together": together, **guessed}


def test_topics_that_come_back_are_counted_and_refute_the_memory():
    rows = table([month(False, 2, 0.3), month(False, 1, 0.05), month(True, 1, 0.2)])
    found = {row["memory"]: row for row in sum_up_sessions(rows).to_pylist()}
    assert found[False]["reappeared"] == 3
    assert found[False]["over_limit"] == pytest.approx(0.2)
    assert [claim.holds for claim in UpsOutcome(rows={"months-watched": rows}, basis=BASIS).claims] == [False, False]


def lists(gain, noise=0.0):
    stream = np.random.default_rng(4)
    rows = []
    for searcher in range(20):
        for query in range(1 + searcher % 3):
            base = stream.uniform(0.3, 0.6)
            ways = ((NONE, 0.0, 0.0), (WHOLE, 1.0, gain), (UNMARKED, 0.0, gain), (GENERALISED, 0.1, gain))
            for method, limit, more in ways:
                moved = base + more + stream.normal(0, noise)
                about = {"searcher": searcher, "query": query, "clarity": "ambiguous", "method": method, "limit": limit}
                about |= {"outcome": "sent", "moved": more > 0}
                rows.append({**about, "precision": moved, "rank": 10 - moved, "scoring": moved})
    return table(rows)


def test_every_searcher_counts_the_same():
    rows = lists(0.1)
    own = [row for row in rows.to_pylist() if row["method"] == NONE]
    means = [np.mean([row["precision"] for row in own if row["searcher"] == who]) for who in range(20)]
    found = {row["method"]: row for row in sum_up_reranking(rows).to_pylist()}
    assert found[NONE]["precision"] == pytest.approx(np.mean(means))
    assert found[NONE]["queries"] == len(own)
    assert found[NONE]["searchers"] == 20


def test_gains_are_significant_where_there_are_some_and_rank_counts_downwards():
    found = compare_rankings(lists(0.1, 0.01), 0.1).to_pylist()
    assert {row["better"] for row in found if row["against"] == NONE} == {True}
    assert {row["better"] for row in found if row["against"] == WHOLE} == {False}
    assert all(row["difference"] < 0 for row in found if row["measure"] == "rank" and row["against"] == NONE)
    same = compare_rankings(lists(0.0, 0.05), 0.1).to_pylist()
    assert not any(row["better"] for row in same)
    outcome = UpsOutcome(rows={"lists-ordered": lists(0.0, 0.05)}, basis=BASIS)
    assert not next(claim for claim in outcome.claims if "ambiguous" in claim.finding).holds


def test_json_has_neither_infinity_nor_nan():
    outcome = UpsOutcome(rows={"lists-ordered": lists(0.0)}, basis=BASIS)
    told = outcome.facts()
    assert told["facts"]["topics"] == 9
    assert all(value is None or value == value for row in told["comparisons"] for value in row.values())  # noqa: PLR0124
