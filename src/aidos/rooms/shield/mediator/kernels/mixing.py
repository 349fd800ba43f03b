"""Compiled loops of mixing queries: chances and tables, topic vectors, pairs that disagree, and who wrote a text.

The original assignment takes cosines by one sum per account, weighted Jaccard by kinds of vectors. The cosines of an
object with all objects of an account add up to one product with the sum of their (normalised) vectors, so the work per
object is its topics times the accounts, however many objects there are. Jaccard similarities do not add up. For them
every kind (distinct vector) keeps its summed similarity with each account; an object costs one pass over accounts and
one over kinds.

Numbers looked up in constant time, and random words turned into coins and picks. A hash table is two arrays of equal
length, a power of two and at most half full: keys (`EMPTY` where there is none) and values. Who adds keys sees to it
that there is room (`rehash`).

Pairs counted without listing them: similar pairs within groups, and pairs that two orders do not agree on.

Who wrote a group of texts: the person whose known texts make all its words likeliest, group by group. A score starts at
what words cannot tell (how much a person asks, and about what), pays the logarithm of the size of her known texts for
every word, and gains for every word that she is known to use. Words that she is not known to use gain nothing, so that
a group costs its words times their users, and one number of memory per person.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = [
    "EMPTY",
    "Gains",
    "Kinds",
    "Rows",
    "Suspects",
    "add_kinds",
    "coin",
    "compare_orders",
    "count_inversions",
    "jaccard",
    "locate",
    "mediate_cosine",
    "mediate_jaccard",
    "mix",
    "name_authors",
    "pick",
    "rehash",
    "summed_jaccard",
]

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


Ints = NDArray[np.int32]


@njit(cache=True)
def summed_jaccard(rows: Rows, starts: Longs, kinds: Longs, counts: Longs) -> Floats:
    """For each kind within each group, its summed similarity with all objects of the group, itself included.

    Group g holds ``counts`` objects of the ``kinds`` that stand from starts[g] to starts[g + 1].
    """
    sums = np.zeros(len(kinds))
    for group in range(len(starts) - 1):
        for one in range(starts[group], starts[group + 1]):
            for other in range(one, starts[group + 1]):
                alike = jaccard(rows, kinds[one], kinds[other])
                sums[one] += alike * counts[other]
                if other != one:
                    sums[other] += alike * counts[one]
    return sums


@njit(cache=True)
def count_inversions(values: Longs) -> int:
    """Pairs that stand in falling order, by merging ever longer runs: n log n."""
    here, there = values.copy(), np.empty_like(values)
    found, width = 0, 1
    while width < len(here):
        for start in range(0, len(here), 2 * width):
            middle, end = min(start + width, len(here)), min(start + 2 * width, len(here))
            left, right = start, middle
            for place in range(start, end):
                if right >= end or (left < middle and here[left] <= here[right]):
                    there[place] = here[left]
                    left += 1
                else:
                    there[place] = here[right]
                    found += middle - left
                    right += 1
        here, there = there, here
        width *= 2
    return found


@njit(cache=True, nogil=True)
def compare_orders(first: Ints, second: Ints, sizes: Longs, top: int) -> Floats:
    """Two orders of the same hits, a row each query: the share of reversed pairs, and the Jaccard loss of the top."""
    losses = np.zeros((len(sizes), 2))
    for query in range(len(sizes)):
        size = sizes[query]
        order = np.argsort(first[query, :size])
        ranks = np.empty(size, np.int64)
        sought = np.searchsorted(first[query, :size][order], second[query, :size])
        for place in range(size):
            ranks[place] = order[sought[place]]
        if size > 1:
            losses[query, 0] = count_inversions(ranks) / (size * (size - 1) / 2)
        if size > 0:
            shown = min(size, top)
            both = np.sum(ranks[:shown] < shown)
            losses[query, 1] = 1.0 - both / (2 * shown - both)
    return losses


class Gains(NamedTuple):
    """Sparse rows: what each person gains by a word, or by a topic."""

    starts: Longs
    people: Longs
    gains: Floats


class Suspects(NamedTuple):
    """What the adversary knows of everybody."""

    words: Gains
    topics: Gains
    base: Floats
    """By person: the logarithm of how much she asks."""
    costs: Floats
    """By person: what every word costs."""


@njit(cache=True)
def _add(scores: Floats, known: Gains, row: int) -> None:
    for place in range(known.starts[row], known.starts[row + 1]):
        scores[known.people[place]] += known.gains[place]


@njit(cache=True, nogil=True)
def name_authors(suspects: Suspects, starts: Longs, words: Longs, topics: Longs) -> tuple[Longs, Longs]:
    """The likeliest author of each group, whose words stand from starts[g] on; and each person's likeliest group."""
    people = len(suspects.base)
    authors, scores = np.empty(len(topics), np.int64), np.empty(people)
    groups, behind = np.full(people, -1, np.int64), np.full(people, -np.inf)
    for group in range(len(topics)):
        length = starts[group + 1] - starts[group]
        for person in range(people):
            scores[person] = suspects.base[person] - length * suspects.costs[person]
        _add(scores, suspects.topics, topics[group])
        for place in range(starts[group], starts[group + 1]):
            _add(scores, suspects.words, words[place])
        authors[group] = np.argmax(scores)
        best = scores[authors[group]]
        for person in range(people):
            if scores[person] - best > behind[person]:
                behind[person], groups[person] = scores[person] - best, group
    return authors, groups
