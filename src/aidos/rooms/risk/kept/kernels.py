"""Compiled loops over what is kept: plain arrays in, plain arrays out, and nothing that waits for the interpreter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.risk.kernels import note_bucket

__all__ = ["keep_bucketed", "keep_nearest", "merge"]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def keep_nearest(values: Floats, asked: Longs, rows: Longs, first_entry: int, best: Floats, nearest: Ints) -> None:
    """Raise the best values where an entry's are higher, and note the entry where a topic was asked for."""
    for entry in range(len(values)):
        row = rows[entry]
        for place in range(len(asked)):
            if values[entry, asked[place]] > best[row, asked[place]]:
                nearest[row, place] = first_entry + entry
        for column in range(values.shape[1]):
            best[row, column] = max(best[row, column], values[entry, column])


@njit(cache=True, nogil=True)
def keep_bucketed(
    values: Floats,
    asked: Longs,
    rows: Longs,
    entry_buckets: Longs,
    first_entry: int,
    buckets: Longs,
    highest: Floats,
    bucketed: Ints,
) -> None:
    """Note entries in their buckets, and which entry each kept value is of."""
    before = np.empty(highest.shape[2], dtype=np.float32)
    for entry in range(len(values)):
        row = rows[entry]
        for place in range(len(asked)):
            value = values[entry, asked[place]]
            if value > 0:
                before[:] = highest[row, place]
                note_bucket(entry_buckets[entry], value, buckets[row, place], highest[row, place])
                for kept in range(len(before)):
                    if highest[row, place, kept] != before[kept]:
                        bucketed[row, place, kept] = first_entry + entry


@njit(cache=True, nogil=True)
def merge(ordered: Doubles, gone: Doubles, come: Doubles, found: Doubles) -> int:
    """Write the sorted values that stay and those that come, in order; how many, or -1 where one to go is not there.

    There must be room for all that are there and all that come.
    """
    at = 0
    place = 0
    left = 0
    new = 0
    while left < len(gone) or new < len(come):
        leaves = len(ordered)
        if left < len(gone):
            leaves = place + np.searchsorted(ordered[place:], gone[left])
            if leaves == len(ordered) or ordered[leaves] != gone[left]:
                return -1
        enters = place + np.searchsorted(ordered[place:], come[new]) if new < len(come) else len(ordered)
        stop = min(leaves, enters)
        found[at : at + stop - place] = ordered[place:stop]
        at += stop - place
        place = stop
        if new < len(come) and enters <= leaves:
            found[at] = come[new]
            at += 1
            new += 1
        else:
            place += 1
            left += 1
    found[at : at + len(ordered) - place] = ordered[place:]
    return at + len(ordered) - place
