"""Which items many people have, without counts: the selection that is optimal for one item a person.

Desfontaines, Voss, Gipson and Mandayam 2022. An item that n people have is published with probability pi(n); pi(0) = 0,
and pi rises from n - 1 to n as fast as the promise allows, in both directions.

Why it holds, for neighbours that differ by one person who is added or removed: the choice for one item is (e, d)
private by construction of pi, with e = epsilon/m and d = 1 - (1-delta)^(1/m). Bounding leaves her at most m items, the
choices are independent, and m of them compose to (m e, 1 - (1-d)^m) = (epsilon, delta) (Kairouz, Oh and Viswanath
2015). The probabilities are integers over 2^64 that keep both inequalities exactly, and a choice compares integers.

No count is published: the set of items is all there is.

What it does not promise: that it is optimal for several items per person (`Rounds` publishes more then); that an item
with many people is there; anything about a second release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aidos.account.thresholds import GeometricSelection, geometric
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.rooms.publish.counts import people_per_item
from aidos.rooms.publish.histogram import Histogram, ItemParameters

__all__ = ["TruncatedGeometric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedGeometric(ItemParameters):
    """Publish which items many people have, without counts (truncated geometric selection)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed."""
        self._selection()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """From how many people on an item is published as often as not, and always."""
        chances = self._selection().words / 2.0**64
        return {"as_often_as_not_from": float(np.searchsorted(chances, 0.5)), "always_from": float(len(chances))}

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        selection = self._selection()
        with people_per_item(data, self.items_per_person, noise) as counted:
            return counted.without_counts(selection.choose(counted.numbers, noise))

    def _selection(self) -> GeometricSelection:
        return geometric(self.epsilon, self.delta, self.items_per_person)
