"""Measured rows, put together: means, medians, intervals and tests, a table for each question.

Times are medians, with the power of the seed's size that they rise with, fitted in the logarithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.studies.tables import LEVEL, Group, grouped, holm, mean_of, paired_test, table_of, told
from aidos.studies.ups.ranking import CLASSES, GENERALISED, NONE, UNMARKED, WHOLE

__all__ = [
    "compare_rankings",
    "sum_up_growth",
    "sum_up_guesses",
    "sum_up_limits",
    "sum_up_quality",
    "sum_up_reranking",
    "sum_up_sessions",
    "sum_up_slopes",
    "sum_up_speed",
]

GUESSES = ("found", "loss", "ranking", "first", "right", "blind", "precision", "shown")
LARGE = 100
"""Topics of a seed from which exponents are fitted."""
PAIRS = ((UNMARKED, NONE), (UNMARKED, GENERALISED), (GENERALISED, NONE), (WHOLE, NONE), (GENERALISED, WHOLE))
"""Ways to order a list that are compared."""
QUALITIES = ("precision", "rank", "scoring")


def sum_up_speed(rows: pa.Table) -> pa.Table:
    """Median topics, iterations and milliseconds by tree, algorithm and size of the seed."""
    return table_of({**key, **_timed(group)} for key, group in grouped(rows, ("tree", "algorithm", "size")))


def sum_up_growth(rows: pa.Table) -> pa.Table:
    """The same by algorithm and size of the taxonomy, with the topics that are held."""
    return table_of(
        {**key, "held": float(np.median(group["held"])), **_timed(group)}
        for key, group in grouped(rows, ("algorithm", "taxonomy"))
    )


def sum_up_slopes(rows: pa.Table) -> pa.Table:
    """The power of the size with which times rise, by tree and algorithm, where there are two sizes from 100 on.

    Below 100 topics a fixed part of the time hides the rise. The exponent over the last decade is told beside it: it is
    larger, since the fixed part still counts at 100.
    """
    found = []
    for key, group in grouped(sum_up_speed(rows), ("tree", "algorithm")):
        chosen = group["size"] >= LARGE
        if chosen.sum() > 1:
            sizes, topics, times = (group[name][chosen] for name in ("size", "topics", "milliseconds"))
            last = sizes >= sizes.max() / 10
            span = {"smallest": int(sizes.min()), "largest": int(sizes.max())}
            found.append(
                {**key, "exponent": _slope(topics, times), "at_the_end": _slope(topics[last], times[last]), **span}
            )
    return table_of(found)


def sum_up_limits(rows: pa.Table) -> pa.Table:
    """Mean power, share of the seed's power, and risk, by tree, algorithm and limit; how far the limit was missed."""
    return table_of(
        {
            **key,
            "seeds": len(group["power"]),
            "power": mean_of(group["power"]),
            **told("share", _shares(group["power"], group["power_before"])),
            "risk": mean_of(group["risk"]),
            "risk_before": mean_of(group["risk_before"]),
            "nothing_left": mean_of(group["bare"].astype(np.float64)),
            "over_limit": float((group["risk"] - key["limit"])[~group["bare"]].max(initial=0.0)),
        }
        for key, group in grouped(rows, ("tree", "algorithm", "limit"))
    )


def sum_up_quality(rows: pa.Table) -> pa.Table:
    """Share of the best power by tree, algorithm and limit, over seeds that had to be pruned; limit null for all."""
    found = []
    pruned = rows.filter(rows["pruned"])
    whole = pruned.set_column(pruned.schema.get_field_index("limit"), "limit", pa.nulls(len(pruned), pa.float64()))
    for table in (whole, pruned):
        for key, group in grouped(table, ("tree", "algorithm", "limit")):
            shares = group["share"]
            numbers = {"seeds": len(shares), "worst": float(shares.min()), "best_found": mean_of(shares > 1 - 1e-9)}
            found.append({**key, **told("share", shares), **numbers})
    return table_of(found)


