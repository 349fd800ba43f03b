"""Who wrote a group of texts: the person whose known texts make all its words likeliest, group by group.

A score starts at what words cannot tell (how much a person asks, and about what), pays the logarithm of the size of her
known texts for every word, and gains for every word that she is known to use. Words that she is not known to use gain
nothing, so that a group costs its words times their users, and one number of memory per person.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.mediator.kernels.hashing import Longs

__all__ = ["Gains", "Suspects", "name_authors"]

Floats = NDArray[np.float64]


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
