"""Whether what paper and spec say about profile generalisation holds in an outcome, each with the numbers it is from.

A claim about times or small differences may fail by chance; tables have the intervals and tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from aidos.studies.study import Claim, Reader
from aidos.studies.ups.eavesdropping import NO_PROFILE
from aidos.studies.ups.ranking import GENERALISED, NONE

__all__ = ["READERS"]

Rows: TypeAlias = list[dict[str, Any]]
GOOD = 0.95
"""Share of the best power that the ratio greedy keeps on average."""
PAPERS = (0.62, 0.88)
"""Shares that GreedyIL keeps on random trees."""
NEAR_LINEAR = 1.3
"""Exponent up to which a cost counts as near-linear: n log n from 100 to 10,000 topics looks like 1.15."""
SLIGHT = 1e-9


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


def _of_guesses(rows: Rows, limit: float) -> Iterator[Claim]:
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people]
        ratio = sorted(((row["limit"], row) for row in own if row["algorithm"] == "ratio"), key=lambda pair: pair[0])
        shown = {f"{at:g}": row["shown"] for at, row in ratio}
        yield Claim(
            finding=f"the eavesdropper is shown more where more risk is allowed ({people})",
            holds=bool((np.diff(list(shown.values())) >= -SLIGHT).all()),
            values=shown,
        )
        values = {row["algorithm"]: row["ranking"] for row in own if row["algorithm"] == NO_PROFILE}
        values |= {f"ratio at {at:g}": row["ranking"] for at, row in ratio if at in (limit, 1.0)}
        usual, whole = values.get(f"ratio at {limit:g}", np.nan), values.get("ratio at 1", np.nan)
        yield Claim(
            finding=f"her guesses are no better at the usual limit than with the whole seed ({people})",
            holds=bool(usual <= whole + SLIGHT),
            values=values,
        )


def _of_sessions(rows: Rows, limit: float) -> Iterator[Claim]:
    for people in dict.fromkeys(row["people"] for row in rows):
        own = [row for row in rows if row["people"] == people and row["algorithm"] != NO_PROFILE]
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
    own = [row for row in rows if row["clarity"] == "distinct" and row["method"] == GENERALISED]
    if own:
        values = {f"{row['limit']:g}": row["moved"] for row in own}
        yield Claim(finding="distinct queries are left alone", holds=max(values.values()) == 0, values=values)


def _of_comparisons(rows: Rows, limit: float) -> Iterator[Claim]:  # noqa: ARG001 - the same
    for clarity in ("ambiguous", "medium"):
        own = [row for row in rows if (row["clarity"], row["method"], row["against"]) == (clarity, GENERALISED, NONE)]
        if own:
            yield Claim(
                finding=f"{clarity} queries gain by the generalised profile, by all three measures",
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
