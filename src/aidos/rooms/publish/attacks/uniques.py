"""A scan for leaks: released items that, in the log they came from, a single person has.

A release under differential privacy lets such an item out with probability delta at most. One that only counts, cuts or
renames may let out thousands. The scan needs the log, so its result is a finding for the owner of the log; it gives
numbers and never an item.
"""

from __future__ import annotations

from dataclasses import dataclass

from aidos.core.mechanism import Finding
from aidos.core.table import Table
from aidos.engine.embedded import quote_name
from aidos.errors import InputError
from aidos.rooms.publish.items import KINDS, ItemKind, contributions

__all__ = ["UniqueScan", "kind_of_release", "scan_uniques"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueScan:
    """How many people of the log have the items of a release."""

    kind: str
    """What the items are: keywords, queries, clicks or pairs."""
    items: int
    """Different items in the release."""
    of_one: int
    """Those that one person has."""
    of_few: int
    """Those that two to four people have."""
    of_nobody: int
    """Those that nobody in the log has: candidates of a public list, or prefixes."""

    @property
    def verdict(self) -> str:
        """The result in words."""
        if not self.items:
            return "nothing was released"
        if not self.of_one:
            return "no released item is a single person's"
        noun = "item is" if self.of_one == 1 else "items are"
        return f"LEAK: {self.of_one:,} released {noun} a single person's ({self.of_one / self.items:.1%})"


def scan_uniques(released: Table, log: Table) -> Finding[UniqueScan]:
    """Count the people of the log behind every released item; both tables live in one engine."""
    kind = kind_of_release(released)
    items = ", ".join(map(quote_name, kind.columns))
    owned = contributions(log, kind).select(
        f"select {items}, count(distinct person) as people from {{table}} group by {items}"
    )
    joined = released.select(
        f"select coalesce(people, 0) as people from (select distinct {items} from {{table}}) "
        f"left join {owned.name} using ({items})"
    )
    rows = joined.rows(
        "select count(*), count(*) filter (people = 1), count(*) filter (people between 2 and 4), "
        "count(*) filter (people = 0) from {table}"
    )
    total, one, few, nobody = (int(str(number)) for number in rows[0])
    scan = UniqueScan(kind=kind.name, items=total, of_one=one, of_few=few, of_nobody=nobody)
    return Finding(value=scan, about="the people of the log")


def kind_of_release(released: Table) -> ItemKind:
    """What a released table lists, by its columns."""
    columns = set(released.columns)
    fitting = [kind for kind in KINDS.values() if set(kind.columns) <= columns]
    if not fitting:
        raise InputError(
            "the release has no column of items that aidos knows",
            hint=f"it should have {' or '.join(dict.fromkeys(kind.columns[0] for kind in KINDS.values()))}",
        )
    return max(fitting, key=lambda kind: len(kind.columns))
