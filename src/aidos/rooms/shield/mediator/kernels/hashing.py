"""Numbers looked up in constant time, and random words turned into coins and picks.

A hash table is two arrays of equal length, a power of two and at most half full: keys (`EMPTY` where there is none) and
values. Who adds keys sees to it that there is room (`rehash`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = ["EMPTY", "coin", "locate", "mix", "pick", "rehash"]

Longs = NDArray[np.int64]

EMPTY = -1
"""The key of a free cell; real keys are not negative."""
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


@njit(cache=True)
def mix(word: np.uint64) -> np.uint64:
    """Another word, each of whose bits hangs on all bits of this one (the finaliser of splitmix64); one to one."""
    word += GOLDEN
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@njit(cache=True)
def coin(word: np.uint64) -> float:
    """A number from [0, 1), uniform to 53 bits."""
    return (word >> np.uint64(11)) * UNIT


@njit(cache=True)
def pick(word: np.uint64, among: int) -> int:
    """One of the numbers below ``among``, uniform up to among / 2^53."""
    return int(coin(word) * among)


@njit(cache=True)
def locate(keys: Longs, key: int) -> int:
    """The cell that holds the key, or the free cell where it belongs."""
    last = len(keys) - 1
    cell = int(np.int64(mix(np.uint64(key)) & np.uint64(last)))
    while keys[cell] != EMPTY and keys[cell] != key:
        cell = (cell + 1) & last
    return cell


@njit(cache=True)
def rehash(keys: Longs, values: Longs, cells: int) -> tuple[Longs, Longs]:
    """The same table with so many cells."""
    new_keys, new_values = np.full(cells, EMPTY, np.int64), np.full(cells, EMPTY, np.int64)
    for old in range(len(keys)):
        if keys[old] != EMPTY:
            cell = locate(new_keys, keys[old])
            new_keys[cell], new_values[cell] = keys[old], values[old]
    return new_keys, new_values
