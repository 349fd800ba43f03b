"""What one person is told: where she ranks for each sensitive topic, why, how it came, and what a draft would change.

She (or the operator on her behalf) gives her own entries; everything about the others comes from a `RiskState`, which
holds no text. Ranks are among the people of the state, percentiles the share of the others who are less exposed.

It informs and warns, and never censors. A high rank does not say that she is afflicted: it says that somebody who looks
for the afflicted by their words would look at her early. Everything here is a finding about one person: for her alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.core.mechanism import Finding
from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.arrivals import Arrival, in_order, people_of_arrivals
from aidos.rooms.risk.history import Stage, find_history, find_intervals
from aidos.rooms.risk.kept.standing import Standing
from aidos.rooms.risk.kept.traces import Traces
from aidos.rooms.risk.measure import RiskMeasure
from aidos.rooms.risk.people import People
from aidos.rooms.risk.ranks import Bootstrap, RankInterval
from aidos.rooms.risk.reasons import Reason, Reasons
from aidos.rooms.risk.state import RiskState

__all__ = [
    "Alert",
    "Detail",
    "DraftEffect",
    "PersonalFinding",
    "PersonalReport",
    "TopicRank",
    "find_draft",
    "find_person",
]

ABOUT = "one person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """From where on somebody wants to be warned; whatever is reached first.

    Only evidence is a reason to warn: her nearest entry, and the draft where it is about one, must come nearer to the
    topic than the least nearness of the measure (`aidos.rooms.risk.measure`).
    """

    percentile: Annotated[float, Gt(0), Lt(1)] | None = 0.95
    """Warn when at least this share of the others is less exposed; None for never."""
    risk: Annotated[float, Gt(0)] | None = None
    """Warn when the number itself is at least this; numbers of different measures do not compare."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.percentile is None and self.risk is None:
            raise ParameterError("Alert: a percentile or a risk is needed", hint="leave the alert out for none")

    def reached(self, standing: Standing) -> bool:
        """Whether to warn; never where nothing of hers is near the topic."""
        by_rank = self.percentile is not None and standing.percentile >= self.percentile
        by_risk = self.risk is not None and standing.risk >= self.risk
        return standing.has_evidence and standing.risk > 0 and (by_rank or by_risk)


USUAL = Alert()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRank:
    """One person, one topic, one measure."""

    topic: str
    measure: RiskMeasure
    standing: Standing
    interval: RankInterval | None
    """How much the rank hangs on single entries; None where it was not asked for."""
    reasons: tuple[Reason, ...]
    """The entries that a risk goes by, also where none is near enough to be evidence."""
    history: tuple[Stage, ...]
    """At the end of each time bucket; empty where entries have no times, or nothing is kept for the measure."""
    alert: bool
    """Whether she is above her threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalReport:
    """All that is known of one person's ranks."""

    person: str
    entries: int
    people: int
    """Among how many she is ranked."""
    ranks: tuple[TopicRank, ...]

    @property
    def alerts(self) -> tuple[TopicRank, ...]:
        """Where she is above her threshold, the most exposed first."""
        above = [rank for rank in self.ranks if rank.alert]
        return tuple(sorted(above, key=lambda rank: -rank.standing.percentile))

    def find(self, topic: str, measure: RiskMeasure) -> TopicRank:
        """The part about one topic and measure."""
        for rank in self.ranks:
            if (rank.topic, rank.measure) == (topic, measure):
                return rank
        raise ParameterError(f"{topic} by {measure} is not in this report")


