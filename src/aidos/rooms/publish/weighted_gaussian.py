"""Which items many people have, without counts: each person spreads one unit of weight over her items.

Weighted Gaussian (Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020). A person who keeps k items adds 1/sqrt(k)
to each: people with few items say more about each of them, at no cost in privacy.

Why it holds, for neighbours that differ by one person who is added or removed:

- her weights have Euclidean length at most 1, whatever k is, so the weights of all items move by at most 1;
- of K items, the K - k that others have too move their weights by sqrt(1 - k/K), which Gaussian noise hides;
- the k items that she alone has are published with probability q = 1 - (1 - P[1/sqrt(K) + X > threshold])^k;
- the noises are independent, and an item is either shared or her own: the exact delta of both together, for the worst
  K and k, is at most delta (`aidos.account.jointdelta`).

Integers. Weights are counted in units of a power of two and rounded down, floor(1/(sqrt(k) unit)), so k of them still
have length at most 1; their sums are exact in any order. The noise is a discrete Gaussian in the same units, and the
calibration proves its curve (`aidos.account.gaussian.smoothed`), not that of the continuous one.

What it does not promise: counts. The noisy weights would be private too, but they are no numbers of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from aidos.account.composition import GaussianPart
from aidos.account.jointdelta import weight_part, weighted_gaussian
from aidos.account.thresholds import Calibration
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian
from aidos.core.table import Table
from aidos.rooms.publish.counts import Choice, Integers, weight_per_item
from aidos.rooms.publish.histogram import Histogram, ItemParameters

__all__ = ["WeightedGaussian", "choose_by_weight", "unit_weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedGaussian(ItemParameters):
    """Publish which items many people have, without counts (weights of length one, Gaussian noise, a threshold)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed."""
        self._calibrated()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise and the threshold, where a person's weight is 1, and the unit of weights."""
        calibrated = self._calibrated()
        return {"sigma": calibrated.scale, "threshold": calibrated.threshold, "unit": calibrated.unit}

    def gaussian_part(self) -> GaussianPart:
        """The noise and the threshold as one part of a composition."""
        return weight_part(self._calibrated(), self.items_per_person)

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        calibrated = self._calibrated()
        with weight_per_item(data, unit_weights(calibrated.unit, self.items_per_person), noise) as counted:
            return counted.without_counts(choose_by_weight(counted.numbers, calibrated, noise))

    def _calibrated(self) -> Calibration:
        return weighted_gaussian(self.epsilon, self.delta, self.items_per_person)


def unit_weights(unit: float, items: int) -> list[int]:
    """1/sqrt(k) in units, rounded down, for k = 1, 2, ..., items; the unit is a power of two."""
    whole = int(1 / unit)
    return [isqrt(whole * whole // k) for k in range(1, items + 1)]


def choose_by_weight(weights: Integers, calibrated: Calibration, noise: Noise) -> Choice:
    """Which weights, in units, are above the threshold once noise is added."""
    law = DiscreteGaussian(calibrated.scale / calibrated.unit)
    chosen: Choice = weights + law.sample(noise, len(weights)) > calibrated.threshold / calibrated.unit
    return chosen
