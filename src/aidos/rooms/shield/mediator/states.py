"""What a mediator remembers, one state for each way to choose: it grows as needed and assigns batches in order."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.rooms.shield.mediator.kernels.chunks import (
    FIRST_ROOM,
    Chunks,
    Commons,
    mediate_chunk,
    mediate_chunks,
    mediate_common,
    mediate_commons,
)
from aidos.rooms.shield.mediator.kernels.mixing import (
    EMPTY,
    Kinds,
    Rows,
    add_kinds,
    mediate_cosine,
    mediate_jaccard,
    rehash,
)
from aidos.rooms.shield.mediator.objects import MOST_NUMBER, Objects
from aidos.rooms.shield.mediator.pools import Pools

__all__ = ["ChunkState", "CommonsState", "CosineState", "JaccardState", "PoolState", "State"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

BASE = MOST_NUMBER + 1
"""Person times this plus topic is one number."""
FEWEST_CELLS = 64
MOST_CELLS = 2**27
"""Numbers that may be kept for accounts times topics, or accounts times kinds of topic vectors: 1 GB."""


class State(Protocol):
    """A mediator's memory."""

    @property
    def sizes(self) -> Longs:
        """Objects in each account."""
        ...

    def assign(self, objects: Objects, alphas: Floats, words: Words) -> Longs:
        """The account of each object, one after the other, with two random words for each."""
        ...


class ChunkState:
    """The original for "same person and topic" (`kernels.chunks`)."""

    def __init__(self, accounts: int) -> None:
        table = np.full(FEWEST_CELLS, EMPTY, dtype=np.int64)
        self._room = 0
        self.chunks = Chunks(
            chunk_keys=table,
            chunk_values=table.copy(),
            entry_keys=table.copy(),
            entry_values=table.copy(),
            heaps=np.zeros((0, 3), dtype=np.int64),
            slots=np.zeros(0, dtype=np.int64),
            entries=np.zeros((0, 4), dtype=np.int64),
            sizes=np.zeros(accounts, dtype=np.int64),
            used=np.zeros(4, dtype=np.int64),
        )

    @property
    def sizes(self) -> Longs:
        """Objects in each account."""
        return self.chunks.sizes

    @property
    def looks(self) -> int:
        """How often a share that had changed was looked at: the work beyond one look per object."""
        return int(self.chunks.used[3])

    def assign(self, objects: Objects, alphas: Floats, words: Words) -> Longs:
        """One after the other."""
        self._make_room(len(objects))
        return mediate_chunks(self.chunks, objects.people * BASE + objects.labels, alphas, words)

    def assign_one(self, person: int, topic: int, alpha: float, words: Words) -> int:
        """One object, without arrays."""
        self._make_room(1)
        return int(mediate_chunk(self.chunks, person * BASE + topic, alpha, words))

    def _make_room(self, more: int) -> None:
        self._room -= more
        if self._room >= 0:
            return
        held = self.chunks
        self._room = max(more, FEWEST_CELLS, int(held.used[1]))
        chunks, entries = int(held.used[0]) + more + self._room, int(held.used[1]) + more + self._room
        chunk_keys, chunk_values = _roomier(held.chunk_keys, held.chunk_values, chunks)
        entry_keys, entry_values = _roomier(held.entry_keys, held.entry_values, entries)
        self.chunks = held._replace(
            chunk_keys=chunk_keys,
            chunk_values=chunk_values,
            entry_keys=entry_keys,
            entry_values=entry_values,
            heaps=_longer(held.heaps, chunks),
            # A heap holds at most twice its entries, and those it has outgrown together less than that.
            slots=_longer(held.slots, FIRST_ROOM * entries),
            entries=_longer(held.entries, entries),
        )


class CommonsState:
    """Homes and commons (`kernels.chunks`)."""

    def __init__(self, accounts: int, commons: int) -> None:
        table = np.full(FEWEST_CELLS, EMPTY, dtype=np.int64)
        self._room = 0
        self.commons = Commons(
            home_keys=table,
            home_values=table.copy(),
            visited=table.copy(),
            unvalued=table.copy(),
            asked=np.zeros(FEWEST_CELLS, dtype=np.int64),
            sizes=np.zeros(accounts, dtype=np.int64),
            commons=commons,
            used=np.zeros(2, dtype=np.int64),
        )

    @property
    def sizes(self) -> Longs:
        """Objects in each account."""
        return self.commons.sizes

    def assign(self, objects: Objects, alphas: Floats, words: Words) -> Longs:
        """One after the other."""
        self._make_room(len(objects), objects.people_count)
        keys = objects.people * BASE + objects.labels
        return mediate_commons(self.commons, objects.people, keys, alphas, words)

    def assign_one(self, person: int, topic: int, alpha: float, words: Words) -> int:
        """One object, without arrays."""
        self._make_room(1, person + 1)
        return int(mediate_common(self.commons, person, person * BASE + topic, alpha, words))

    def _make_room(self, more: int, people: int) -> None:
        self._room -= more
        held = self.commons
        if self._room >= 0 and people <= len(held.asked):
            return
        self._room = max(more, FEWEST_CELLS, int(held.used[1]))
        homes, visits = int(held.used[0]) + more + self._room, int(held.used[1]) + more + self._room
        home_keys, home_values = _roomier(held.home_keys, held.home_values, homes)
        visited, unvalued = _roomier(held.visited, held.unvalued, visits)
        asked = _longer(held.asked, people)
        self.commons = held._replace(
            home_keys=home_keys, home_values=home_values, visited=visited, unvalued=unvalued, asked=asked
        )


