"""The heuristic with commons: chunks at home, scattered objects in accounts of their own. Constant work per object.

What it does and why is told in `aidos.shield.mediator.assignment`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.shield.mediator.kernels.hashing import EMPTY, Longs, coin, locate, mix, pick

__all__ = ["Commons", "mediate_common", "mediate_commons"]

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

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
