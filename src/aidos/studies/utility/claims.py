"""What the papers found about utility, and whether it came out here: each read from the tables, none written down.

A claim that did not come out is told as such; so is one that this log or this grid cannot decide. What counts as near,
few or comparable is a constant here, and was chosen before anything was run. When a claim cannot be told (nothing came
out, a total still rises at the last limit, few queries were tried) was settled after the first runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import ceil, isfinite

from aidos.account.zealous import probabilistic
from aidos.studies.study import Claim
from aidos.studies.utility.outcome import UtilityOutcome
from aidos.studies.utility.plan import ANONYMOUS, ORIGINAL, PAPER

__all__ = ["COUNTING", "cannot_tell", "falls", "read_count_claims"]

NEAR = 2.0
"""A tipping point is near the average when neither is more than so many times the other."""
COUNTING = ("zealous", "laplace-threshold", "count-gaussian", "steered-counts")
"""Mechanisms beside the paper's that publish counts."""
FEW_PER_CENT = 0.05
"""Of the original hit probability."""
TABLE_3 = {
    "keywords": ("6,667 at m = 1 to 2,964 at m = 40", "still rising at m = 40, average 56"),
    "queries": ("3,334 to 408", "most at m = 20, average 20"),
    "clicks": ("2,813 to 246", "most at m = 20, average 14"),
    "pairs": ("331 to 13", "most at m = 8, average 7"),
}
"""Distinct items and the tipping point of total counts, as the paper's tables 3 and 4 have them."""


def read_count_claims(outcome: UtilityOutcome) -> list[Claim]:
    """Claims about counts: those of the experiments on statistics and on caching."""
    readers: dict[str, tuple[Callable[[UtilityOutcome], Iterator[Claim]], ...]] = {
        "statistics": (_distinct_falls, _total_tips, _thresholds, _difference_falls),
        "caching": (_cache_is_close, _others_are_close, _cache_by_limit),
    }
    return [claim for read in readers.get(outcome.experiment, ()) for claim in read(outcome)]


def falls(values: list[float]) -> bool:
    """Whether no value is above the one before it, and the last is below the first."""
    return all(later <= earlier for earlier, later in pairwise(values)) and values[-1] < values[0]


def _by_limit(outcome: UtilityOutcome, measure: str, kind: str) -> list[tuple[float, float]]:
    usual = outcome.plan.usual_epsilon
    return outcome.along("items_per_person", measure, kind=kind, mechanism=PAPER, epsilon=usual)


def _distinct_falls(outcome: UtilityOutcome) -> Iterator[Claim]:
    for kind in outcome.basis.kinds:
        found = _by_limit(outcome, "distinct", kind)
        if len(found) < 2 or not found[0][1]:
            fact = f"fewer distinct {kind} with a higher limit m"
            yield cannot_tell(f"distinct-{kind}", fact, TABLE_3[kind][0], "nothing was published")
            continue
        (first, before), (last, after) = found[0], found[-1]
        limit, most = max(found, key=lambda point: point[1])
        rises = f", most ({most:,.0f}) at m = {limit:g}" if limit != first else ""
        yield Claim(
            key=f"distinct-{kind}",
            finding=f"fewer distinct {kind} with a higher limit m",
            paper=TABLE_3[kind][0],
            here=f"{before:,.0f} at m = {first:g} to {after:,.0f} at m = {last:g}{rises}",
            holds=falls([value for _, value in found]),
        )


def _total_tips(outcome: UtilityOutcome) -> Iterator[Claim]:
    for kind in outcome.basis.kinds:
        fact = f"the total of {kind} rises, then falls, tipping near the average of a person"
        found = _by_limit(outcome, "total", kind)
        mean = outcome.number("mean_items", kind=kind, mechanism=ORIGINAL)
        if len(found) < 3 or not max(value for _, value in found):
            yield cannot_tell(f"total-{kind}", fact, TABLE_3[kind][1], "too few limits, or nothing was published")
            continue
        best = max(range(len(found)), key=lambda place: found[place][1])
        limit, total = found[best]
        inside = 0 < best < len(found) - 1
        near = 1 / NEAR <= limit / mean <= NEAR
        ends = "" if inside else f"; m = {limit:g} is an end of the grid"
        # What still rises at the last limit may tip beyond it.
        still_rises = best == len(found) - 1
        yield Claim(
            key=f"total-{kind}",
            finding=fact,
            paper=TABLE_3[kind][1],
            here=f"most at m = {limit:g} ({total:,.0f}), average {mean:.0f}{ends}",
            holds=None if still_rises else inside and near,
        )


def _thresholds(outcome: UtilityOutcome) -> Iterator[Claim]:
    """The second threshold by the first, from the formula alone."""
    plan, good, off = outcome.plan, 0, 0.0
    pairs = [(plan.usual_epsilon, limit) for limit in plan.items_per_person]
    pairs += [(epsilon, 1) for epsilon in plan.epsilons]
    for epsilon, limit in pairs:
        advised = ceil(2 * limit / epsilon)
        seconds = {
            first: probabilistic(epsilon, plan.delta, limit, outcome.basis.people, first).continuous_second_threshold
            for first in range(1, 3 * advised + 3)
        }
        least = min(seconds.values())
        good += seconds[advised] <= least + 1e-9
        off = max(off, seconds[advised] - least)
    more = f", elsewhere above the least by {off:.2f} at most" if good < len(pairs) else ""
    yield Claim(
        key="first-threshold",
        finding="tau' is least at tau = ceil(2m / epsilon)",
        paper="Proposition 4; at m = 2, epsilon = 1 least at 4 (table 2: 78.58)",
        here=f"so at {good} of {len(pairs)} settings{more}",
        holds=good == len(pairs),
    )


