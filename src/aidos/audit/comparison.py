"""Two audits side by side, such as before and after shielding: which weights changed, and by more than chance.

Both audits use the same topics, and other queries or the same. The bootstrap draws of the two are taken as independent
and subtracted, each with each; where the audits share queries that makes the intervals too wide, not too narrow.
A topic counts as changed where the interval of its difference, wide enough for all topics together (Bonferroni), does
not hold 0. A change of the engine between the two audits looks the same as an effect of the shield.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from aidos.audit.inference import LearnedProfile
from aidos.audit.uncertainty import Interval, ProfileIntervals
from aidos.errors import InputError

__all__ = ["AuditComparison", "compare_audits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditComparison:
    """Second audit less first."""

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


def compare_audits(
    first: tuple[LearnedProfile, ProfileIntervals], second: tuple[LearnedProfile, ProfileIntervals]
) -> AuditComparison:
    """Subtract the first audit from the second, at the confidence of the first one's intervals."""
    (before, around_before), (after, around_after) = first, second
    topics = len(before.weights)
    if len(after.weights) != topics:
        raise InputError(
            f"the audits have {topics} and {len(after.weights)} topics", hint="use the same topics for both"
        )
    level = 1 - around_before.confidence
    # The ends of intervals for many topics at once lie beyond what a hundred draws reach: the normal law stands in.
    spread = np.hypot(around_before.draws.std(axis=0, ddof=1), around_after.draws.std(axis=0, ddof=1))
    difference = after.weights - before.weights
    reach = -float(ndtri(level / (2 * topics))) * spread
    rates = np.subtract.outer(around_after.drawn_rates, around_before.drawn_rates)
    low, high = np.quantile(rates, [level / 2, 1 - level / 2])
    return AuditComparison(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        rate_difference=after.rate - before.rate,
        rate=Interval(float(low), float(high)),
    )
