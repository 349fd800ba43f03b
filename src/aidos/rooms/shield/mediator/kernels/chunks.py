"""Assigning chunks, all objects of one person and one topic: the original heuristic, exactly, and the one with commons.

The original takes the account with the largest share of the chunk. A chunk is all objects of one person and one topic.
Its coherence in an account is count / size, so each chunk keeps a heap of the accounts that hold it. The size of an
account changes whenever anybody's object enters it, and no chunk can be told each time. It need not be: while a chunk's
own count stays, its share in an account can only fall. A share that was noted earlier is therefore never too low, and
the best account is found by looking at the top of the heap, noting its present share, and letting it sink, until the
top is up to date. Shares are compared as integers, count times size crosswise, and equal shares by account number, so
the answer is that of the plain search over all accounts.

One look costs the logarithm of the accounts that hold the chunk. How many looks an object takes is not bounded by
theory (the problem contains online max-plus products, for which nobody knows how), but measured: less than two.

With commons chunks stay at home, and scattered objects go to accounts of their own: constant work per object. What it
does and why is told in `aidos.rooms.shield.mediator.assignment`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.mediator.kernels.mixing import EMPTY, Longs, coin, locate, mix, pick

__all__ = ["FIRST_ROOM", "Chunks", "Commons", "mediate_chunk", "mediate_chunks", "mediate_common", "mediate_commons"]

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


CANDIDATES = 4
"""Accounts looked at for a new home, and commons looked at for a scattered object."""
PATIENCE = 16
"""Draws from all accounts before an object goes where its person has been already."""
SETTLED = 15
"""Objects after which a person's new topic is taken for a small one."""


class Commons(NamedTuple):
    """Homes of chunks, and where everybody has been."""

    home_keys: Longs
    """Hash table: person and topic to the account where the chunk is at home."""
    home_values: Longs
    visited: Longs
    """Hash table without values: person and account."""
    unvalued: Longs
    """The values that ``visited`` does not need, for growing."""
    asked: Longs
    """By person: objects so far."""
    sizes: Longs
    """By account: objects in it; the first ``commons`` accounts are common."""
    commons: int
    used: Longs
    """How many homes and visits there are."""


@njit(cache=True)
def _is_new(state: Commons, person: int, account: int) -> bool:
    return bool(state.visited[locate(state.visited, person * len(state.sizes) + account)] == EMPTY)


@njit(cache=True)
def _scatter(state: Commons, person: int, word: np.uint64) -> int:
    """A common account that is new to the person; any new one when she has been in most of the commons."""
    account = 0
    for _ in range(CANDIDATES if state.commons > 0 else 0):
        account = pick(word, state.commons)
        if _is_new(state, person, account):
            return account
        word = mix(word)
    for _ in range(PATIENCE):
        account = pick(word, len(state.sizes))
        if _is_new(state, person, account):
            return account
        word = mix(word)
    return account


@njit(cache=True)
def _settle(state: Commons, person: int, word: np.uint64) -> int:
    """The emptiest of a few accounts that are not common, preferably one where the person is new."""
    best, best_new = -1, False
    for _ in range(CANDIDATES):
        account = state.commons + pick(word, len(state.sizes) - state.commons)
        is_new = _is_new(state, person, account)
        emptier = best < 0 or state.sizes[account] < state.sizes[best]
        if (is_new and not best_new) or (is_new == best_new and emptier):
            best, best_new = account, is_new
        word = mix(word)
    return best


@njit(cache=True)
def _home(state: Commons, person: int, key: int, word: np.uint64) -> int:
    cell = locate(state.home_keys, key)
    if state.home_keys[cell] == EMPTY:
        state.home_keys[cell] = key
        late = state.asked[person] >= SETTLED and state.commons > 0
        state.home_values[cell] = _scatter(state, person, word) if late else _settle(state, person, word)
        state.used[0] += 1
    return int(state.home_values[cell])


@njit(cache=True)
def mediate_common(state: Commons, person: int, key: int, alpha: float, words: Words) -> int:
    """Assign one object, by two random words; the state must have room for it."""
    account = _scatter(state, person, words[1]) if coin(words[0]) < alpha else _home(state, person, key, words[1])
    visit = person * len(state.sizes) + account
    cell = locate(state.visited, visit)
    if state.visited[cell] == EMPTY:
        state.visited[cell] = visit
        state.used[1] += 1
    state.asked[person] += 1
    state.sizes[account] += 1
    return account


@njit(cache=True, nogil=True)
def mediate_commons(state: Commons, people: Longs, keys: Longs, alphas: Floats, words: Words) -> Longs:
    """Assign objects one after the other; the state must have room for all of them."""
    chosen = np.empty(len(keys), np.int64)
    for number in range(len(keys)):
        chosen[number] = mediate_common(state, people[number], keys[number], alphas[number], words[number])
    return chosen
