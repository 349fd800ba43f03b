"""How many people have each item, of each person so many items at most, held in the engine.

The text of items never comes into Python. A release needs the counts as numbers, and the items only where they pass. So
the engine keeps a temporary table with a number for each row, Python fetches the row numbers and counts, a mechanism
chooses, and the chosen rows are fetched.

The rows of the table come in an order of the engine's choosing, which may differ between runs. With a seed they are
sorted by item, so that a simulation can be repeated.

Of each person at most so many items count, chosen blindly. Every guarantee here rests on that: it is what bounds how
far one person can move the counts. A person's items are put in the order of ``md5(salt, person, item)`` and the first
ones are kept. The choice depends on that person's own items and the salt, on nobody else's; md5 is the same on every
engine, where ``hash()`` is not; and the salt is drawn for each release and never published, so that nobody can prepare
items that will be kept.

Which md5 it is does not matter for privacy: any rule that looks at one person's items alone is sound, so md5 need not
be a strong hash. Equal digests are put in the order of the items themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aidos.core.noise import Noise
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import ParameterError
from aidos.rooms.publish.histogram import PEOPLE, Histogram
from aidos.rooms.publish.items import PERSON, item_columns

__all__ = [
    "Choice",
    "Counted",
    "Integers",
    "bounded",
    "bounded_with_sizes",
    "counted_items",
    "draw_salt",
    "integers",
    "people_in_order",
    "people_per_item",
    "weight_per_item",
]

Integers = npt.NDArray[np.int64]
Choice = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counted:
    """Items that at least one person has, and a number for each; truth, for mechanisms only."""

    table: Table
    """Columns row, those of the item, and the number's."""
    columns: tuple[str, ...]
    rows: Integers
    numbers: Integers

    def with_counts(self, chosen: Choice, noisy: Integers) -> Histogram:
        """The chosen items with their noisy counts."""
        picked = np.flatnonzero(chosen)
        return self._fetch(pa.table({"row": self.rows[picked], PEOPLE: noisy[picked]}), has_counts=True)

    def without_counts(self, chosen: Choice) -> Histogram:
        """The chosen items, and nothing else about them."""
        return self._fetch(pa.table({"row": self.rows[np.flatnonzero(chosen)]}), has_counts=False)

    def _fetch(self, chosen: pa.Table, *, has_counts: bool) -> Histogram:
        items = ", ".join(f"t.{quote_name(name)}" for name in self.columns)
        counts, order = (f", c.{PEOPLE}", f"c.{PEOPLE} desc, {items}") if has_counts else ("", items)
        other = self.table.beside(chosen).name
        table = self.table.fetch(f"select {items}{counts} from {{table}} t join {other} c using (row) order by {order}")
        return Histogram(self.columns, table, has_counts)


@contextmanager
def people_per_item(contributions: Table, limit: int, noise: Noise) -> Iterator[Counted]:
    """The number of people of each item, after keeping at most ``limit`` items of each person."""
    kept = bounded(contributions, limit, draw_salt(noise))
    with counted_items(kept, item_columns(contributions), "count(*)", noise) as counted:
        yield counted


@contextmanager
def weight_per_item(contributions: Table, weights: Sequence[int], noise: Noise) -> Iterator[Counted]:
    """The weight of each item: a person who keeps k items, at most as many as there are weights, adds the k-th to each.

    Weights are integers, and integers add up to the same sum in any order; floating-point numbers do not, and one
    person could move the last digits of every item.
    """
    kept = bounded_with_sizes(contributions, len(weights), draw_salt(noise))
    listed = ", ".join(str(weight) for weight in weights)
    total = f"cast(sum([{listed}][size]) as bigint)"
    with counted_items(kept, item_columns(contributions), total, noise) as counted:
        yield counted


@contextmanager
def counted_items(kept: Table, columns: tuple[str, ...], number: str, noise: Noise) -> Iterator[Counted]:
    """A number for each item, by an SQL aggregate over the rows that have it."""
    items = ", ".join(quote_name(name) for name in columns)
    grouped = kept.select(f"select {items}, {number} as weight from {{table}} group by {items}")
    order = f"order by {items}" if noise.is_repeatable else ""
    numbered = grouped.select(f"select row_number() over ({order}) as row, {items}, weight from {{table}}")
    with numbered.held(label="counting people") as held:
        fetched = held.fetch("select row, weight from {table}" + (" order by row" if noise.is_repeatable else ""))
        yield Counted(held, columns, integers(fetched, "row"), integers(fetched, "weight"))


def integers(table: pa.Table, name: str) -> Integers:
    """A column of whole numbers."""
    values: Integers = table.column(name).to_numpy()
    return values


SALT_BYTES = 16
DIGITS = 12
"""Of the digest: as many as the embedded engine sorts without looking elsewhere, and enough for one person's items."""


def draw_salt(noise: Noise) -> bytes:
    """A fresh salt."""
    return noise.bits.randbytes(SALT_BYTES)


def bounded(contributions: Table, limit: int, salt: bytes) -> Table:
    """The contributions with at most ``limit`` items of each person; nothing runs yet.

    Repeated rows are kept once and count once: the limit is on items, not on rows.
    """
    if limit < 1:
        raise ParameterError(f"the limit of items per person must be at least 1, got {limit}")
    items = [quote_name(name) for name in item_columns(contributions)]
    whole = f"md5('{salt.hex()}' || " + " || chr(31) || ".join([PERSON, *items]) + ")"
    digest = f"left({whole}, {DIGITS})"
    # Rows are equal in this order only if they are the same contribution; the first of those has its rank as number.
    return contributions.select(
        f"select {', '.join([PERSON, *items])} from {{table}} "
        f"window own as (partition by {PERSON} order by {', '.join([digest, *items])}) "
        f"qualify dense_rank() over own <= {limit} and row_number() over own = rank() over own"
    )


def bounded_with_sizes(contributions: Table, limit: int, salt: bytes) -> Table:
    """As `bounded`, with a column ``size``: how many items of that person were kept."""
    kept = bounded(contributions, limit, salt)
    return kept.select(f"select *, count(*) over (partition by {PERSON}) as size from {{table}}")


def people_in_order(salt: bytes) -> str:
    """SQL to sort by: an order of the people that the data do not decide; the items of one person stay together."""
    return f"md5('{salt.hex()}' || {PERSON}), {PERSON}"
