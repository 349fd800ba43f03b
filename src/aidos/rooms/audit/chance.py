"""How signs fall by chance: the one thing that all tests of the audit compare with.

Something is measured for each query that turns its sign when two lists are exchanged: how far topics rose from the one
to the other. Where the two could be exchanged, some signs are as likely as the others. Which ones depends on how the
lists were asked:

- *An order that is not written down but left to chance*, by equal halves: every sign of every query is as likely.
- *An order that is written down.* What came later minus what came earlier is measured, so that time and order are in
  the numbers. The lists of the account were later in some queries and earlier in others; without a profile any other
  queries could have been these. So the ranks are dealt out anew among the queries, as often each as they were. The test
  stays exact where the service drifts, and where one order came more often than the other, since the mean of the
  later ones is taken off. It takes for granted that who came first was left to chance. Where a third list was asked
  before the two, between or after them, more time lies between them in some queries than in others: only among
  queries that have it at the same turn are ranks dealt out anew.

Topics are tested for the largest of all at once, and by whether one half of the queries moves the way that the other
half says: a profile of several weak topics may hide from tests of single topics, each of which pays for the others. One
half gives each topic a weight, its mean over the root of its mean square; in the other half each query is one number.
Without a profile these numbers have no direction, whatever the weights, since they come from other queries. Each half
judges the other, and the smaller p-value is doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.numerics import ndtr

__all__ = [
    "FEWEST",
    "FLIPS",
    "MANY",
    "TINY",
    "Signs",
    "Tested",
    "halves_p_value",
    "sign_flip_p_values",
    "signs_p_value",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
TINY = 1e-12
"""Statistics that differ by rounding alone count as equal."""
AT_ONCE = 20_000_000
"""Signs that are held at a time."""
MANY = 20_000
"""Queries from which on sums of random signs are taken as normal for single topics."""
SMALL_PART = 0.1
"""Of such a sum's deviation, what the largest part may have."""
FLIPS = 1999
FEWEST = 8
"""Queries below which halves say nothing."""


class Tested(NamedTuple):
    """What one test says."""

    overall: float
    """The p-value of the largest topic."""
    each: Floats
    """The p-value of each topic."""
    scores: Floats
    """How many standard deviations each topic shifted; below 0 it sank."""
    threshold: float
    """What the largest score would have to reach."""


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """The signs of some queries: 1 where the first of two lists was asked later, -1 where earlier; None if unknown."""

    later: Floats | None = None
    groups: NDArray[np.int64] | None = None
    """Queries among which signs can be dealt out anew, by number; None for all of them."""

    def of(self, chosen: Flags | NDArray[np.int64]) -> Signs:
        """Those of some of the queries, by a mask or by number."""
        if self.later is None:
            return self
        return Signs(self.later[chosen], None if self.groups is None else self.groups[chosen])

    def freed(self, differences: Floats) -> Floats:
        """The differences as they are tested: with the order known, later minus earlier, less the mean of that."""
        if self.later is None:
            return differences
        found: Floats = (differences.T * self.later).T
        for each in self._parts(len(found)):
            found[each] -= found[each].mean(axis=0)
        return found

    @property
    def rarer(self) -> int:
        """How many queries have the rarer of the two orders, group by group."""
        later = self.seen(0)
        return sum(min(int((later[each] > 0).sum()), int((later[each] < 0).sum())) for each in self._parts(len(later)))

    def spread(self, number: int) -> Floats:
        """The deviation of each sign."""
        found = np.ones(number)
        if self.later is not None:
            for each in self._parts(number):
                found[each] = self.later[each].std()
        return found

    def seen(self, number: int) -> Floats:
        """The signs as they are."""
        return np.ones(number) if self.later is None else self.later

    def draw(self, size: int, number: int, generator: np.random.Generator) -> Floats:
        """Rows of signs as they might have been."""
        if self.later is None:
            return np.asarray(generator.integers(0, 2, (size, number)) * 2.0 - 1, dtype=np.float64)
        drawn: Floats = np.tile(self.later, (size, 1))
        for each in self._parts(number):
            drawn[:, each] = generator.permuted(drawn[:, each], axis=1)
        return drawn

    def _parts(self, number: int) -> list[NDArray[np.int64]]:
        groups = np.zeros(number, dtype=np.int64) if self.groups is None else self.groups
        return [np.flatnonzero(groups == each) for each in np.unique(groups)]


FREE = Signs()


def sign_flip_p_values(
    shifts: Floats, flips: int, generator: np.random.Generator, level: float = 0.05, signs: Signs = FREE
) -> Tested:
    """For the largest topic and for each: how often signs by chance give as large a sum.

    Sums are divided by the root of their sum of squares, which no sign changes.
    """
    moved = np.abs(shifts).max(axis=1, initial=0) > TINY
    signs = signs.of(moved)
    used = signs.freed(shifts[moved])
    lengths = np.sqrt(signs.spread(len(used)) ** 2 @ used**2)
    scaled = np.divide(used, lengths, out=np.zeros_like(used), where=lengths > TINY)
    scores: Floats = signs.seen(len(used)) @ scaled
    seen = np.abs(scores)
    largest = float(seen.max(initial=0))
    exceeded, by_chance, done = np.zeros(len(seen)), np.empty(flips), 0
    while done < flips:
        size = min(500, flips - done, max(1, AT_ONCE // max(len(used), 1)))
        drawn = np.abs(signs.draw(size, len(used), generator) @ scaled) + TINY
        exceeded += (drawn >= seen).sum(axis=0)
        by_chance[done : done + size] = drawn.max(axis=1, initial=TINY)
        done += size
    each = (1 + exceeded) / (1 + flips)
    if len(shifts) >= MANY:
        each = np.where(np.abs(scaled).max(axis=0, initial=0) <= SMALL_PART, 2 * ndtr(-seen), each)
        each = np.where(seen > TINY, each, 1.0)
    overall = (1 + int((by_chance >= largest).sum())) / (1 + flips)
    return Tested(overall, each, scores, float(np.quantile(by_chance, 1 - level)))


def signs_p_value(moves: Floats, generator: np.random.Generator, signs: Signs = FREE) -> float:
    """How often signs by chance give as large a sum of one number a query; one-sided."""
    freed = signs.freed(moves)
    seen = float(signs.seen(len(moves)) @ freed)
    reached = int((signs.draw(FLIPS, len(moves), generator) @ freed >= seen - TINY).sum())
    return (1 + reached) / (1 + FLIPS)


def halves_p_value(
    shifts: Floats,
    generator: np.random.Generator,
    signs: Signs = FREE,
    doubt: Callable[[Flags, Floats], float] | None = None,
) -> float:
    """How likely halves agree so well without a profile, at most; 1 where there are too few queries.

    ``doubt`` gives another p-value for a half, by the weights of the other; the larger counts.
    """
    if len(shifts) < FEWEST:
        return 1.0
    first = generator.permutation(len(shifts)) % 2 == 0
    found = []
    for tried in (first, ~first):
        weights = _direction(shifts[~tried])
        p_value = signs_p_value(shifts[tried] @ weights, generator, signs.of(tried))
        found.append(p_value if doubt is None else max(p_value, doubt(tried, weights)))
    return min(1.0, 2 * min(found))


def _direction(shifts: Floats) -> Floats:
    """A weight for each topic; 0 where it never moved."""
    lengths = np.sqrt((shifts**2).mean(axis=0))
    found: Floats = np.divide(shifts.mean(axis=0), lengths, out=np.zeros_like(lengths), where=lengths > TINY)
    return found
