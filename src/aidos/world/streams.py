"""Repeatable randomness: streams by part and block, and numbers by hashing.

A stream belongs to (seed, part, block of people), so blocks can be made in any order, on any number of threads, and
in any division into batches. Hashes give facts that must be the same wherever they are looked up: the words of a
query, the owner of a site. Neither is fit for secrets.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Flags", "Floats", "Ints", "fresh_stream", "hash_numbers", "hash_units"]

BLOCK = 1024
"""People in a block: the unit of randomness, of work and of memory."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def fresh_stream(seed: int, part: str, block: int = 0) -> np.random.Generator:
    """The stream of one part of the world and one block of people, from its beginning."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=(_code(part), block))
    return np.random.Generator(np.random.Philox(sequence))


def hash_numbers(seed: int, purpose: str, *keys: Ints | int) -> Ints:
    """A number from 0 to 2^63 - 1 for every key: the same seed, purpose and key always give the same one."""
    with np.errstate(over="ignore"):
        state = np.uint64(seed) * _GOLDEN + np.uint64(_code(purpose))
        mixed = np.atleast_1d(np.asarray(state))
        for key in keys:
            mixed = _stir(mixed ^ (np.asarray(key).astype(np.uint64) * _GOLDEN))
    return (mixed >> np.uint64(1)).astype(np.int64)


def hash_units(seed: int, purpose: str, *keys: Ints | int) -> Floats:
    """Like ``hash_numbers``, as fractions from 0 up to, but not including, 1."""
    units: Floats = (hash_numbers(seed, purpose, *keys) >> 10).astype(np.float64) * 2.0**-53
    return units


def _stir(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finishing steps of a splitmix generator: every bit of the input moves every bit of the output."""
    state = state + _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    stirred: NDArray[np.uint64] = state ^ (state >> np.uint64(31))
    return stirred


def _code(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "big")
