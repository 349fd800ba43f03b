"""Frequent items with the number of people who have them, under Gaussian noise.

The method is noise and a threshold on the counts of people, as in Korolova et al. 2009 and Götz et al. 2012, with
discrete Gaussian noise (Canonne, Kamath and Steinke 2020) in place of Laplace noise: m items of one person move the
counts by sqrt(m) in Euclidean length, against m in the length that Laplace noise has to hide.

Why it holds, for neighbours that differ by one person who is added or removed:

- bounding leaves her at most m items, and changes nobody else's; so m counts change by one, the others stay;
- on the m - k items that others have too, what is published is made from counts with discrete Gaussian noise, whose
  exact curve is known (`aidos.account.gaussian.count_noise_delta`);
- the k items that she alone has are published with probability q = 1 - (1 - P[1 + X > threshold])^k;
- the noises are independent, and an item is either shared or her own: the exact delta of both together, for the worst
  k, is at most delta (`aidos.account.jointdelta`).

Items that nobody has are never looked at: no list of all possible items is needed.

What it does not promise: that every frequent item is there, or that a count is exact; anything about people who share
one identifier or use several; anything about a second release (that is the ledger's work).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aidos.account.composition import GaussianPart
from aidos.account.jointdelta import count_gaussian, count_part
from aidos.account.thresholds import Calibration
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian
from aidos.core.table import Table
from aidos.rooms.publish.counts import people_per_item
from aidos.rooms.publish.histogram import Histogram, ItemParameters

__all__ = ["CountGaussian"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountGaussian(ItemParameters):
    """Publish items that many people have, with noisy counts of them (discrete Gaussian noise and a threshold)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed."""
        self._calibrated()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise and the threshold."""
        calibrated = self._calibrated()
        return {"sigma": calibrated.scale, "threshold": calibrated.threshold}

    def gaussian_part(self) -> GaussianPart:
        """The noise and the threshold as one part of a composition."""
        return count_part(self._calibrated(), self.items_per_person)

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        calibrated = self._calibrated()
        with people_per_item(data, self.items_per_person, noise) as counted:
            noisy = counted.numbers + DiscreteGaussian(calibrated.scale).sample(noise, len(counted.numbers))
            return counted.with_counts(noisy > calibrated.threshold, noisy)

    def _calibrated(self) -> Calibration:
        return count_gaussian(self.epsilon, self.delta, self.items_per_person)
