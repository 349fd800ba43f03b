"""Which items many people have, without counts, in three rounds: the best choice where only the set is wanted.

After DP-SIPS (Swanberg, Desfontaines and Haney 2023). A first round with little budget finds what nearly everybody has.
Those items are released and removed, and people spread their weight over what is left, which then passes more easily in
the second round, and the third has most of the budget. Each round is a `WeightedGaussian`.

Why it holds, for neighbours that differ by one person who is added or removed. Given what earlier rounds released, each
round is a weighted Gaussian over the remaining items of each person, bounded and weighed anew from that person's items
alone, so the person moves the weights by at most 1 in length. Noise of a round is Gaussian private with mu_i =
1/sigma_i on the items that others have too; her own items pass a round with probability at most d_i. Such parts
compose, also when each depends on the results of those before: mu^2 = mu_1^2 + mu_2^2 + mu_3^2, and the d_i add up. The
rounds' budgets are chosen so that mu gives (epsilon, delta/2) and the d_i sum up to delta/2; the composition is
computed again from the noise and thresholds that were calibrated, and a promise that it does not keep is refused.

What it does not promise: counts, or that more rounds or other shares would not be better for some log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from aidos.account.composition import GaussianPart
from aidos.account.thresholds import Calibration, weighted_gaussian
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError
from aidos.publish.counts import weight_per_item
from aidos.publish.gaussian_split import Budget, split_gaussian
from aidos.publish.histogram import Histogram
from aidos.publish.items import item_columns
from aidos.publish.parameters import ItemParameters
from aidos.publish.weighted_gaussian import choose_by_weight, part_of_weights, unit_weights

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
        for number, calibrated in enumerate(self._calibrated(), start=1):
            found |= {f"sigma_{number}": calibrated.scale, f"threshold_{number}": calibrated.threshold}
        return found

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        with data.held(label="gathering contributions") as left:
            found: list[pa.Table] = []
            for calibrated in self._calibrated():
                weights = unit_weights(calibrated.unit, self.items_per_person)
                with weight_per_item(_without(left, found), weights, noise) as counted:
                    found.append(counted.without_counts(choose_by_weight(counted.numbers, calibrated, noise)).table)
        columns = item_columns(data)
        together = pa.concat_tables(found).sort_by([(name, "ascending") for name in columns])
        return Histogram(columns, together, has_counts=False)

    def _calibrated(self) -> tuple[Calibration, ...]:
        limits = [self.items_per_person] * len(SHARES)
        budgets = split_gaussian(self.epsilon, self.delta, SHARES, limits, _round)
        if budgets is None:
            raise ParameterError(
                f"Rounds: no split of epsilon = {self.epsilon:g} over the rounds keeps the promise",
                hint="ask for a smaller epsilon, or use weighted-gaussian",
            )
        return tuple(weighted_gaussian(*budget, self.items_per_person) for budget in budgets)


def _round(budget: Budget, items_per_person: int) -> GaussianPart:
    return part_of_weights(weighted_gaussian(*budget, items_per_person), budget[1] / 2)


def _without(contributions: Table, found: list[pa.Table]) -> Table:
    """The contributions of items that no round has released yet."""
    if not found:
        return contributions
    released = contributions.beside(pa.concat_tables(found)).name
    same = " and ".join(f"r.{quote_name(name)} = t.{quote_name(name)}" for name in item_columns(contributions))
    return contributions.select(
        f"select t.* from {{table}} t where not exists (select 1 from {released} r where {same})"
    )
