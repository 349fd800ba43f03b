"""Which items many people have, without counts, in three rounds that make room for each other.

After DP-SIPS (Swanberg, Desfontaines and Haney 2023). A first round with little budget finds what nearly everybody has.
Those items are released and removed, and people spread their weight over what is left, which then passes more easily in
the second round, and the third has most of the budget. Each round is a `WeightedGaussian`.

Why it holds, for neighbours that differ by one person who is added or removed. Given what earlier rounds released, each
round is a weighted Gaussian over the remaining items of each person, bounded and weighed anew from that person's items
alone, so the person moves the weights by at most 1 in length. Noise of a round is Gaussian private with mu_i =
1/sigma_i on the items that others have too; her own items pass a round with probability at most q_i. Such parts
compose, also when each depends on the results of those before: mu^2 = mu_1^2 + mu_2^2 + mu_3^2, and 1-q_i multiply.
(Each round's worst mu and worst q count together here: a round may be chosen by those before.) The composition is
computed from the noise and thresholds that were calibrated, and a promise that it does not keep is refused.

What it does not promise: counts, or more items than `SteeredRounds`, which is better on every table that was tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from aidos.account.composition import GaussianPart
from aidos.account.steering import weighted_rounds
from aidos.account.thresholds import Calibration
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.rooms.publish.counts import weight_per_item
from aidos.rooms.publish.histogram import Histogram, ItemParameters
from aidos.rooms.publish.items import item_columns
from aidos.rooms.publish.weighted_gaussian import choose_by_weight, unit_weights

__all__ = ["SHARES", "Rounds"]

SHARES = (0.05, 0.15, 0.80)
"""Of the budget, for each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds(ItemParameters):
    """Publish which items many people have, without counts (three rounds, released items make room for others)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed, all rounds together."""
        self._calibrated()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """Noise and threshold of each round."""
        found: dict[str, float] = {}
        for number, calibrated in enumerate(self._calibrated()[0], start=1):
            found |= {f"sigma_{number}": calibrated.scale, f"threshold_{number}": calibrated.threshold}
        return found

    def gaussian_part(self) -> GaussianPart:
        """All rounds as one part of a composition."""
        return self._calibrated()[1]

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        with data.held(label="gathering contributions") as left:
            found: list[pa.Table] = []
            for calibrated in self._calibrated()[0]:
                weights = unit_weights(calibrated.unit, self.items_per_person)
                with weight_per_item(_without(left, found), weights, noise) as counted:
                    found.append(counted.without_counts(choose_by_weight(counted.numbers, calibrated, noise)).table)
        columns = item_columns(data)
        together = pa.concat_tables(found).sort_by([(name, "ascending") for name in columns])
        return Histogram(columns, together, has_counts=False)

    def _calibrated(self) -> tuple[tuple[Calibration, ...], GaussianPart]:
        return weighted_rounds(self.epsilon, self.delta, self.items_per_person, SHARES)


def _without(contributions: Table, found: list[pa.Table]) -> Table:
    """The contributions of items that no round has released yet."""
    if not found:
        return contributions
    released = contributions.beside(pa.concat_tables(found)).name
    same = " and ".join(f"r.{quote_name(name)} = t.{quote_name(name)}" for name in item_columns(contributions))
    return contributions.select(
        f"select t.* from {{table}} t where not exists (select 1 from {released} r where {same})"
    )
