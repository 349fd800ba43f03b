"""Pairs of result lists as arrays: every query behind the other, whatever its length, and topic maps of the items.

Both lists of a pair hold the same items (whoever aligns them appends what one lacks at its end). Places follow the
personalised order; ``ranks`` says where the item of a place stood in the vanilla list. The paper writes pi for the
personalised and sigma for the vanilla ranking and theta_d for the topic map of item d.

Topic maps are kept sparse, in single precision: a snippet is about few topics. An item of many lists is kept once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.errors import InputError
from aidos.rooms.audit.kernels import add_rows, dot_rows, sum_lists

__all__ = ["PairArrays", "TopicMaps"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class TopicMaps:
    """How much each item is about each topic: item d has ``topics[starts[d] : starts[d + 1]]`` with these shares."""

    starts: Longs
    topics: NDArray[np.int32]
    shares: NDArray[np.float32]
    topic_count: int

    def __post_init__(self) -> None:
        if not len(self.topics) == len(self.shares) == self.starts[-1] or (np.diff(self.starts) < 0).any():
            raise InputError("topic maps need rising starts and as many topics as shares")
        if len(self.topics) and not 0 <= self.topics.min() <= self.topics.max() < self.topic_count:
            raise InputError(f"topic maps name topics outside 0 to {self.topic_count - 1}")
        if not np.isfinite(self.shares).all():
            raise InputError("topic maps must be finite numbers", hint="look for items without text")

    @classmethod
    def from_dense(cls, maps: ArrayLike) -> TopicMaps:
        """From a matrix of items by topics; zeros are not kept."""
        matrix = np.asarray(maps, dtype=np.float32)
        if matrix.ndim != 2:
            raise InputError(f"topic maps are a matrix of items by topics, got {matrix.ndim} dimensions")
        rows, topics = np.nonzero(matrix)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(matrix)))]).astype(np.int64)
        return cls(
            starts=starts, topics=topics.astype(np.int32), shares=matrix[rows, topics], topic_count=matrix.shape[1]
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def squares(self) -> Floats:
        """|theta_d|^2 of every item."""
        found = np.empty(len(self))
        sum_lists(self.starts, self.shares.astype(np.float64) ** 2, found)
        return found

    def dot(self, weights: Floats) -> Floats:
        """theta_d . weights of every item."""
        found = np.empty(len(self))
        dot_rows(self.starts, self.topics, self.shares, weights, found)
        return found

    def add(self, factors: Floats) -> Floats:
        """The sum over items of factor times topic map."""
        found = np.empty(self.topic_count)
        add_rows(self.starts, self.topics, self.shares, factors, found)
        return found

    def row(self, item: int) -> Floats:
        """The topic map of one item, as a vector."""
        found = np.zeros(self.topic_count)
        here = slice(self.starts[item], self.starts[item + 1])
        found[self.topics[here]] = self.shares[here]
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class PairArrays:
    """Personalised and vanilla lists of many queries over the same items."""

    starts: Longs
    """Query q has the places ``starts[q] : starts[q + 1]``."""
    items: Longs
    """The item of each place, in personalised order: a row of the topic maps."""
    ranks: Longs
    """The rank of that item in the vanilla list, counted from 1."""
    maps: TopicMaps

    def __post_init__(self) -> None:
        if not len(self.items) == len(self.ranks) == self.starts[-1] or (np.diff(self.starts) < 0).any():
            raise InputError("lists need rising starts, and an item and a rank for every place")
        if len(self.items) and not 0 <= self.items.min() <= self.items.max() < len(self.maps):
            raise InputError(f"lists name items outside 0 to {len(self.maps) - 1}")
        order = np.lexsort((self.ranks, self.query_of))
        if not np.array_equal(self.ranks[order], self.positions):
            raise InputError("both lists of a pair must hold the same items, each once", hint="align the lists first")

    @classmethod
    def from_lists(
        cls, vanilla: Sequence[Sequence[int]], personalised: Sequence[Sequence[int]], maps: TopicMaps
    ) -> PairArrays:
        """From the items of each list in order, as rows of the topic maps."""
        if len(vanilla) != len(personalised):
            raise InputError(f"{len(vanilla)} vanilla lists but {len(personalised)} personalised ones")
        ranks: list[int] = []
        for number, (one, other) in enumerate(zip(vanilla, personalised, strict=True), 1):
            rank = {item: place for place, item in enumerate(one, 1)}
            if len(rank) != len(one) or len(one) != len(other) or any(item not in rank for item in other):
                raise InputError(
                    f"pair {number}: both lists must hold the same items, each once", hint="align the lists first"
                )
            ranks.extend(rank[item] for item in other)
        starts = np.concatenate([[0], np.cumsum([len(one) for one in vanilla])]).astype(np.int64)
        items = np.array([item for other in personalised for item in other], dtype=np.int64)
        return cls(starts=starts, items=items, ranks=np.array(ranks, dtype=np.int64), maps=maps)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return self.maps.topic_count

    @cached_property
    def lengths(self) -> Longs:
        """How many items each list holds."""
        return np.diff(self.starts)

    @cached_property
    def query_of(self) -> Longs:
        """The query of each place."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @cached_property
    def positions(self) -> Longs:
        """The rank of each place in the personalised list, counted from 1."""
        return np.arange(len(self.items)) - self.starts[self.query_of] + 1

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Which queries have lists that differ."""
        moved = np.zeros(len(self), dtype=np.bool_)
        moved[self.query_of[self.ranks != self.positions]] = True
        return moved

    def sum_by_query(self, numbers: Floats) -> Floats:
        """The sum of numbers that places have, for each query."""
        found = np.empty(len(self))
        sum_lists(self.starts, numbers, found)
        return found

    def sum_by_item(self, numbers: Floats) -> Floats:
        """The same for each item, over all lists that it is in."""
        return np.bincount(self.items, weights=numbers, minlength=len(self.maps)).astype(np.float64, copy=False)

    def swapped(self) -> PairArrays:
        """The same pairs with the two lists exchanged."""
        order = np.lexsort((self.ranks, self.query_of))
        return PairArrays(starts=self.starts, items=self.items[order], ranks=self.positions[order], maps=self.maps)

    def take(self, queries: ArrayLike) -> PairArrays:
        """Some of the queries, by number or by a mask."""
        chosen = np.arange(len(self))[np.asarray(queries)]
        places = _places(self.starts, chosen)
        starts = np.concatenate([[0], np.cumsum(self.lengths[chosen])]).astype(np.int64)
        return PairArrays(starts=starts, items=self.items[places], ranks=self.ranks[places], maps=self.maps)

    def lists(self, query: int) -> tuple[Longs, Longs]:
        """Vanilla and personalised items of one query, in order."""
        here = slice(int(self.starts[query]), int(self.starts[query + 1]))
        return self.items[here][np.argsort(self.ranks[here])], self.items[here]


def _places(starts: Longs, chosen: Longs) -> Longs:
    if not len(chosen):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.arange(starts[query], starts[query + 1]) for query in chosen])
