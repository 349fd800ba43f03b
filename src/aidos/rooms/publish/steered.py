"""Two rounds, of which a first, noisy look steers the second: frequent items with counts of people, or without.

`SteeredCounts`: frequent items with the number of people who have them. The default.

Most of what limits a release is not the noise but the bounding: of a person with a hundred items ten are kept, and
chosen blindly most of them are rare ones that nobody can publish. Here a first round with a quarter of the budget finds
out roughly which items many people have. Nothing of it is published; it steers which items of each person are counted.
An item is a candidate if its noisy weight stands out of the noise. Of a person's candidates some are kept: any, so that
counts stay in proportion; or on request the most frequent, whose counts then come out nearly right, or the rarest,
which pass only with everybody's help. The second round counts people and adds noise, as `CountGaussian` does.

Why it holds, for neighbours that differ by one person who is added or removed: the first round is a Gaussian mechanism
of sensitivity 1 over all items there could be (each person's weights, 1/sqrt(k) for k items, have length 1), so its
noisy weights may steer what follows. Given them, which items of a person are kept depends on her own items alone, and
at most m counts change by one: sensitivity sqrt(m). The proof that both rounds and the items she alone has are one
Gaussian part is in `aidos.account.steering`. Noise for items that nobody has is never drawn and need not be: they are
not published. An item's first noise is one draw, used for its candidacy and its rank.

What it does not promise: counts without bias. Who has more candidates than are kept is not counted for the others, so
counts are too low, as with every limit; with ``keep="frequent"`` those of rarer items, with ``keep="rare"`` those of
the frequent ones, by far. Raise ``items_per_person`` against it.

`SteeredRounds`: which items many people have, without counts. The most items.

Round one is a `WeightedGaussian` with two fifths of the budget: a person who has k items adds 1/sqrt(k) to each. What
passes its threshold is out. Of the rest, items whose noisy weight stands out of the noise are candidates, and in round
two each person spreads a length of 1 evenly over her candidates: no weight is lost on items that are out already, nor
on those that have no chance.

Why it holds, for neighbours that differ by one person who is added or removed: given the noisy weights of round one, a
person's weights in round two depend on her own items alone and have length at most 1, so both rounds are Gaussian
mechanisms of sensitivity 1, and mu^2 adds up. All candidates of a person weigh the same, so c items that she alone has
weigh at most 1/sqrt(c) each, and the worst c counts: no search over unequal weights is needed. The proof that both
rounds and her own items are one Gaussian part is in `aidos.account.steering`. An item's first noise is one draw, used
for its threshold, its candidacy and its rank; items that nobody has are not published, and their noise is not drawn.

The idea that a first round biases the weights of a second is that of Chen, Cohen-Addad, Epasto and Zadimoghaddam 2025
(adaptive weighting); rule and proof are others here.

What it does not promise: counts. The noisy weights would be private too, but they are no numbers of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from annotated_types import Ge, Le

from aidos.account.composition import GaussianPart
from aidos.account.steering import Steering, steered_counts, steered_weights
from aidos.account.thresholds import Calibration
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.coded import Coded, coded_contributions
from aidos.rooms.publish.counts import Counted, Integers
from aidos.rooms.publish.histogram import Histogram, ItemParameters
from aidos.rooms.publish.weighted_gaussian import choose_by_weight, unit_weights

__all__ = ["SteeredCounts", "SteeredRounds"]

Keep = Literal["any", "frequent", "rare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwoRounds(ItemParameters):
    """What both have in common: one promise for two rounds of Gaussian noise."""

    items_seen: Annotated[int, Ge(1), Le(1000)] = 100
    """Items of each person that the first round looks at."""

    def guarantee(self, facts: PublicFacts) -> ApproxDP:  # noqa: ARG002  # the number of people plays no part
        """(epsilon, delta) for one person added or removed, both rounds together."""
        self._calibrated()
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def gaussian_part(self) -> GaussianPart:
        """Both rounds as one part of a composition."""
        return self._calibrated().part()

    def _calibrated(self) -> Steering:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeredCounts(_TwoRounds):
    """Publish items that many people have, with noisy counts of them (a first, noisy look chooses what is counted)."""

    keep: Keep = "any"
    """Which candidates of a person are counted: any, frequent (accurate where people have few), rare (most items)."""

    def __post_init__(self) -> None:
        ItemParameters.__post_init__(self)
        if self.keep not in get_args(Keep):
            raise ParameterError(f"SteeredCounts: keep must be one of {', '.join(get_args(Keep))}, got {self.keep!r}")

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """The noise and the threshold of the counts; before them those of the first round, in weights."""
        steering = self._calibrated()
        return {
            "first_sigma": steering.first.scale,
            "candidate": steering.candidate,
            "sigma": steering.second.scale,
            "threshold": steering.second.threshold,
        }

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        steering = self._calibrated()
        first, second = steering.first, steering.second
        with coded_contributions(data, self.items_seen, noise) as coded:
            weighed, seen = _first_look(coded, first, self.items_seen, noise)
            candidates, blindly = seen >= steering.candidate / first.unit, self.keep == "any"
            order = seen if self.keep == "rare" else -seen
            ranks = coded.drawn(weighed, candidates) if blindly else coded.ranked(weighed, order, candidates)
            counted = coded.counted(ranks, self.items_per_person, blindly=blindly)
            noisy = counted.numbers + DiscreteGaussian(second.scale).sample(noise, len(counted.rows))
            return counted.with_counts(noisy > second.threshold, noisy)

    def _calibrated(self) -> Steering:
        return steered_counts(self.epsilon, self.delta, self.items_per_person, self.items_seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class SteeredRounds(_TwoRounds):
    """Publish which items many people have, without counts (a first, noisy look chooses where weight goes)."""

    items_per_person: Annotated[int, Ge(1), Le(1000)] = 30
    """Candidates of each person that get weight in the second round."""
    items_seen: Annotated[int, Ge(1), Le(1000)] = 50

    def calibration(self, facts: PublicFacts) -> Mapping[str, float]:  # noqa: ARG002
        """Noise and threshold of each round, in weights; the first one's also for candidates."""
        steering = self._calibrated()
        return {
            "first_sigma": steering.first.scale,
            "first_threshold": steering.first.threshold,
            "candidate": steering.candidate,
            "sigma": steering.second.scale,
            "threshold": steering.second.threshold,
        }

    def run(self, data: Table, noise: Noise) -> Histogram:
        """Publish the items of a table of contributions."""
        steering = self._calibrated()
        first, second = steering.first, steering.second
        with coded_contributions(data, self.items_seen, noise) as coded:
            weighed, seen = _first_look(coded, first, self.items_seen, noise)
            out = seen > first.threshold / first.unit
            ranks = coded.ranked(weighed, seen, (seen >= steering.candidate / first.unit) & ~out)
            again = coded.weighed_again(ranks, unit_weights(second.unit, self.items_per_person))
            passed = again.rows[np.flatnonzero(choose_by_weight(again.numbers, second, noise))]
            return weighed.without_counts(out | np.isin(weighed.rows, passed))

    def _calibrated(self) -> Steering:
        return steered_weights(self.epsilon, self.delta, self.items_per_person, self.items_seen)


def _first_look(coded: Coded, first: Calibration, items_seen: int, noise: Noise) -> tuple[Counted, Integers]:
    """What the first round sees: the weight of each item, and that weight with noise."""
    weighed = coded.weighed(unit_weights(first.unit, items_seen))
    return weighed, weighed.numbers + DiscreteGaussian(first.scale / first.unit).sample(noise, len(weighed.rows))