PersonalFinding: TypeAlias = Finding[PersonalReport]
DRAWN = Bootstrap()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a report tells."""

    words: Annotated[int, Ge(0)] = 5
    """Words of an entry that are named."""
    bucket_days: Annotated[int, Ge(1)] = 7
    """Days of a bucket of the history."""
    bootstrap: Bootstrap | None = DRAWN
    """How intervals are found; None for none."""

    def __post_init__(self) -> None:
        check_parameters(self)


FULL = Detail()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEffect:
    """What a draft would do to one rank."""

    topic: str
    measure: RiskMeasure
    before: Standing | None
    """None for somebody who has no entry yet."""
    after: Standing
    nearness: float
    """How near the draft itself comes to the topic."""
    alert: bool
    """Whether the draft takes her over her threshold: she is above it after, was not before, and the draft is near."""

    @property
    def places(self) -> int:
        """How many places nearer to the top the draft takes her; negative where it moves her away, 0 for newcomers."""
        return self.before.best - self.after.best if self.before is not None else 0


def find_person(
    state: RiskState, mine: People, *, alert: Alert | None = USUAL, detail: Detail = FULL
) -> PersonalFinding:
    """Everything about one person; ``mine`` are all her entries, and nobody else's."""
    person_id, mine = _checked(state, mine)
    traces = _known_traces(state, person_id, mine)
    reasons = Reasons(state, mine, traces, words=detail.words)
    intervals = find_intervals(state, person_id, mine, detail.bootstrap) if detail.bootstrap is not None else {}
    buckets, stages = find_history(state, person_id, mine, detail.bucket_days)
    ranks = tuple(
        TopicRank(
            topic=topic,
            measure=measure,
            standing=standing,
            interval=intervals.get((measure, topic)),
            reasons=reasons.of(topic, measure),
            history=tuple(
                Stage(begins=begins, entries=entries, standing=stage[measure, topic])
                for (begins, entries), stage in zip(buckets, stages, strict=True)
                if (measure, topic) in stage
            ),
            alert=alert is not None and alert.reached(standing),
        )
        for (measure, topic), standing in state.standings(person_id).items()
    )
    report = PersonalReport(person=person_id, entries=mine.entries, people=len(state), ranks=ranks)
    return Finding(value=report, about=ABOUT)


def find_draft(
    state: RiskState, person_id: str, text: str, *, when: datetime | None = None, alert: Alert | None = USUAL
) -> Finding[tuple[DraftEffect, ...]]:
    """What a draft would do to every rank of somebody, were it posted at that time; nothing is kept of it."""
    draft = people_of_arrivals([Arrival(person=person_id, text=text, when=when)], analyser=state.plan.analyser)
    before, after = state.would_be(person_id, draft)
    alone = state.compare(draft)
    near = {measure: state.plan.nearness(alone, measure) for measure in state.plan.measures}
    effects = []
    for (measure, topic), new in after.items():
        old = before[measure, topic] if before is not None else None
        found = near[measure]
        own = 0.0 if found is None else float(found[0, state.plan.find_topic(topic)])
        was = alert is not None and old is not None and alert.reached(old)
        crosses = alert is not None and alert.reached(new) and not was and own > new.least_nearness
        effects.append(DraftEffect(topic=topic, measure=measure, before=old, after=new, nearness=own, alert=crosses))
    return Finding(value=tuple(effects), about=ABOUT)


def _checked(state: RiskState, mine: People) -> tuple[str, People]:
    if len(mine) != 1:
        raise ParameterError(f"a report is about one person, these entries are of {len(mine)}")
    state.plan.check_people(mine)
    return str(mine.ids[0].as_py()), in_order(mine)


def _known_traces(state: RiskState, person_id: str, mine: People) -> dict[str, Traces]:
    """What is kept of her, with entries counted as in ``mine``; refused where the state knows other entries."""
    kept = state.register.traces(np.array([state.register.find(person_id)]))
    found = state.compare(mine)
    for name, own in found.items():
        ours, theirs = own.evidence, kept[name].evidence
        same = np.array_equal(ours.best, theirs.best) and all(
            np.array_equal(np.sort(ours.highest[days]), np.sort(theirs.highest[days])) for days in ours.highest
        )
        if not same:
            raise InputError(
                "these are not the entries that the state knows of this person",
                hint="give all of her entries, and bring the state up to date first",
            )
    return found
