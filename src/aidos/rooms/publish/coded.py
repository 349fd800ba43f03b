"""Contributions with numbers in place of texts, for mechanisms that go over them more than once.

Texts of people and items are looked up once; what follows (weights, ranks, counts) is arithmetic on whole numbers. Of
each person at most ``seen`` items are kept, chosen blindly: every text draws a ticket, md5(salt, text), and a person's
items are put in the order of (her ticket x the item's ticket) modulo a prime. The order depends on her own items and
the salt alone, as in `aidos.rooms.publish.counts`, but md5 is computed once for each text instead of for each
contribution. Most people have fewer items, and then nothing is put in order.

The numbers are labels of the engine's choosing, which depend on everybody's data: nothing may be decided by them. With
a seed they follow the order of the texts, so that a simulation can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.rooms.publish.counts import Choice, Counted, Integers, draw_salt, integers
from aidos.rooms.publish.items import PERSON, item_columns

__all__ = ["Coded", "coded_contributions"]

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
