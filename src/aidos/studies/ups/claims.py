"""Whether what paper and spec say about profile generalisation holds in an outcome, each with the numbers it is from.

A claim about times or small differences may fail by chance; tables have the intervals and tests.

Measured rows, put together: means, medians, intervals and tests, a table for each question. Times are medians, with the
power of the seed's size that they rise with, fitted in the logarithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.studies.study import Claim, Reader
from aidos.studies.tables import LEVEL, Group, grouped, holm, mean_of, paired_test, table_of, told
from aidos.studies.ups.eavesdropping import EXCESS, PAPER, RULES, UNMARKED_TOLD
from aidos.studies.ups.eavesdropping import UNMARKED as DEFAULT
from aidos.studies.ups.ranking import CLASSES, GENERALISED, NONE, UNMARKED, WHOLE

__all__ = [
    "READERS",
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

Rows: TypeAlias = list[dict[str, Any]]
GOOD = 0.95
"""Share of the best power that the ratio greedy keeps on average."""
PAPERS = (0.62, 0.88)
"""Shares that GreedyIL keeps on random trees."""
NEAR_LINEAR = 1.3
"""Exponent up to which a cost counts as near-linear: n log n from 100 to 10,000 topics looks like 1.15."""
SLIGHT = 1e-9
SLACK = 0.02
"""What a mean over samples may be off by."""


def _of_slopes(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - all readers take the same
    for name in ("ratio", "greedy-il"):
        own = [row for row in rows if row["algorithm"] == name]
        if own:
            # A fixed part of the time flattens the rise at first, so the last decade is told as well.
            values = {f"{row['tree']}, all": row["exponent"] for row in own}
            values |= {f"{row['tree']}, last decade": row["at_the_end"] for row in own}
            finding = f"the time of {name} is near-linear in the seed (exponent over all sizes up to {NEAR_LINEAR:g})"
            yield Claim(finding=finding, holds=max(row["exponent"] for row in own) <= NEAR_LINEAR, values=values)


def _of_limits(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    most = {row["algorithm"]: 0.0 for row in rows}
    for row in rows:
        most[row["algorithm"]] = max(most[row["algorithm"]], row["over_limit"])
    holds = max(most.values()) <= SLIGHT
    yield Claim(finding="what is shown keeps the limit of risk, or nothing is shown", holds=holds, values=most)
    for tree in dict.fromkeys(row["tree"] for row in rows):
        for name in dict.fromkeys(row["algorithm"] for row in rows):
            own = sorted(
                (row["limit"], row["power"]) for row in rows if (row["tree"], row["algorithm"]) == (tree, name)
            )
            values = {f"{at:g}": power for at, power in own}
            rising = bool((np.diff([power for _, power in own]) >= -SLIGHT).all())
            yield Claim(
                finding=f"{name} keeps more power where more risk is allowed ({tree})", holds=rising, values=values
            )


def _of_quality(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    means = {(row["tree"], row["algorithm"]): row["share"] for row in rows if row["limit"] is None}
    ratio = {tree: share for (tree, name), share in means.items() if name == "ratio"}
    yield Claim(
        finding=f"the ratio greedy keeps at least {GOOD:.0%} of the best power on average",
        holds=min(ratio.values()) >= GOOD,
        values=ratio,
    )
    papers = {tree: share for (tree, name), share in means.items() if name == "greedy-il"}
    yield Claim(
        finding=f"GreedyIL keeps {PAPERS[0]:.0%} to {PAPERS[1]:.0%} of it on random trees with topics of any level",
        holds=PAPERS[0] <= papers["random"] <= PAPERS[1],
        values=papers,
    )
    same = {tree: abs(means[tree, "greedy-dp"] - share) for (tree, name), share in means.items() if name == "greedy-il"}
    yield Claim(finding="GreedyDP and GreedyIL agree", holds=max(same.values()) <= SLIGHT, values=same)


def _of_guesses(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        most = max(row["queries"] for row in own)
        last = {row["rule"]: row for row in own if row["queries"] == most}
        ends = {rule: sum(row["unasked"] for row in own if row["rule"] == rule) for rule in RULES}
        yield Claim(
            finding=f"no profile of the default ends at a topic that was not asked for ({people})",
            holds=all(row["unasked"] == 0 for row in own if row["rule"] == DEFAULT),
            values=ends,
        )
        if UNMARKED_TOLD in last:
            found = {rule: row["found"] for rule, row in last.items()}
            yield Claim(
                finding=f"who knows the rule finds more out by pruned profiles than by the default ({people})",
                holds=min(found[rule] for rule in (EXCESS, PAPER)) > found[DEFAULT],
                values=found,
            )
            losses = {rule: row["loss"] for rule, row in last.items()}
            yield Claim(
                finding=f"the default tells no more than queries and unmarked interests do ({people})",
                holds=bool(losses[DEFAULT] >= losses[UNMARKED_TOLD] - SLACK),
                values=losses,
            )


def _of_sessions(rows: Rows, limit: float) -> Iterator[Claim]:
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        back = {memory: sum(row["reappeared"] for row in own if row["memory"] == memory) for memory in (False, True)}
        yield Claim(
            finding=f"with the memory nothing comes back after it was hidden ({people})",
            holds=back[True] == 0,
            values={"without": back[False], "with": back[True]},
        )
        at = [row for row in own if row["limit"] == limit]
        over = {f"{row['algorithm']}, {'with' if row['memory'] else 'without'}": row["over_limit"] for row in at}
        kept = max((row["over_limit"] for row in own if row["memory"]), default=0.0)
        yield Claim(
            finding=f"with the memory a month together keeps the limit of risk ({people})",
            holds=kept <= SLIGHT,
            values=over,
        )


def _of_reranking(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    own = [row for row in rows if row["clarity"] == "distinct" and row["method"] == UNMARKED]
    if own:
        values = {f"{row['limit']:g}": row["moved"] for row in own}
        yield Claim(finding="distinct queries are left alone", holds=max(values.values()) == 0, values=values)


def _of_comparisons(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    for clarity in ("ambiguous", "medium"):
        own = [row for row in rows if (row["clarity"], row["method"], row["against"]) == (clarity, UNMARKED, NONE)]
        if own:
            yield Claim(
                finding=f"{clarity} queries gain by the profile sent, by all three measures",
                holds=all(row["better"] for row in own),
                values={row["measure"]: row["difference"] for row in own},
            )


READERS: Mapping[str, Reader] = {
    "slopes": _of_slopes,
    "limits": _of_limits,
    "quality": _of_quality,
    "eavesdropper": _of_guesses,
    "sessions": _of_sessions,
    "reranking": _of_reranking,
    "comparisons": _of_comparisons,
}
"""What is read from each table, given the usual limit."""


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