def sum_up_guesses(rows: pa.Table) -> pa.Table:
    """Means of what was guessed, by people, number of queries and rule; sums of what the ends of profiles betray."""
    return table_of(
        {
            **key,
            "persons": len(group["first"]),
            **{name: mean_of(group[name]) for name in (*GUESSES, "sent", "names")},
            **{name: int(group[name].sum()) for name in ("unasked", "betrayed")},
        }
        for key, group in grouped(rows, ("people", "queries", "rule"))
    )


def sum_up_sessions(rows: pa.Table) -> pa.Table:
    """Means over people of what a session showed, and how many topics came back after they were hidden."""
    return table_of(
        {
            **key,
            "persons": len(group["sent"]),
            "reappeared": int(group["reappeared"].sum()),
            **{name: mean_of(group[name]) for name in ("together", "sent", "power")},
            "over_limit": float((group["together"] - key["limit"]).max(initial=0.0)),
        }
        for key, group in grouped(rows, ("people", "algorithm", "limit", "memory"))
    )


def sum_up_reranking(rows: pa.Table) -> pa.Table:
    """Mean quality by clarity, method and limit; every searcher counts the same, whatever the number of her queries."""
    return table_of(
        {
            **key,
            "searchers": len(np.unique(group["searcher"])),
            "queries": len(group["query"]),
            **told("precision", _by_searcher(group, "precision")),
            "rank": mean_of(_by_searcher(group, "rank")),
            "scoring": mean_of(_by_searcher(group, "scoring")),
            "sent": mean_of(group["outcome"] == "sent"),
            "moved": mean_of(group["moved"].astype(np.float64)),
        }
        for key, group in grouped(rows, ("clarity", "method", "limit"))
    )


def compare_rankings(rows: pa.Table, limit: float) -> pa.Table:
    """Paired t-tests over searchers at one limit, p-values corrected by Holm's method over all of them."""
    groups = {
        (key["clarity"], key["method"], key["limit"]): group
        for key, group in grouped(rows, ("clarity", "method", "limit"))
    }
    found: list[dict[str, Any]] = []
    for clarity in CLASSES:
        ways = {NONE: (NONE, 0.0), WHOLE: (WHOLE, 1.0), GENERALISED: (GENERALISED, limit), UNMARKED: (UNMARKED, 0.0)}
        known = {name: groups.get((clarity, *way)) for name, way in ways.items()}
        for one, other in PAIRS:
            first, second = known[one], known[other]
            if first is None or second is None:
                continue
            for quality in QUALITIES:
                test = paired_test(_by_searcher(second, quality), _by_searcher(first, quality))
                numbers = {"difference": test.difference, "t": test.statistic, "p": test.p, "searchers": test.pairs}
                found.append({"clarity": clarity, "method": one, "against": other, "measure": quality, **numbers})
    corrected = holm([row["p"] for row in found])
    for row, p in zip(found, corrected.tolist(), strict=True):
        gained = row["difference"] < 0 if row["measure"] == "rank" else row["difference"] > 0
        row |= {"corrected": p, "better": bool(gained and p < LEVEL)}
    return table_of(found)


def _by_searcher(group: Group, name: str) -> NDArray[np.float64]:
    """Each searcher's mean, by number."""
    _, who = np.unique(group["searcher"], return_inverse=True)
    means: NDArray[np.float64] = np.bincount(who, weights=group[name]) / np.bincount(who)
    return means


def _slope(sizes: NDArray[np.float64], times: NDArray[np.float64]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def _timed(group: Group) -> dict[str, Any]:
    return {
        "topics": float(np.median(group["topics"])),
        "iterations": float(np.median(group["iterations"])),
        "milliseconds": 1000 * float(np.median(group["seconds"])),
        "trials": len(group["seconds"]),
    }


def _shares(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Parts of wholes; 1 where there is nothing to lose."""
    found: NDArray[np.float64] = np.divide(parts, wholes, out=np.ones(len(parts)), where=wholes > 0)
    return found
