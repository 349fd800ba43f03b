"""The original assignment for "same person and topic": the account with the largest share of the chunk, exactly.

A chunk is all objects of one person and one topic. Its coherence in an account is count / size, so each chunk keeps a
heap of the accounts that hold it. The size of an account changes whenever anybody's object enters it, and no chunk can
be told each time. It need not be: while a chunk's own count stays, its share in an account can only fall. A share that
was noted earlier is therefore never too low, and the best account is found by looking at the top of the heap, noting
its present share, and letting it sink, until the top is up to date. Shares are compared as integers, count times size
crosswise, and equal shares by account number, so the answer is that of the plain search over all accounts.

One look costs the logarithm of the accounts that hold the chunk. How many looks an object takes is not bounded by
theory (the problem contains online max-plus products, for which nobody knows how), but measured: less than two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.shield.mediator.kernels.hashing import Longs, coin, locate, pick

__all__ = ["FIRST_ROOM", "Chunks", "mediate_chunk", "mediate_chunks"]

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

FIRST_ROOM = 4
"""Places in the first heap of a chunk; each further one is twice as large."""


class Chunks(NamedTuple):
    """Who holds what: an entry is a chunk in an account, and the entries of a chunk are a heap in ``slots``."""

    chunk_keys: Longs
    """Hash table: person and topic to the number of the chunk."""
    chunk_values: Longs
    entry_keys: Longs
    """Hash table: chunk and account to the number of the entry."""
    entry_values: Longs
    heaps: Longs
    """By chunk: where its heap begins in ``slots``, its length, and its room."""
    slots: Longs
    """The heaps: numbers of entries."""
    entries: Longs
    """By entry: account, objects, the account's size when the share was noted, and the place in the heap."""
    sizes: Longs
    """By account: objects in it."""
    used: Longs
    """How many chunks, entries and slots there are, and how often a share was noted again."""


ACCOUNT, COUNT, SEEN, PLACE = 0, 1, 2, 3
START, LENGTH, ROOM = 0, 1, 2


@njit(cache=True)
def _better(entries: Longs, one: int, other: int) -> bool:
    left, right = entries[one, COUNT] * entries[other, SEEN], entries[other, COUNT] * entries[one, SEEN]
    return bool(left > right or (left == right and entries[one, ACCOUNT] < entries[other, ACCOUNT]))


@njit(cache=True)
def _rise(entries: Longs, slots: Longs, start: int, entry: int) -> None:
    place = entries[entry, PLACE]
    while place > 0:
        above = slots[start + (place - 1) // 2]
        if not _better(entries, entry, above):
            break
        slots[start + place], entries[above, PLACE] = above, place
        place = (place - 1) // 2
    slots[start + place], entries[entry, PLACE] = entry, place


@njit(cache=True)
def _sink(entries: Longs, slots: Longs, start: int, length: int, entry: int) -> None:
    place = entries[entry, PLACE]
    while 2 * place + 1 < length:
        below = 2 * place + 1
        if below + 1 < length and _better(entries, slots[start + below + 1], slots[start + below]):
            below += 1
        lower = slots[start + below]
        if not _better(entries, lower, entry):
            break
        slots[start + place], entries[lower, PLACE] = lower, place
        place = below
    slots[start + place], entries[entry, PLACE] = entry, place


@njit(cache=True)
def _best_account(entries: Longs, slots: Longs, heap: Longs, sizes: Longs, used: Longs) -> int:
    """The account with the largest share, the lowest of equals; -1 when the chunk is nowhere yet."""
    start, length = heap[START], heap[LENGTH]
    while length > 0:
        top = slots[start]
        size = sizes[entries[top, ACCOUNT]]
        if entries[top, SEEN] == size:
            return int(entries[top, ACCOUNT])
        entries[top, SEEN] = size
        used[3] += 1
        _sink(entries, slots, start, length, top)
    return -1


@njit(cache=True)
def _append(entries: Longs, slots: Longs, heap: Longs, used: Longs, account: int) -> int:
    """A new entry at the end of the heap."""
    entry, length = used[1], heap[LENGTH]
    used[1] += 1
    if length == heap[ROOM]:
        start, moved = heap[START], used[2]
        for place in range(length):
            slots[moved + place] = slots[start + place]
        heap[START], heap[ROOM] = moved, max(FIRST_ROOM, 2 * length)
        used[2] += heap[ROOM]
    entries[entry, ACCOUNT], entries[entry, COUNT], entries[entry, PLACE] = account, 0, length
    slots[heap[START] + length] = entry
    heap[LENGTH] += 1
    return int(entry)


@njit(cache=True)
def mediate_chunk(state: Chunks, key: int, alpha: float, words: Words) -> int:
    """Assign one object, by two random words; the state must have room for it."""
    entries, slots, sizes, used = state.entries, state.slots, state.sizes, state.used
    cell = locate(state.chunk_keys, key)
    if state.chunk_keys[cell] != key:
        state.chunk_keys[cell], state.chunk_values[cell] = key, used[0]
        used[0] += 1
    chunk = state.chunk_values[cell]
    heap = state.heaps[chunk]
    account = -1
    if coin(words[0]) >= alpha:
        account = _best_account(entries, slots, heap, sizes, used)
    if account < 0:
        account = pick(words[1], len(sizes))
    sizes[account] += 1
    entry_key = chunk * len(sizes) + account
    cell = locate(state.entry_keys, entry_key)
    if state.entry_keys[cell] != entry_key:
        state.entry_keys[cell] = entry_key
        state.entry_values[cell] = _append(entries, slots, heap, used, account)
    entry = state.entry_values[cell]
    entries[entry, COUNT] += 1
    entries[entry, SEEN] = sizes[account]
    _rise(entries, slots, heap[START], entry)
    _sink(entries, slots, heap[START], heap[LENGTH], entry)
    return account


@njit(cache=True, nogil=True)
def mediate_chunks(state: Chunks, keys: Longs, alphas: Floats, words: Words) -> Longs:
    """Assign objects one after the other; the state must have room for all of them."""
    chosen = np.empty(len(keys), np.int64)
    for number in range(len(keys)):
        chosen[number] = mediate_chunk(state, keys[number], alphas[number], words[number])
    return chosen
