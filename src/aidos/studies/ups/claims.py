"""Whether what paper and spec say about profile generalisation holds in an outcome, each with the numbers it is from.

A claim about times or small differences may fail by chance; tables have the intervals and tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from aidos.studies.study import Claim, Reader
from aidos.studies.ups.eavesdropping import EXCESS, PAPER, RULES, UNMARKED_TOLD
from aidos.studies.ups.eavesdropping import UNMARKED as DEFAULT
from aidos.studies.ups.ranking import NONE, UNMARKED

__all__ = ["READERS"]

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
