"""Two audits side by side, such as before and after shielding: which weights changed, and by more than chance.

Both audits use the same topics, and other queries or the same. What the two were learned from is taken as independent;
where the audits share queries that makes the intervals too wide, not too narrow. A topic counts as changed where the
interval of its difference, wide enough for all topics together (Bonferroni), does not hold 0. A change of the engine
between the two audits looks the same as an effect of the shield.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.rooms.audit.findings import AuditFinding
from aidos.rooms.audit.numerics import ndtri
from aidos.rooms.audit.topics.space import AuditTopic
from aidos.rooms.audit.uncertainty import Interval

__all__ = ["AuditComparison", "compare_audits"]

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


def compare_audits(first: AuditFinding, second: AuditFinding) -> AuditComparison:
    """Subtract the first audit from the second, at the confidence of the first; InputError where topics differ."""
    _refuse_other_topics(first, second)
    topics = first.space.topics
    (before, spread_before), (after, spread_after) = _weights(first), _weights(second, first)
    level = 1 - first.confidence
    # The ends of intervals for many topics at once lie beyond what a hundred draws reach: the normal law stands in.
    reach = -float(ndtri(level / (2 * len(topics)))) * np.hypot(spread_before, spread_after)
    difference = after - before
    rates = np.subtract.outer(second.drawn_rates, first.drawn_rates)
    low, high = np.quantile(rates, [level / 2, 1 - level / 2])
    return AuditComparison(
        topics=topics,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        rate_difference=second.rate.value - first.rate.value,
        rate=Interval(float(low), float(high)),
    )


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
