"""The audit of a hidden profile, whole: which topics an engine lifts or sinks for an account, how often, how surely.

From pairs of lists whose results have topics: learn the profile (LTP), put intervals around it, test whether anything
is there at all, look for evidence that a person can read, and say what is doubtful.

- A topic is found where its weight is more than chance at the false discovery rate of the audit (Benjamini and
  Hochberg), and two others agree: its plain shift at the level (`aidos.rooms.audit.verdict`), which takes no model for
  granted, and the interval of its weight, which must not hold 0. Shift alone would also name topics that sink only
  because another one rises, and pays for every topic beside it; weights alone believe the model. With a second vanilla
  list the weight must be more than chance beyond what two vanilla lists seem to show.
- Topics are found and evidence is shown only where the conclusion is "personalised by topic"
  (`aidos.rooms.audit.concluding`), whatever was learned. Any other one does not mean that there is no profile.

In large audits distances between lists are measured on some of the queries; the finding says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import ResultPair
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.classification import SwapReport, find_swapped
from aidos.rooms.audit.concluding import Weighed, weigh
from aidos.rooms.audit.conclusion import Grant
from aidos.rooms.audit.designs import Design, arrange
from aidos.rooms.audit.differences import MOST_COMPARED, MOST_MOVED, measure_differences
from aidos.rooms.audit.evidence import find_evidence, watch_query
from aidos.rooms.audit.findings import AuditFinding, PowerPlan, Span, Suspicion, TopicFinding
from aidos.rooms.audit.inference import LearnedProfile, LearningSettings, infer_profile
from aidos.rooms.audit.items import LEAST_CONTROLLED, PairItems
from aidos.rooms.audit.learning import learn_profile
from aidos.rooms.audit.power import PowerEstimate, estimate_power
from aidos.rooms.audit.profileaudit import ProfileAudit
from aidos.rooms.audit.shifts import look_before_learning, rank_shift, some_of
from aidos.rooms.audit.topics.space import DescribedItems, TopicSource, TopicSpace
from aidos.rooms.audit.uncertainty import Estimate, ProfileIntervals, intervals_around
from aidos.rooms.audit.verdict import Verdict, discoveries

__all__ = ["DescribedPairs", "describe_pairs", "named_topics", "run_audit"]

METHODS: dict[str, Callable[..., LearnedProfile]] = {"inference": infer_profile, "learning": learn_profile}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DescribedPairs:
    """Pairs of lists, and what their results are about."""

    items: PairItems
    described: DescribedItems
    design: Design
    """What can be compared with what."""


def describe_pairs(pairs: Sequence[ResultPair], source: TopicSource, granted: Collection[Grant] = ()) -> DescribedPairs:
    """Number the results of the pairs, and say what each is about and what can be compared.

    ``granted`` is what is taken on the person's word where the pairs do not say how they were fetched.
    """
    arranged, design = arrange(pairs, granted)
    items = PairItems.of(arranged)
    return DescribedPairs(items=items, described=source.describe(items.items, items.met), design=design)


def run_audit(audit: ProfileAudit, data: DescribedPairs) -> AuditFinding:
    """Learn, test and explain."""
    items, described = data.items, data.described
    pairs = items.arrays(described.maps)
    settings = LearningSettings().narrowed_for(pairs)
    learn = METHODS[audit.method]
    profile = learn(pairs, settings)
    weighed = weigh(items, described.maps, data.design, level=audit.level, seed=audit.seed)
    control, detected = weighed.control, weighed.conclusion.kind == "topic"
    around = _around(audit, pairs, profile, control)
    power = estimate_power(weighed.compared, control, verdict=weighed.verdict)
    suspicion = _suspicion(find_swapped(lambda given: learn(given, settings), pairs, profile))
    # What is not settled to be lifted or sunk explains no move.
    settled = replace(profile, weights=np.where(profile.weights * around.weights > 0, profile.weights, 0.0))
    shown = find_evidence(pairs, settled, most=audit.evidence) if detected else ()
    return AuditFinding(
        queries=len(pairs),
        changed=int(pairs.changed.sum()),
        method=audit.method,
        space=described.space,
        detected=detected,
        conclusion=weighed.conclusion,
        level=audit.level,
        p_value=weighed.conclusion.p_value,
        controlled=data.design.controlled,
        confidence=audit.confidence,
        topics=_topic_findings(described.space, around, weighed, rank_shift(pairs)),
        rate=_span(around.rate),
        mix=_span(around.mix),
        concentration=_span(around.concentration),
        evidence=tuple(watch_query(each, pairs, items, described.space) for each in shown),
        differences=measure_differences(items, described.maps, data.design, seed=audit.seed),
        power=_plan(power, described.space, len(pairs) / len(weighed.compared)),
        suspicion=suspicion,
        warnings=(
            *look_before_learning(pairs).warnings,
            *described.notes,
            *_doubts(items, data.design, suspicion, converged=profile.converged and around.converged),
            *_shortcuts(items),
        ),
    )


def _around(
    audit: ProfileAudit, pairs: PairArrays, profile: LearnedProfile, control: PairArrays | None
) -> ProfileIntervals:
    """Intervals, beyond what two vanilla lists seem to show where there are such."""
    fixed = audit.method == "inference"
    around = intervals_around(pairs, profile, fixed_laws=fixed, confidence=audit.confidence)
    if control is None:
        return around
    noisy = METHODS[audit.method](control, LearningSettings().narrowed_for(pairs))
    return around.beyond(intervals_around(control, noisy, fixed_laws=fixed), len(pairs) / len(control))


def _span(told: Estimate) -> Span:
    return Span(told.value, told.around.low, told.around.high)


def _suspicion(swaps: SwapReport) -> Suspicion:
    """Single pairs are named only where the file as a whole is the right way round."""
    single = () if swaps.whole_file else tuple((swaps.pairs + 1).tolist())
    return Suspicion(whole_file=swaps.whole_file, pairs=single)


def _plan(power: PowerEstimate, space: TopicSpace, queries_for_each: float) -> PowerPlan:
    """In queries of all kinds: where only some have a second vanilla list, as many more of the others are asked."""
    fewest, queries = (
        None if each is None else ceil(each * queries_for_each) for each in (power.fewest, power.queries)
    )
    return PowerPlan(topic=space.topics[power.topic], chance=power.power_now, fewest=fewest, queries=queries)


def _topic_findings(
    space: TopicSpace, around: ProfileIntervals, weighed: Weighed, shifts: NDArray[np.float64]
) -> tuple[TopicFinding, ...]:
    named = named_topics(around, weighed.verdict) & (weighed.conclusion.kind == "topic")
    found = [
        TopicFinding(
            topic=topic,
            weight=Span(float(around.weights[number]), float(around.low[number]), float(around.high[number])),
            deviation=float(around.deviations[number]),
            shift=float(shifts[number]),
            p_value=float(around.p_values[number]),
            found=bool(named[number]),
        )
        for number, topic in enumerate(space.topics)
    ]
    return tuple(sorted(found, key=lambda each: (not each.found, each.p_value, -abs(each.weight.value))))


def named_topics(around: ProfileIntervals, verdict: Verdict) -> NDArray[np.bool_]:
    """Topics that are more than chance; none where no personalisation was detected."""
    if not verdict.personalised:
        return np.zeros(len(around.weights), dtype=np.bool_)
    agreed = (verdict.topic_p_values <= verdict.level) & (around.weights * verdict.topic_scores > 0)
    apart = (around.low > 0) | (around.high < 0)
    return discoveries(np.where(agreed, around.p_values, 1.0), verdict.level) & apart


def _doubts(items: PairItems, design: Design, suspicion: Suspicion, *, converged: bool) -> list[str]:
    """What may be wrong with the pairs, or with what was learned."""
    found = []
    apart = sum(len(items.vanilla[query]) == sum(items.shown[query]) for query in range(len(items)))
    if apart:
        found.append(
            f"{some_of(apart, len(items))} no result that stands in both lists, "
            "so that their order says little: are both lists of the same query and service?"
        )
    again = sum(each is not None for each in items.again)
    if again and not design.controlled:
        found.append(
            f"{some_of(again, len(items))} a second vanilla list, too few to test with: "
            f"at least {LEAST_CONTROLLED} and half of all are needed"
        )
    if suspicion.whole_file:
        found.append("vanilla and personalised lists were probably exchanged throughout: look which is which")
    if suspicion.pairs:
        found.append(f"{_listed(suspicion.pairs)} probably exchanged: look which list is which")
    if not converged:
        found.append("learning ended before it came to rest, so that weights may still be off")
    return found


def _listed(pairs: tuple[int, ...], most: int = 5) -> str:
    if len(pairs) == 1:
        return f"the lists of pair {pairs[0]:,} were"
    more = f" and {len(pairs) - most:,} more" if len(pairs) > most else ""
    return f"the lists of pairs {', '.join(f'{each:,}' for each in pairs[:most])}{more} were"


def _shortcuts(items: PairItems) -> list[str]:
    """Where the size of the audit made it look at less."""
    found = []
    if len(items) > MOST_MOVED:
        found.append(
            f"distances between lists are measured on at most {MOST_COMPARED:,} queries, "
            f"earth mover's distance on {MOST_MOVED:,}"
        )
    return found
