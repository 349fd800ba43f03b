"""What the papers found about suggestions, ranking and mechanisms, and whether it came out here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import isfinite

from aidos.studies.study import Claim
from aidos.studies.tables import tell_p
from aidos.studies.utility.claims import cannot_tell, falls, read_count_claims
from aidos.studies.utility.outcome import UtilityOutcome
from aidos.studies.utility.plan import ANONYMOUS, PAPER
from aidos.studies.utility.poolstudy import AS_PUBLISHED
from aidos.studies.utility.releases import REPLACING
from aidos.studies.utility.retrieval import MEASURES, RANKERS

__all__ = ["BETTER", "RELATIONS", "read_claims"]

TOP = 5
"""Suggestions that claims are about."""
COMPARABLE = 0.1
"""Precision that is comparable differs by this at most."""
LEVEL = 0.01
"""Significance, as in the paper."""
FEWEST_TRIED = 30
"""With fewer queries a difference would have to be large to be significant."""
BETTER = ("count-gaussian", "rounds")
"""Mechanisms that ZEALOUS is compared with."""
RELATIONS = {False: "one person added or removed", True: "one person replaced"}
"""What promises are about, by whether those of mechanisms were brought to the second."""


def read_claims(outcome: UtilityOutcome) -> list[Claim]:
    """Every claim that an outcome can decide."""
    readers: dict[str, tuple[Callable[[UtilityOutcome], Iterator[Claim]], ...]] = {
        "substitution": (_precision, _coverage, _coverage_by_limit),
        "retrieval": (_unchanged, _falls_with_noise, _flat_where_small),
        "mechanisms": (_dominated,),
    }
    return [
        *read_count_claims(outcome),
        *(claim for read in readers.get(outcome.experiment, ()) for claim in read(outcome)),
    ]


def _both(outcome: UtilityOutcome, measure: str) -> tuple[float, float]:
    """A measure of the paper's mechanism and of k-anonymity, at the usual strength and k."""
    plan = outcome.plan
    return (
        outcome.number(measure, top=TOP, mechanism=PAPER, epsilon=plan.usual_epsilon, items_per_person=1),
        outcome.number(measure, top=TOP, mechanism=ANONYMOUS, k=plan.usual_k),
    )


def _precision(outcome: UtilityOutcome) -> Iterator[Claim]:
    own, other = _both(outcome, "suggestion_precision")
    known = isfinite(own) and isfinite(other)
    plan = outcome.plan
    yield Claim(
        key="suggestion-precision",
        finding=f"suggestions of ZEALOUS are as precise as those of k-anonymity (within {COMPARABLE:g}), top {TOP}",
        paper="figure 7: comparable on all precision measures",
        here=f"{own:.3f} (epsilon = {plan.usual_epsilon:g}) and {other:.3f} (k = {plan.usual_k})"
        if known
        else "one of them suggests nothing",
        holds=abs(own - other) <= COMPARABLE if known else None,
    )


def _coverage(outcome: UtilityOutcome) -> Iterator[Claim]:
    own, other = _both(outcome, "suggestion_coverage")
    known = isfinite(own) and isfinite(other) and max(own, other) > 0
    yield Claim(
        key="suggestion-coverage",
        finding=f"but they cover fewer queries, top {TOP}",
        paper="figure 7: the coverage of ZEALOUS is not good",
        here=f"{own:.3f} and {other:.3f}" if known else "neither suggests anything",
        holds=own < other if known else None,
    )


def _coverage_by_limit(outcome: UtilityOutcome) -> Iterator[Claim]:
    limit = outcome.plan.cache_items
    one, few = (
        dict(outcome.along("epsilon", "suggestion_coverage", top=TOP, mechanism=PAPER, items_per_person=items))
        for items in (1, limit)
    )
    shared = sorted(one.keys() & few.keys())
    fact = f"coverage is lower at m = {limit} than at m = 1"
    paper = "figure 8: larger m leads to smaller coverage across the board"
    if not shared or not max(one[each] for each in shared):
        yield cannot_tell("suggestion-limit", fact, paper, "ZEALOUS suggests nothing at m = 1")
        return
    told = ", ".join(f"{one[each]:.3f} and {few[each]:.3f} at epsilon = {each:g}" for each in shared)
    yield Claim(
        key="suggestion-limit",
        finding=fact,
        paper=paper,
        here=told,
        holds=all(few[each] <= one[each] for each in shared) and any(few[each] < one[each] for each in shared),
    )


