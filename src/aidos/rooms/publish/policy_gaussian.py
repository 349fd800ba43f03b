"""Which items many people have, without counts: people pass by one after another and help items that need it.

Policy Gaussian (Gopi et al. 2020, l2-descent). Items fill up to a cap a little above the threshold. Each person, in an
order that the data do not decide, moves the weights of her items straight towards the cap, by a Euclidean length of at
most 1; items that are full get nothing, so her weight goes where it is of use.

Why it holds, for neighbours that differ by one person who is added or removed. Let c be the cap in every coordinate. A
person maps the weights x of her items to c - s(c - x), where s(v) = v max(0, 1 - 1/|v|) is the proximal map of the
Euclidean norm; proximal maps never increase distances. So if the added person moves the weights by at most 1, everybody
after her (the same people, in the same order) leaves them at most 1 apart: the sensitivity is 1. Items that she alone
has get equal weights from her (they start equal and only she moves them), at most 1/sqrt(k) for k of them, as in
`WeightedGaussian`, and the threshold makes the chance that any is published at most delta/2; the noise has the other
half.

Rounding. Weights are integers in units of 2^-96. A step is wrong by at most two units in each item, and later steps do
not amplify that, so the sensitivity is at most 1 + people x 4 sqrt(m) 2^-96 over both logs. The noise is calibrated for
`SENSITIVITY`, which has room for 2^70 people: no data are refused, because a refusal would tell. (To take the first so
many people in a blind order would not do: one person added is then another removed, and that is a sensitivity of 2.) No
noisy number is ever made: an item of weight h is published with probability Phi((h - threshold)/sigma), which is what
continuous Gaussian noise would do, by comparing a random integer of 64 bits. That probability is right to about 1e-14
of itself, and over all the items that are published this is far below what the sensitivity leaves to spare.

What it does not promise: counts, or more items than `Rounds`, which is usually better and runs in the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Annotated

import numpy as np
import numpy.typing as npt
from annotated_types import Ge, Le

from aidos.account.composition import GaussianPart
from aidos.account.gaussian import gaussian_sigma, normal_tail, normal_tail_inverse
from aidos.account.thresholds import chance_of_one
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.rooms.publish.counts import Choice, bounded_with_sizes, counted_items, draw_salt, people_in_order
from aidos.rooms.publish.histogram import Approximate, Histogram
from aidos.rooms.publish.items import item_columns

__all__ = ["PolicyGaussian", "choose_with_chance", "descend"]

SENSITIVITY = 1 + 2.0**-16
"""What the noise is calibrated for: 1, and something for rounding."""
BITS = 96
"""Of a weight, behind the point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyGaussian(Approximate):
    """Publish which items many people have, without counts (people in turn help the items that need it)."""

    items_per_person: Annotated[int, Ge(1), Le(100)] = 10
    """Items kept of each person (m in the papers)."""
    headroom: Annotated[float, Ge(0), Le(100)] = 3.0
    """How many standard deviations of the noise the cap is above the threshold (alpha in the paper)."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed."""
        self._sigma()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise, the threshold and the cap, where a person's weight is 1."""
        return {"sigma": self._sigma(), "threshold": self._threshold(), "cap": self._cap()}

    def gaussian_part(self) -> GaussianPart:
        """The noise as one part of a composition, with the threshold's half of delta beside it."""
        return GaussianPart(mu=SENSITIVITY / self._sigma(), delta=self.delta / 2)

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        columns, salt = item_columns(data), draw_salt(noise)
        with (
            bounded_with_sizes(data, self.items_per_person, draw_salt(noise)).held(label="bounding") as kept,
            counted_items(kept, columns, "count(*)", noise) as counted,
        ):
            same = ", ".join(quote_name(name) for name in columns)
            queue = kept.fetch(
                f"select row - 1 as place, size from {{table}} join {counted.table.name} using ({same}) "
                f"order by {people_in_order(salt)}, row",
                label="queueing people",
            )
            sizes = _turns(queue.column("size").to_numpy().tolist())
            weights = descend(queue.column("place").to_numpy().tolist(), sizes, len(counted.rows), self._cap())
            return counted.without_counts(self._choose(weights[counted.rows - 1], noise))

    def _choose(self, weights: npt.NDArray[np.float64], noise: Noise) -> Choice:
        sigma, threshold = self._sigma(), self._threshold()
        chances = np.fromiter((normal_tail((threshold - h) / sigma) for h in weights), np.float64, len(weights))
        return choose_with_chance(chances, noise)

    def _sigma(self) -> float:
        return gaussian_sigma(self.epsilon, self.delta / 2, SENSITIVITY)

    def _threshold(self) -> float:
        sigma = self._sigma()
        return max(
            SENSITIVITY / sqrt(k) + sigma * normal_tail_inverse(chance_of_one(self.delta / 2, k)) * (1 + 1e-12)
            for k in range(1, self.items_per_person + 1)
        )

    def _cap(self) -> float:
        return self._threshold() + self.headroom * self._sigma()


def _turns(sizes: Sequence[int]) -> list[int]:
    """One size for each person, from one for each row."""
    turns: list[int] = []
    place = 0
    while place < len(sizes):
        turns.append(sizes[place])
        place += sizes[place]
    return turns


def descend(places: Sequence[int], sizes: Sequence[int], items: int, cap: float) -> npt.NDArray[np.float64]:
    """The weights of ``items`` items after everybody passed.

    ``places`` holds the items of the first person, then those of the second, and so on; ``sizes`` how many each has.
    """
    one, full = 1 << BITS, int(cap * 2.0**BITS)
    weights = [0] * items
    start = 0
    for size in sizes:
        gaps = [(place, full - weights[place]) for place in places[start : start + size] if weights[place] < full]
        start += size
        length = isqrt(sum(gap * gap for _, gap in gaps))
        if length <= one:
            for place, _ in gaps:
                weights[place] = full
        else:
            for place, gap in gaps:
                weights[place] += (gap << BITS) // length
    return np.array([weight / one for weight in weights], dtype=np.float64)


def choose_with_chance(chances: npt.NDArray[np.float64], noise: Noise) -> Choice:
    """Independent choices; a chance counts in steps of 2^-64, rounded down."""
    drawn = np.frombuffer(noise.bits.randbytes(8 * len(chances)), dtype="<u8")
    certain = chances >= 1
    limits = np.ldexp(np.where(certain, 0.0, chances), 64).astype(np.uint64)
    chosen: Choice = certain | (drawn < limits)
    return chosen
