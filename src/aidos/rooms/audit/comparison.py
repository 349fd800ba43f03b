"""Two audits side by side, such as before and after shielding: which weights changed, and by more than chance.

Each weight is told against the typical topic of its own audit: a change is one against what most topics do.
Both audits use the same topics, and other queries or the same. What the two were learned from is taken as independent;
where the audits share queries that makes the intervals too wide, not too narrow. A topic counts as changed where the
interval of its difference, wide enough for all topics together (Bonferroni), does not hold 0. A change of the engine
between the two audits looks the same as an effect of the shield.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.rooms.audit.findings import AuditFinding, Span, TopicFinding
from aidos.rooms.audit.numerics import ndtri
from aidos.rooms.audit.topics.space import AuditTopic
from aidos.rooms.audit.uncertainty import Interval

__all__ = ["AuditComparison", "TopicChange", "compare_audits", "topic_changes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditComparison:
    """Second audit less first."""

    topics: tuple[AuditTopic, ...]
    """Topics of both audits, in the order of their space."""
    difference: Floats
    """Of the weights of the topics."""
    low: Floats
    """Lower ends of intervals that hold for all topics together."""
    high: Floats
    """Upper ends."""
    rate_difference: float
    rate: Interval
    """Interval of the difference of the rates."""

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Topics whose weight changed by more than chance."""
        return (self.low > 0) | (self.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """One topic in both audits."""

    before: TopicFinding
    after: TopicFinding
    change: Span
    changed: bool
    """Whether it changed by more than chance."""
    marked: bool

    @property
    def is_weaker(self) -> bool:
        """Whether the service goes by it less than before."""
        return abs(self.after.weight.value) < abs(self.before.weight.value)

    @property
    def happened(self) -> str:
        """What happened to it, in a few words."""
        mark = ", marked" if self.marked else ""
        if not self.changed:
            return f"no change beyond chance{mark}"
        if self.is_weaker and not self.after.found:
            return f"no longer found{mark}" if self.before.found else f"weaker{mark}"
        return ("weaker" if self.is_weaker else "stronger") + mark


def topic_changes(
    before: AuditFinding, after: AuditFinding, compared: AuditComparison, marked: Collection[str] = ()
) -> tuple[TopicChange, ...]:
    """All topics, those that changed first, then those that were found, then by the size of the change."""
    first, second = ({each.topic.id: each for each in one.topics} for one in (before, after))
    changes = [
        TopicChange(
            before=first[topic],
            after=second[topic],
            change=Span(float(compared.difference[at]), float(compared.low[at]), float(compared.high[at])),
            changed=bool(compared.changed[at]),
            marked=topic in marked,
        )
        for at, topic in enumerate(each.id for each in compared.topics)
    ]
    return tuple(
        sorted(
            changes,
            key=lambda each: (not each.changed, not (each.before.found or each.after.found), -abs(each.change.value)),
        )
    )


def compare_audits(first: AuditFinding, second: AuditFinding) -> AuditComparison:
    """Subtract the first audit from the second, at the confidence of the first; InputError where topics differ."""
    _refuse_other_topics(first, second)
    topics = first.space.topics
    (before, spread_before), (after, spread_after) = _weights(first), _weights(second, first)
    level = 1 - first.confidence
    reach = -float(ndtri(level / (2 * len(topics)))) * np.hypot(spread_before, spread_after)
    difference = after - before
    return AuditComparison(
        topics=topics,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        rate_difference=second.rate.value - first.rate.value,
        rate=_difference(first.rate, second.rate),
    )


def _difference(first: Span, second: Span) -> Interval:
    """Of two numbers with intervals that may be lopsided: each end from the ends that it comes from (MOVER)."""
    change = second.value - first.value
    down = np.hypot(second.value - second.low, first.high - first.value)
    up = np.hypot(second.high - second.value, first.value - first.low)
    return Interval(float(change - down), float(change + up))


def _weights(finding: AuditFinding, order: AuditFinding | None = None) -> tuple[Floats, Floats]:
    """Weights and their deviations, in the order of a space."""
    by_id = {each.topic.id: (each.weight.value, each.deviation) for each in finding.topics}
    found = np.array([by_id[topic] for topic in (order or finding).space.ids], dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _refuse_other_topics(first: AuditFinding, second: AuditFinding) -> None:
    """Latent topics are numbered anew whenever they are learned: only their words say whether they are the same."""
    one, other = first.space, second.space
    same = one.kind == other.kind and sorted(one.ids) == sorted(other.ids)
    if same and one.kind == "latent":
        same = {topic.id: topic.words for topic in one.topics} == {topic.id: topic.words for topic in other.topics}
    if not same:
        raise InputError(
            f"the audits have other topics: {len(one)} ({one.kind}) and {len(other)} ({other.kind})",
            hint="learn the second audit with --same-topics and the file of the first",
        )