def _unchanged(outcome: UtilityOutcome) -> Iterator[Claim]:
    pool = outcome.pool
    weak = {"mechanism": AS_PUBLISHED, "noise_scale": pool.usual_noise, "threshold": pool.usual_threshold}
    for number, ranker in enumerate(RANKERS):
        for among in ("answered", "all"):
            smallest = {name: outcome.number(f"{among} {name} p", method=ranker, **weak) for name in MEASURES}
            known = {name: p for name, p in smallest.items() if isfinite(p)}
            queries = outcome.number(f"{among} nDCG@10 pairs", method=ranker, **weak)
            told = ", ".join(
                f"{name}: {_change(outcome, ranker, among, name, weak)}, p {_equals(tell_p(p))}"
                for name, p in known.items()
            )
            which = "queries that are still answered" if among == "answered" else "all tried queries"
            yield Claim(
                key=f"{ranker.replace(' ', '-')}-{among}",
                finding=f"{ranker} on {which} is not significantly different after a weak release",
                paper=f"table {4 + number}: no significant difference (p < 0.01) at b = 10, K = 500",
                here=f"{told} ({queries:,.0f} queries)" if known else "nothing was released at these settings",
                holds=_same(known, queries),
            )


def _equals(told: str) -> str:
    return told if told.startswith("<") else f"= {told}"


def _same(smallest: dict[str, float], queries: float) -> bool | None:
    if not smallest or (min(smallest.values()) >= LEVEL and queries < FEWEST_TRIED):
        return None
    return min(smallest.values()) >= LEVEL


def _change(outcome: UtilityOutcome, ranker: str, among: str, measure: str, weak: dict[str, object]) -> str:
    before, after = (outcome.number(f"{among} {measure} {when}", method=ranker, **weak) for when in ("before", "after"))
    return f"{before:.3f} to {after:.3f}"


def _by_noise(outcome: UtilityOutcome, threshold: int) -> list[tuple[float, float]]:
    return outcome.along(
        "noise_scale", "all nDCG@10 after", method=RANKERS[1], mechanism=AS_PUBLISHED, threshold=threshold
    )


def _falls_with_noise(outcome: UtilityOutcome) -> Iterator[Claim]:
    lines = {threshold: _by_noise(outcome, threshold) for threshold in outcome.pool.thresholds}
    drawn = {threshold: points for threshold, points in lines.items() if len(points) > 1 and max(y for _, y in points)}
    fact, paper = "nDCG@10 falls as the noise b grows", "figure 1: utility decreases with b"
    if not drawn:
        yield cannot_tell("noise-falls", fact, paper, "nothing was ranked, or one noise was tried")
        return
    told = "; ".join(
        f"K = {threshold}: {points[0][1]:.3f} at b = {points[0][0]:g}, {points[-1][1]:.3f} at b = {points[-1][0]:g}"
        for threshold, points in drawn.items()
    )
    yield Claim(
        key="noise-falls",
        finding=fact,
        paper=paper,
        here=told,
        holds=all(falls([value for _, value in points]) for points in drawn.values()),
    )


def _flat_where_small(outcome: UtilityOutcome) -> Iterator[Claim]:
    """How much a step to more noise takes away, by how the noise compares with the threshold."""
    quiet: list[float] = []
    loud: list[float] = []
    for threshold in outcome.pool.thresholds:
        points = _by_noise(outcome, threshold)
        for (_, before), (noise, after) in pairwise(points):
            if before > 0:
                (quiet if noise <= threshold / 5 else loud).append(1 - after / before)
    fact = "and it falls least where b is much smaller than K (at most a fifth)"
    paper = "figure 1: less sensitive to b when b is much smaller than K"
    if not quiet or not loud:
        yield cannot_tell("noise-least", fact, paper, "nothing was ranked on one of the two sides")
        return
    small, large = sum(quiet) / len(quiet), sum(loud) / len(loud)
    yield Claim(
        key="noise-least",
        finding=fact,
        paper=paper,
        here=f"a step to more noise changes it by {-small:+.1%} on average there, {-large:+.1%} elsewhere",
        holds=small < large,
    )


def _dominated(outcome: UtilityOutcome) -> Iterator[Claim]:
    for epsilon in outcome.plan.equal_epsilons:
        for halved, relation in RELATIONS.items():
            better: list[bool] = []
            told = []
            for kind in outcome.basis.kinds:
                own = [
                    outcome.number("distinct", kind=kind, mechanism=name, epsilon=epsilon, halved=halved)
                    for name in BETTER
                ]
                most = max(outcome.number("distinct", kind=kind, mechanism=name, epsilon=epsilon) for name in REPLACING)
                told.append(f"{kind} {', '.join(f'{value:,.0f}' for value in own)} against {most:,.0f}")
                # A kind that nobody publishes anything of says nothing about either.
                better += [min(own) > most] if max(*own, most) else []
            yield Claim(
                key=f"mechanisms-{'replaced' if halved else 'added'}-{epsilon:g}",
                finding="count-Gaussian and rounds publish more items than ZEALOUS "
                f"(epsilon = {epsilon:g}, {relation})",
                paper="not in the papers; on a log of 1M rows at epsilon = 1: 417 and 718 against 153",
                here="; ".join(told),
                holds=all(better) if better else None,
            )