def _difference_falls(outcome: UtilityOutcome) -> Iterator[Claim]:
    for kind in outcome.basis.kinds:
        by_epsilon = outcome.along("epsilon", "difference", kind=kind, mechanism=PAPER, items_per_person=1)
        fact = f"counts of {kind} are closer to the truth with a larger epsilon"
        paper = "figure 5: the average difference falls with epsilon, comparable to k-anonymity"
        if len(by_epsilon) < 2:
            yield cannot_tell(f"difference-{kind}", fact, paper, "too few strengths published anything")
            continue
        (low, before), (high, after) = by_epsilon[0], by_epsilon[-1]
        told = f"{before:.3g} at epsilon = {low:g}, {after:.3g} at {high:g}"
        at_k = outcome.number("difference", kind=kind, mechanism=ANONYMOUS, k=outcome.plan.usual_k)
        beside = f"; {at_k:.3g} at k = {outcome.plan.usual_k}" if isfinite(at_k) else ""
        yield Claim(
            key=f"difference-{kind}",
            finding=fact,
            paper=paper,
            here=told + beside,
            holds=falls([value for _, value in by_epsilon]),
        )


def _cache_is_close(outcome: UtilityOutcome) -> Iterator[Claim]:
    best = outcome.number("hit_probability", mechanism=ORIGINAL)
    limit = outcome.plan.cache_items
    found = outcome.along("epsilon", "hit_probability", mechanism=PAPER, items_per_person=limit)
    if not found or not best:
        return
    lost = {epsilon: 1 - value / best for epsilon, value in found}
    told = ", ".join(f"{share:.1%} at epsilon = {epsilon:g}" for epsilon, share in lost.items())
    yield Claim(
        key="cache-close",
        finding=f"a cache filled by ZEALOUS loses a few per cent of the hits (at most {FEW_PER_CENT:.0%})",
        paper="figure 6a: the utility suffers only marginally, and is above k-anonymity over a range",
        here=f"of {best:.3f} it loses {told}",
        holds=max(lost.values()) <= FEW_PER_CENT,
    )
    anonymous = outcome.along("k", "hit_probability", mechanism=ANONYMOUS)
    usual = dict(found).get(outcome.plan.usual_epsilon, found[-1][1])
    if anonymous:
        better = [k for k, value in anonymous if usual > value]
        yield Claim(
            key="cache-k-anonymity",
            finding=f"at epsilon = {outcome.plan.usual_epsilon:g} the cache is better than with k-anonymity at some k",
            paper="figure 6a: better than k-anonymity for a range of parameters",
            here=f"{usual:.3f} against " + ", ".join(f"{value:.3f} (k = {k:g})" for k, value in anonymous),
            holds=bool(better),
        )


def _others_are_close(outcome: UtilityOutcome) -> Iterator[Claim]:
    """The same of the other mechanisms that publish counts, at their own promises."""
    best = outcome.number("hit_probability", mechanism=ORIGINAL)
    plan = outcome.plan
    found = {
        name: outcome.along("epsilon", "hit_probability", mechanism=name, items_per_person=plan.cache_items)
        for name in COUNTING
    }
    if not best or not all(found.values()):
        return
    lost = {name: [1 - value / best for _, value in points] for name, points in found.items()}
    told = ", ".join(f"{name} {min(shares):.1%} to {max(shares):.1%}" for name, shares in lost.items())
    yield Claim(
        key="cache-others",
        finding=f"other mechanisms with counts lose a few per cent as well (at most {FEW_PER_CENT:.0%})",
        paper="not in the papers",
        here=f"{told} over all epsilons, at delta = {plan.equal_delta:g}",
        holds=max(max(shares) for shares in lost.values()) <= FEW_PER_CENT,
    )


def _cache_by_limit(outcome: UtilityOutcome) -> Iterator[Claim]:
    found = outcome.along("items_per_person", "hit_probability", mechanism=PAPER, epsilon=outcome.plan.usual_epsilon)
    if len(found) < 3:
        return
    best = max(range(len(found)), key=lambda place: found[place][1])
    values = dict(found)
    few, one = values.get(float(outcome.plan.cache_items), float("nan")), values.get(1.0, float("nan"))
    yield Claim(
        key="cache-limit",
        finding=f"more hits at m = {outcome.plan.cache_items} than at m = 1, and fewer again beyond some m",
        paper="figure 6b: above 0.36 at m = 6, below 0.33 at m = 1; it decreases at some point",
        here=f"{few:.3f} and {one:.3f}; most ({found[best][1]:.3f}) at m = {found[best][0]:g}",
        holds=few > one and best < len(found) - 1,
    )


def cannot_tell(key: str, fact: str, paper: str, why: str) -> Claim:
    """A fact that this log or grid cannot decide."""
    return Claim(key=key, finding=fact, paper=paper, here=why, holds=None)
