"""The steps of the pool release, one method each, in the order in which they run.

Which step does what in which variant is written here once; what each variant promises for it is in
`aidos.rooms.publish.pool`. The steps after the first see of the log only what passed the cut of each person.

Where counts of occurrences leave the engine, they get noise, and those above a threshold pass. The text of items stays
in the engine. Only the counts come out, get their noise, and go back as the row numbers that pass, so that a log with
ten million queries costs ten million integers here and not their words. With a seed the rows are sorted by item, so
that a simulation can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from aidos.core.noise import Noise
from aidos.core.sampling import DiscreteLaplace
from aidos.core.table import Table
from aidos.engine.embedded import quote_name, quote_text
from aidos.rooms.publish.items import askings, first_askings, first_clicks, first_transitions

__all__ = ["PoolCounts", "PoolTables", "Steps", "Variant", "noised_counts"]

Variant = Literal["as-published", "strict", "thresholded"]

RARE = 5
"""Queries asked less often are dropped first, in the variant as published."""

PAIRS_AT_ONCE = 1_000_000
"""Pairs of released queries that get their noise together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolTables:
    """What is released: counts are of occurrences, noisy, and may be negative where no threshold applies."""

    queries: pa.Table
    """user_query, count."""
    clicks: pa.Table
    """user_query, object_id, count."""
    transitions: pa.Table
    """user_query, next_query, count."""

    def tables(self) -> Mapping[str, pa.Table]:
        """By name."""
        return {"queries": self.queries, "clicks": self.clicks, "transitions": self.transitions}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCounts:
    """True counts, before noise and thresholds: for the mechanism only, and for simulations that vary its noise."""

    queries: Table
    """user_query, count: of all candidates."""
    clicks: Table
    """user_query, object_id, count: of all queries."""
    transitions: Table
    """user_query, next_query, count: of all queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """One run over one log."""

    log: Table
    variant: Variant
    noise: Noise
    pool: Table
    click_lists: Table
    blocked_terms: tuple[str, ...]

    @contextmanager
    def askings(self, limit: int) -> Iterator[Table]:
        """Steps 1 and 2: what may count, and of that the first so many queries of each person."""
        first = self.log.select(first_askings(self.log.columns, self._allowed(), limit))
        with first.held(label="reading what people asked") as held:
            yield held

    def counts(self, asked: Table, clicks_per_person: int, transitions_per_person: int) -> PoolCounts:
        """True counts of what each person's cut leaves; nothing runs yet."""
        only_listed = self.variant == "strict"
        counted = asked.select("select user_query, count(*) as count from {table} group by user_query")
        listed = f"(user_query, object_id) in (from {self.click_lists.name})"
        allowed = f"{self._allowed()} and {listed}" if only_listed else self._allowed()
        clicked = first_clicks(self.log.columns, allowed, clicks_per_person)
        followed = first_transitions(transitions_per_person)
        return PoolCounts(
            queries=_with_zeros(counted, self.pool, only_listed=only_listed),
            clicks=self.log.select(
                f"select user_query, object_id, count(*) as count from ({clicked}) group by user_query, object_id"
            ),
            transitions=asked.select(
                f"select user_query, next_query, count(*) as count from ({followed}) group by user_query, next_query"
            ),
        )

    def queries(self, counts: Table, law: DiscreteLaplace, above: int) -> pa.Table:
        """Steps 3 to 5: candidates, the noisy threshold, noisy counts."""
        chosen = noised_counts(counts, law, self.noise, above)
        if self.variant != "as-published":
            return chosen
        # The paper draws new noise for the counts that it prints, which costs as much again and gains nothing.
        names = self.log.beside(chosen.select(["user_query"]))
        again = counts.select(f"select * from {{table}} where user_query in (from {names.name})")
        return noised_counts(again, law, self.noise, None)

    def clicks(self, counts: Table, released: pa.Table, limit: int, law: DiscreteLaplace, above: int) -> pa.Table:
        """Step 5: noisy counts of clicks on results of released queries."""
        names = self.log.beside(released.select(["user_query"]))
        within = counts.select(f"select * from {{table}} where user_query in (from {names.name})")
        if self.variant == "as-published":
            return noised_counts(within, law, self.noise, None)
        lists = self.click_lists.select(
            f"select * from {{table}} where user_query in (from {names.name}) and {limit} > 0"
        )
        with_zeros = _with_zeros(within, lists, only_listed=self.variant == "strict")
        return noised_counts(with_zeros, law, self.noise, above)

    def transitions(self, counts: Table, released: pa.Table, limit: int, law: DiscreteLaplace, above: int) -> pa.Table:
        """Step 6: noisy counts of one released query after another."""
        names = self.log.beside(released.select(["user_query"]))
        inside = f"user_query in (from {names.name}) and next_query in (from {names.name})"
        within = counts.select(f"select * from {{table}} where {inside}")
        if self.variant == "strict" and limit > 0:
            return self._all_pairs(within, released, law, above)
        return noised_counts(within, law, self.noise, None if self.variant == "as-published" else above)

    def _all_pairs(self, counts: Table, released: pa.Table, law: DiscreteLaplace, above: int) -> pa.Table:
        """Noisy counts above the threshold of all ordered pairs of different released queries, occurring or not."""
        names = [str(name) for name in released.column("user_query").to_pylist()]
        places = {name: place for place, name in enumerate(names)}
        known = {(places[str(a)], places[str(b)]): int(str(number)) for a, b, number in counts.rows()}
        found: list[tuple[int, str, str]] = []
        step = max(1, PAIRS_AT_ONCE // max(len(names), 1))
        for start in range(0, len(names), step):
            rows = range(start, min(start + step, len(names)))
            noisy = law.sample(self.noise, len(rows) * len(names)).reshape(len(rows), len(names))
            for (first, second), number in known.items():
                if first in rows:
                    noisy[first - start, second] += number
            passing = noisy > above
            passing[np.arange(len(rows)), np.arange(rows.start, rows.stop)] = False
            found += [(int(noisy[row, other]), names[start + row], names[other]) for row, other in np.argwhere(passing)]
        found.sort(key=lambda one: (-one[0], one[1], one[2]))
        columns = {
            "user_query": pa.array([first for _, first, _ in found], pa.string()),
            "next_query": pa.array([second for _, _, second in found], pa.string()),
            "count": pa.array([number for number, _, _ in found], pa.int64()),
        }
        return pa.table(columns)

    def _allowed(self) -> str:
        """The condition on user_query of step 1: public in every variant but the one as published."""
        blocked = ", ".join(map(quote_text, self.blocked_terms))
        harmless = f"not list_has_any(string_split(user_query, ' '), [{blocked}])" if blocked else "true"
        match self.variant:
            case "strict":
                return f"{harmless} and user_query in (from {self.pool.name})"
            case "thresholded":
                return harmless
            case "as-published":
                return f"{harmless} and user_query in ({self._frequent()})"

    def _frequent(self) -> str:
        """Queries that are not rare and have no term of their own. It looks at everybody: here the proof breaks."""
        frequent = f"select user_query from ({askings(self.log.columns)}) group by user_query having count(*) >= {RARE}"
        terms = """
            select user_query, unnest(list_distinct(string_split(user_query, ' '))) as term
            from (select distinct user_query from {table})
        """
        unique = f"select any_value(user_query) from ({terms}) group by term having count(*) = 1"
        return f"({frequent}) except ({unique})"


def _with_zeros(counts: Table, listed: Table, *, only_listed: bool) -> Table:
    """Counts of all that is listed, zeros too; and of what occurs besides, unless only listed items may be seen."""
    items = ", ".join(listed.columns)
    join = "left" if only_listed else "full"
    return counts.select(
        f"select {items}, coalesce(c.count, 0) as count from {listed.name} {join} join {{table}} c using ({items})"
    )


def noised_counts(counts: Table, law: DiscreteLaplace, noise: Noise, above: float | None) -> pa.Table:
    """The items with noisy counts, in falling order; only those above the threshold, all when it is None.

    ``counts`` has a column ``count`` of integers; the other columns are the item. Every row gets noise, zeros too.
    """
    items = ", ".join(quote_name(name) for name in counts.columns if name != "count")
    order = f"order by {items}" if noise.is_repeatable else ""
    numbered = counts.select(f"select row_number() over ({order}) as row, {items}, count from {{table}}")
    with numbered.held(label="counting") as held:
        fetched = held.fetch("select row, cast(count as bigint) as count from {table} order by row")
        noisy = _integers(fetched, "count") + law.sample(noise, len(fetched))
        chosen = np.ones(len(noisy), dtype=np.bool_) if above is None else noisy > above
        passing = held.beside(pa.table({"row": _integers(fetched, "row")[chosen], "noisy": noisy[chosen]}))
        joined = f"{{table}} join {passing.name} using (row)"
        return held.fetch(f"select {items}, noisy as count from {joined} order by noisy desc, {items}")


def _integers(table: pa.Table, name: str) -> npt.NDArray[np.int64]:
    values: npt.NDArray[np.int64] = table.column(name).to_numpy()
    return values
