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

Contributions with numbers in place of texts, for mechanisms that go over them more than once. Texts of people and items
are looked up once; what follows (weights, ranks, counts) is arithmetic on whole numbers. Of each person at most
``seen`` items are kept, chosen blindly: every text draws a ticket, md5(salt, text), and a person's items are put in the
order of (her ticket x the item's ticket) modulo a prime. The order depends on her own items and the salt alone, as in
`aidos.rooms.publish.counts`, but md5 is computed once for each text instead of for each contribution. Most people have
fewer items, and then nothing is put in order.

The numbers are labels of the engine's choosing, which depend on everybody's data: nothing may be decided by them. With
a seed they follow the order of the texts, so that a simulation can be repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
import pyarrow as pa
from annotated_types import Ge, Le

from aidos.account.composition import GaussianPart
from aidos.account.steering import Steering, steered_counts, steered_weights
from aidos.account.thresholds import Calibration
from aidos.core.guarantee import ApproxDP
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteGaussian
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError
from aidos.rooms.publish.counts import Choice, Counted, Integers, draw_salt, integers
from aidos.rooms.publish.histogram import Histogram, ItemParameters
from aidos.rooms.publish.items import PERSON, item_columns
from aidos.rooms.publish.weighted_gaussian import choose_by_weight, unit_weights

__all__ = ["Coded", "SteeredCounts", "SteeredRounds", "coded_contributions"]

Keep = Literal["any", "frequent", "rare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwoRounds(ItemParameters, ABC):
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

    @abstractmethod
    def _calibrated(self) -> Steering:
        """Noise and thresholds of both rounds."""


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


PRIME = 2**31 - 1
DIGITS = 31


@dataclass(frozen=True, slots=True)
class Coded:
    """Who has what, in numbers; truth, for mechanisms only."""

    items: Table
    """Columns row and those of the item."""
    people: Table
    """Columns person and ticket."""
    pairs: Table
    """Columns person, size (how many items are kept of that person) and row: one for each contribution."""
    columns: tuple[str, ...]
    noise: Noise

    def weighed(self, weights: list[int]) -> Counted:
        """The weight of each item: a person of whom k items are kept adds the k-th weight to each."""
        return self._counted(self.pairs, f"sum({_listed(weights)}[size])")

    def counted(self, ranks: pa.Table, limit: int, *, blindly: bool = False) -> Counted:
        """The number of people of each ranked item, where each keeps at most ``limit`` of hers, lowest rank first.

        With ``blindly`` each person puts the items in an order of her own: ranks are lots then.
        """
        return self._counted(self._lowest(ranks, limit, blindly=blindly), "count(*)")

    def weighed_again(self, ranks: pa.Table, weights: list[int]) -> Counted:
        """As `weighed`, over ranked items alone; of each person at most as many as there are weights."""
        return self._counted(self._lowest(ranks, len(weights)), f"sum({_listed(weights)}[least(own, {len(weights)})])")

    def ranked(self, counted: Counted, numbers: Integers, chosen: Choice) -> pa.Table:
        """The chosen items in the order of their numbers, smallest first; ties by lot, never by label."""
        picked = np.flatnonzero(chosen)
        order = np.lexsort((self._lots(len(picked)), numbers[picked]))
        ranks = np.empty(len(picked), dtype=np.int64)
        ranks[order] = np.arange(len(picked))
        return pa.table({"row": counted.rows[picked], "rank": ranks})

    def drawn(self, counted: Counted, chosen: Choice) -> pa.Table:
        """The chosen items, each with a lot."""
        picked = np.flatnonzero(chosen)
        return pa.table({"row": counted.rows[picked], "rank": self._lots(len(picked))})

    def _lots(self, size: int) -> Integers:
        words = np.frombuffer(self.noise.bits.randbytes(8 * size), dtype="<u8")
        return (words >> np.uint64(2)).astype(np.int64)

    def _lowest(self, ranks: pa.Table, limit: int, *, blindly: bool = False) -> Table:
        """Of each person the ranked items with the lowest ranks, each with how many ranked ones she has."""
        other = self.pairs.beside(ranks).name
        people = f"join {self.people.name} p on p.person = t.person" if blindly else ""
        order = _blind_order("p.ticket", "r.rank") if blindly else "r.rank"
        return self.pairs.select(
            f"select unnest(arg_min(t.row, {order}, {limit})) as row, count(*) as own "
            f"from {{table}} t join {other} r using (row) {people} group by t.person"
        )

    def _counted(self, pairs: Table, number: str) -> Counted:
        fetched = pairs.fetch(
            f"select row, cast({number} as bigint) as weight from {{table}} group by row order by row",
            label="counting people",
        )
        return Counted(self.items, self.columns, integers(fetched, "row"), integers(fetched, "weight"))


@contextmanager
def coded_contributions(contributions: Table, seen: int, noise: Noise) -> Iterator[Coded]:
    """The contributions in numbers, with at most ``seen`` items of each person, until the ``with`` ends."""
    columns = item_columns(contributions)
    items, salt = ", ".join(quote_name(name) for name in columns), draw_salt(noise)
    order = f"order by {items}" if noise.is_repeatable else ""
    with ExitStack() as kept, ExitStack() as passing:
        pairs = passing.enter_context(contributions.held(label="gathering contributions"))
        distinct = pairs.select(f"select distinct {items} from {{table}}")
        numbered = distinct.select(
            f"select cast(row_number() over ({order}) as integer) as row, {items}, "
            f"{_ticket(salt, [quote_name(name) for name in columns])} as ticket from {{table}}"
        )
        known = kept.enter_context(numbered.held())
        people = pairs.select(
            f"select {PERSON} as name, cast(row_number() over () as integer) as {PERSON}, "
            f"cast(count(*) as integer) as size, {_ticket(salt, [PERSON])} as ticket from {{table}} group by name"
        )
        crowd = kept.enter_context(people.held())
        joined = f"from {{table}} t join {crowd.name} p on p.name = t.{PERSON} join {known.name} i using ({items})"
        few = f"select p.{PERSON}, p.size, i.row {joined} where p.size <= {seen}"
        blindly = f"unnest(arg_min(i.row, {_blind_order('p.ticket', 'i.ticket')}, {seen}))"
        many = f"select p.{PERSON}, {seen} as size, {blindly} as row {joined} where p.size > {seen} group by p.{PERSON}"
        coded = kept.enter_context(pairs.select(f"{few} union all {many}").held(label="bounding"))
        passing.close()
        yield Coded(known, crowd, coded, columns, noise)


def _blind_order(person: str, item: str) -> str:
    """SQL of the place that an item's ticket has in the order of a person's ticket.

    Equal products, one in two billion, are told apart by other digits of the item's ticket.
    """
    product = f"({person} % {PRIME - 1} + 1) * ({item} % {PRIME - 1} + 1) % {PRIME}"
    return f"({product} << {DIGITS}) + ({item} >> {DIGITS})"


def _ticket(salt: bytes, texts: list[str]) -> str:
    """SQL of the number of 62 binary digits that texts draw by their digest."""
    return f"cast(md5_number_lower('{salt.hex()}' || " + " || chr(31) || ".join(texts) + ") >> 2 as bigint)"


def _listed(weights: list[int]) -> str:
    return "[" + ", ".join(map(str, weights)) + "]"
