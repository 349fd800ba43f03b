"""What a release says, in one shape whatever mechanism made it: items and how much each weighs.

Mechanisms write different tables: items with numbers of people, items without numbers, occurrences (the pool release),
visits without names (k-anonymity). Whoever builds something from a release (suggestions, rankings, a cache) wants the
same from all of them: queries, clicks, pairs of queries and keywords, each with a count. Here one becomes the other.

Only what was released is read, so nothing here costs privacy. What it does not promise: that counts of two releases
compare. They are people in one and occurrences in another, and where a release has no numbers every item counts 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from aidos.rooms.publish.histogram import PEOPLE
from aidos.rooms.publish.items import KINDS

__all__ = ["COUNT", "CountedTables", "counted_tables"]

COUNT = "count"
"""The column of counts, in every table."""
VISITS = "visits"
TRANSITIONS = "transitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTables:
    """Items and their counts (whole numbers, at least 1), most first; None where a release has no such kind."""

    queries: pa.Table | None = None
    """user_query, count."""
    clicks: pa.Table | None = None
    """user_query, object_id, count."""
    pairs: pa.Table | None = None
    """user_query, next_query, count."""
    keywords: pa.Table | None = None
    """keyword, count."""
    has_counts: bool = True
    """False where the mechanism publishes items without numbers: every count is then 1."""

    def kinds(self) -> Mapping[str, pa.Table]:
        """The kinds that the release has, by name; a table may be empty."""
        named = {"queries": self.queries, "clicks": self.clicks, "pairs": self.pairs, "keywords": self.keywords}
        return {kind: table for kind, table in named.items() if table is not None}


def counted_tables(tables: Mapping[str, pa.Table]) -> CountedTables:
    """From the tables of a release, by name, as every mechanism writes them; other tables are left aside."""
    found = {kind: counted for kind in KINDS if (counted := _kind(tables, kind)) is not None}
    if VISITS in tables:
        found |= _from_visits(tables[VISITS])
    numbered = [{PEOPLE, COUNT} & set(table.column_names) for name, table in tables.items() if name != VISITS]
    return CountedTables(**found, has_counts=all(numbered))


def _kind(tables: Mapping[str, pa.Table], kind: str) -> pa.Table | None:
    # The pool release calls pairs transitions; no release has both.
    table = tables.get(kind, tables.get(TRANSITIONS) if kind == "pairs" else None)
    columns = KINDS[kind].columns
    if table is None or not set(columns) <= set(table.column_names):
        return None
    number = next((name for name in (PEOPLE, COUNT) if name in table.column_names), None)
    counts = pa.repeat(pa.scalar(1, pa.int64()), len(table)) if number is None else table.column(number)
    made = pa.table({**{name: table.column(name).cast(pa.string()) for name in columns}, COUNT: counts})
    # Noise alone makes a count 0 or less; as a weight it would say less than nothing.
    return _sorted(made.filter(pc.field(COUNT) > 0))


def _from_visits(visits: pa.Table) -> dict[str, pa.Table]:
    """Occurrences in a log without names: of queries in order, or of the keywords of each visit."""
    if "user_query" not in visits.column_names:
        return {"keywords": _keywords(visits, "keywords")}
    ordered = visits.sort_by([("visit", "ascending"), ("place", "ascending")]).combine_chunks()
    before, after = ordered.slice(0, max(len(ordered) - 1, 0)), ordered.slice(1)
    follows = pc.and_(
        pc.equal(before.column("visit"), after.column("visit")),
        pc.not_equal(before.column("user_query"), after.column("user_query")),
    )
    pairs = pa.table({"user_query": before.column("user_query"), "next_query": after.column("user_query")})
    return {
        "queries": _occurrences(ordered.select(["user_query"])),
        "pairs": _occurrences(pairs.filter(follows)),
        "keywords": _keywords(ordered, "user_query"),
    }


def _keywords(visits: pa.Table, column: str) -> pa.Table:
    words = pc.list_flatten(pc.utf8_split_whitespace(visits.column(column).combine_chunks()))
    return _occurrences(pa.table({"keyword": words}).filter(pc.field("keyword") != ""))


def _occurrences(items: pa.Table) -> pa.Table:
    counted = items.group_by(items.column_names).aggregate([([], "count_all")])
    return _sorted(counted.rename_columns([COUNT if name == "count_all" else name for name in counted.column_names]))


def _sorted(counted: pa.Table) -> pa.Table:
    items = [name for name in counted.column_names if name != COUNT]
    order: list[tuple[str, Literal["ascending", "descending"]]] = [(COUNT, "descending")]
    order += [(name, "ascending") for name in items]
    return counted.select([*items, COUNT]).sort_by(order).combine_chunks()
