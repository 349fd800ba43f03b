"""What is different after a change: queries as they were beside queries as they are.

Only queries are kept whose results differ, or what is told of them: the number of posts with all words, how many places
are certain, how even the scores are. So a generation stays small even where a frequent word had to be looked through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.rooms.exposure.queries.ground import column
from aidos.rooms.exposure.queries.layout import EXPOSURE_COLUMNS, QUERY_COLUMNS
from aidos.rooms.exposure.queries.overlay import Overlay, lists_of, query_keys
from aidos.rooms.exposure.queries.records import NO_TERM, NO_WORD, Lists
from aidos.rooms.exposure.queries.state import State

__all__ = ["Recomputed", "differing"]

Longs = NDArray[np.int64]
TOLD = ("documents", "certain", "evenness")
BY_QUERY = ("first", "second")
BY_MEMBER = ("member", "post", *BY_QUERY)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recomputed:
    """Queries that changed and their rows; a query that is gone has no posts."""

    queries: pa.Table
    exposures: pa.Table
    created: int
    """Queries that were not there before."""
    vanished: int
    """Queries that are not there any more."""
    rows_before: int
    """Rows that these queries had."""

    def __len__(self) -> int:
        return self.queries.num_rows

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All of several (at least one), of different queries."""
        numbers = {
            field.name: sum(getattr(part, field.name) for part in parts)
            for field in fields(cls)
            if field.name not in {"queries", "exposures"}
        }
        return cls(
            queries=pa.concat_tables([part.queries for part in parts]),
            exposures=pa.concat_tables([part.exposures for part in parts]),
            **numbers,
        )

    def laid_over(self, overlay: Overlay) -> Overlay:
        """The overlay with these queries in the place of what it held of them."""
        mine = np.sort(query_keys(column(self.queries, "first"), column(self.queries, "second")))
        return replace(
            overlay,
            queries=_sorted([_others(overlay.queries, mine), self.queries], BY_QUERY),
            exposures=_sorted([_others(overlay.exposures, mine), self.exposures], BY_MEMBER),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The first k of lists, as rows of a table; -1 where there is no post."""

    keys: Longs
    told: dict[str, NDArray[Any]]
    posts: NDArray[np.int32]
    whole: NDArray[np.bool_]

    def at(self, places: Longs) -> _Shown:
        """Some of them; nothing where the place is -1."""
        there = places >= 0
        posts = np.full((len(places), self.posts.shape[1]), -1, dtype=np.int32)
        whole = np.zeros(posts.shape, dtype=np.bool_)
        posts[there], whole[there] = self.posts[places[there]], self.whole[places[there]]
        told = {name: np.zeros(len(places), dtype=values.dtype) for name, values in self.told.items()}
        for name, values in told.items():
            values[there] = self.told[name][places[there]]
        keys = np.full(len(places), -1, dtype=np.int64)
        keys[there] = self.keys[places[there]]
        return _Shown(keys, told, posts, whole)


def differing(state: State, before: Lists, after: Lists) -> Recomputed:
    """The queries that are not what they were; those that no post holds all words of are no queries."""
    old, new = _shown(state, before), _shown(state, after)
    keys = np.union1d(old.keys, new.keys)
    old, new = old.at(_places(old.keys, keys)), new.at(_places(new.keys, keys))
    changed = (old.posts != new.posts).any(axis=1) | (old.whole != new.whole).any(axis=1) | (old.keys != new.keys)
    for name in TOLD:
        changed |= old.told[name] != new.told[name]
    places = np.flatnonzero(changed)
    now, gone = new.at(places), new.keys[places] < 0
    queries, exposures = _tables(state, keys[places], now)
    return Recomputed(
        queries=queries,
        exposures=exposures,
        created=int(np.count_nonzero(old.keys[places] < 0)),
        vanished=int(np.count_nonzero(gone)),
        rows_before=int(np.count_nonzero(old.posts[places] >= 0)),
    )


def _shown(state: State, lists: Lists) -> _Shown:
    lists = lists.take(np.flatnonzero(lists.documents))
    k = state.settings.k
    words = np.sort([state.word_numbers(lists.ones), state.word_numbers(lists.others)], axis=0)
    alone = lists.others == NO_TERM
    first = np.where(alone, words[1], words[0])
    keys = query_keys(first, np.where(alone, NO_WORD, words[1]))
    order = np.argsort(keys)
    shown = np.arange(k) < np.diff(lists.starts)[:, None]
    posts, whole = np.full(shown.shape, -1, dtype=np.int32), np.zeros(shown.shape, dtype=np.bool_)
    at = (lists.starts[:-1, None] + np.arange(k))[shown]
    posts[shown], whole[shown] = lists.posts[at], lists.whole[at]
    told = {name: getattr(lists, name)[order] for name in TOLD}
    return _Shown(keys[order], told, posts[order], whole[order])


def _tables(state: State, keys: Longs, now: _Shown) -> tuple[pa.Table, pa.Table]:
    """Queries and rows as they are stored."""
    first, second = (keys >> 32).astype(np.int32), ((keys & 0xFFFFFFFF) - 1).astype(np.int32)
    there = now.posts >= 0
    sizes = there.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    posts, whole = now.posts[there], now.whole[there]
    listed = [lists_of(starts, values) for values in (posts, whole)]
    told = [now.told[name] for name in ("documents", "evenness", "certain")]
    queries = pa.table([first, second, *told, *listed], schema=QUERY_COLUMNS)
    ranks = np.broadcast_to(np.arange(1, there.shape[1] + 1, dtype=np.uint8), there.shape)[there]
    columns = {
        "member": state.members_of(posts),
        "post": posts,
        "first": np.repeat(first, sizes),
        "second": np.repeat(second, sizes),
        "rank": ranks,
        "whole": whole,
        "certain": ranks <= np.repeat(now.told["certain"], sizes),
        "documents": np.repeat(now.told["documents"], sizes),
        "evenness": np.repeat(now.told["evenness"], sizes),
    }
    return queries, pa.table([columns[name] for name in EXPOSURE_COLUMNS.names], schema=EXPOSURE_COLUMNS)


def _places(keys: Longs, asked: Longs) -> Longs:
    """Where keys stand among others that rise, -1 where they do not."""
    if not len(keys):
        return np.full(len(asked), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[at] == asked, at, -1)


def _sorted(tables: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    return pa.concat_tables(tables).sort_by([(name, "ascending") for name in columns]).combine_chunks()


def _others(table: pa.Table, keys: Longs) -> pa.Table:
    """The rows of other queries than these."""
    theirs = query_keys(column(table, "first"), column(table, "second"))
    return table.filter(pa.array(_places(keys, theirs) < 0))
