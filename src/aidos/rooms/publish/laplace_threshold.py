"""Frequent items with the number of people who have them, under Laplace noise: the classic (Korolova et al. 2009).

Why it holds, for neighbours that differ by one person who is added or removed:

- bounding leaves her at most m items, so m counts change by one, all in one direction;
- on the items that others have too, discrete Laplace noise of scale m/epsilon changes the chance of any noisy counts by
  at most a factor e^epsilon: each of the m counts gives e^(epsilon/m);
- the items that she alone has are published with probability 1 - (1 - P[1 + X > threshold])^m at most, and the
  threshold makes that at most delta;
- the noises are independent, so the two compose, (epsilon, 0) and (0, delta), to (epsilon, delta).

With more than a few items per person `CountGaussian` publishes more at the same promise; this one is here for
comparison, and for one or two items per person.

What it does not promise: that every frequent item is there, or that a count is exact; anything about people who share
one identifier or use several; anything about a second release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aidos.account.thresholds import Calibration, laplace
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.rooms.publish.counts import people_per_item
from aidos.rooms.publish.histogram import Histogram, ItemParameters

__all__ = ["LaplaceThreshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceThreshold(ItemParameters):
    """Publish items that many people have, with noisy counts of them (discrete Laplace noise and a threshold)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed."""
        self._law()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise and the threshold."""
        calibrated = self._calibrated()
        return {"scale": calibrated.scale, "threshold": calibrated.threshold}

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        law, threshold = self._law(), self._calibrated().threshold
        with people_per_item(data, self.items_per_person, noise) as counted:
            noisy = counted.numbers + law.sample(noise, len(counted.numbers))
            return counted.with_counts(noisy > threshold, noisy)

    def _calibrated(self) -> Calibration:
        return laplace(self.epsilon, self.delta, self.items_per_person)

    def _law(self) -> DiscreteLaplace:
        return DiscreteLaplace(self._calibrated().scale)