class CosineState:
    """The original for the cosine of topic vectors: one sum of vectors per account."""

    def __init__(self, accounts: int) -> None:
        self.sums = np.zeros((0, accounts))
        self.sizes = np.zeros(accounts, dtype=np.int64)

    def assign(self, objects: Objects, alphas: Floats, words: Words) -> Longs:
        """One after the other."""
        rows = objects.vectors.unit_rows()
        topics = int(rows.topics.max(initial=-1)) + 1
        if topics > len(self.sums):
            _check_cells(topics, len(self.sizes), "topics", "number topics densely from 0, or take fewer of them")
            roomier = np.zeros((max(topics, min(2 * len(self.sums), MOST_CELLS // len(self.sizes))), len(self.sizes)))
            roomier[: len(self.sums)] = self.sums
            self.sums = roomier
        return mediate_cosine(self.sums, self.sizes, rows, alphas, words)


class JaccardState:
    """The original for weighted Jaccard: summed similarities per account and kind of vector."""

    def __init__(self, accounts: int) -> None:
        self.sizes = np.zeros(accounts, dtype=np.int64)
        self._numbers: dict[bytes, int] = {}
        self._rows = Rows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
        self._counts = np.zeros((accounts, 0), dtype=np.int64)
        self._similar = np.zeros((accounts, 0))

    def assign(self, objects: Objects, alphas: Floats, words: Words) -> Longs:
        """One after the other."""
        known = len(self._numbers)
        kinds = self._number_kinds(objects.vectors.rows())
        state = Kinds(self._rows, self._counts, self._similar, self.sizes)
        add_kinds(state, known)
        return mediate_jaccard(state, kinds, alphas, words)

    def _number_kinds(self, rows: Rows) -> Longs:
        kinds = np.empty(len(rows.starts) - 1, dtype=np.int64)
        fresh: list[slice] = []
        for number in range(len(kinds)):
            span = slice(rows.starts[number], rows.starts[number + 1])
            spelled = rows.topics[span].tobytes() + rows.weights[span].tobytes()
            kinds[number] = self._numbers.setdefault(spelled, len(self._numbers))
            if kinds[number] == len(self._rows.starts) - 1 + len(fresh):
                fresh.append(span)
        if fresh:
            self._append(rows, fresh)
        return kinds

    def _append(self, rows: Rows, fresh: list[slice]) -> None:
        kinds = len(self._numbers)
        hint = "round the weights, so that more vectors are equal, or choose the cosine"
        _check_cells(kinds, len(self.sizes), "different topic vectors", hint)
        ends = self._rows.starts[-1] + np.cumsum([span.stop - span.start for span in fresh])
        self._rows = Rows(
            np.concatenate([self._rows.starts, ends]).astype(np.int64),
            np.concatenate([self._rows.topics, *(rows.topics[span] for span in fresh)]),
            np.concatenate([self._rows.weights, *(rows.weights[span] for span in fresh)]),
        )
        if kinds > self._counts.shape[1]:
            beyond = ((0, 0), (0, max(kinds, 2 * self._counts.shape[1]) - self._counts.shape[1]))
            self._counts, self._similar = np.pad(self._counts, beyond), np.pad(self._similar, beyond)


class PoolState:
    """Pools: nothing is remembered but how many objects each account holds."""

    def __init__(self, pools: Pools) -> None:
        self.pools = pools
        self.sizes = np.zeros(pools.accounts, dtype=np.int64)

    def place(self, objects: Objects) -> Longs:
        """The account of each object, by its topic."""
        if objects.alphas is not None:
            raise InputError("pools scatter nothing, so that objects have no alpha", hint="leave alphas out")
        chosen = self.pools.of(objects.labels)
        self.sizes += np.bincount(chosen, minlength=len(self.sizes))
        return chosen


def _longer(values: Longs, least: int) -> Longs:
    """The same values in an array with room for so many; twice as long at least when it grows."""
    if least <= len(values):
        return values
    roomier = np.zeros((max(least, 2 * len(values)), *values.shape[1:]), dtype=values.dtype)
    roomier[: len(values)] = values
    return roomier


def _roomier(keys: Longs, values: Longs, held: int) -> tuple[Longs, Longs]:
    """A hash table that is at most half full with so many keys."""
    cells = len(keys)
    while cells < 2 * held:
        cells *= 2
    return (keys, values) if cells == len(keys) else rehash(keys, values, cells)


def _check_cells(rows: int, accounts: int, what: str, hint: str) -> None:
    if rows * accounts > MOST_CELLS:
        raise InputError(f"{rows} {what} times {accounts} accounts do not fit in memory", hint=hint)
