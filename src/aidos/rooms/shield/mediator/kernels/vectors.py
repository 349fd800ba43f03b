"""The original assignment for topic vectors: cosine by one sum per account, weighted Jaccard by kinds of vectors.

The cosines of an object with all objects of an account add up to one product with the sum of their (normalised)
vectors, so the work per object is its topics times the accounts, however many objects there are. Jaccard similarities
do not add up. For them every kind (distinct vector) keeps its summed similarity with each account; an object costs one
pass over accounts and one over kinds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.mediator.kernels.hashing import Longs, coin, pick

__all__ = ["Kinds", "Rows", "add_kinds", "jaccard", "mediate_cosine", "mediate_jaccard"]

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


class Rows(NamedTuple):
    """Sparse vectors: those of row i stand from starts[i] to starts[i + 1], by topic."""

    starts: Longs
    topics: Longs
    weights: Floats


class Kinds(NamedTuple):
    """Distinct vectors, and how similar each account is to them."""

    rows: Rows
    counts: Longs
    """Accounts by kinds: objects."""
    similar: Floats
    """Accounts by kinds: summed similarity of the account's objects with the kind."""
    sizes: Longs


@njit(cache=True)
def _best(sums: Floats, sizes: Longs) -> int:
    """The account with the best mean, the lowest of equals; -1 when none is above 0."""
    best, account = 0.0, -1
    for number in range(len(sizes)):
        if sums[number] > 0.0 and sums[number] / sizes[number] > best:
            best, account = sums[number] / sizes[number], number
    return account


@njit(cache=True, nogil=True)
def mediate_cosine(sums: Floats, sizes: Longs, rows: Rows, alphas: Floats, words: Words) -> Longs:
    """Assign vectors of length 1 one after the other; ``sums`` (topics by accounts) and ``sizes`` are kept up."""
    chosen = np.empty(len(alphas), np.int64)
    similar = np.empty(len(sizes))
    for number in range(len(alphas)):
        first, end = rows.starts[number], rows.starts[number + 1]
        account = -1
        if coin(words[number, 0]) >= alphas[number]:
            similar[:] = 0.0
            for place in range(first, end):
                similar += rows.weights[place] * sums[rows.topics[place]]
            account = _best(similar, sizes)
        if account < 0:
            account = pick(words[number, 1], len(sizes))
        for place in range(first, end):
            sums[rows.topics[place], account] += rows.weights[place]
        sizes[account] += 1
        chosen[number] = account
    return chosen


@njit(cache=True)
def jaccard(rows: Rows, one: int, other: int) -> float:
    """Sum of the smaller weights over the sum of the larger ones; 0 where both are empty."""
    left, left_end = rows.starts[one], rows.starts[one + 1]
    right, right_end = rows.starts[other], rows.starts[other + 1]
    total = rows.weights[left:left_end].sum() + rows.weights[right:right_end].sum()
    shared = 0.0
    while left < left_end and right < right_end:
        if rows.topics[left] == rows.topics[right]:
            shared += min(rows.weights[left], rows.weights[right])
            left += 1
            right += 1
        elif rows.topics[left] < rows.topics[right]:
            left += 1
        else:
            right += 1
    return shared / (total - shared) if shared > 0.0 else 0.0


@njit(cache=True)
def add_kinds(state: Kinds, known: int) -> None:
    """Fill in how similar the accounts are to the kinds from ``known`` on."""
    for fresh in range(known, len(state.rows.starts) - 1):
        for old in range(known):
            alike = jaccard(state.rows, fresh, old)
            if alike > 0.0:
                for account in range(len(state.sizes)):
                    state.similar[account, fresh] += alike * state.counts[account, old]


@njit(cache=True, nogil=True)
def mediate_jaccard(state: Kinds, kinds: Longs, alphas: Floats, words: Words) -> Longs:
    """Assign objects, given by kind, one after the other."""
    chosen = np.empty(len(kinds), np.int64)
    for number in range(len(kinds)):
        kind = kinds[number]
        account = -1
        if coin(words[number, 0]) >= alphas[number]:
            account = _best(state.similar[:, kind], state.sizes)
        if account < 0:
            account = pick(words[number, 1], len(state.sizes))
        for other in range(len(state.rows.starts) - 1):
            state.similar[account, other] += jaccard(state.rows, kind, other)
        state.counts[account, kind] += 1
        state.sizes[account] += 1
        chosen[number] = account
    return chosen
