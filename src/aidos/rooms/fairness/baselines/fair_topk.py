"""FA*IR: enough of a protected group at the top of every single ranking (Zehlike et al. 2017).

A ranking passes when in none of its prefixes the number of protected subjects is improbably small for somebody who
fills positions by tosses of a coin that favours the protected with the least share asked for. Looking at every prefix
is many tests at once: the significance of each is lowered until a fair coin fails the whole test no more often than
the significance asked for. The chance of failing is computed exactly and changes only where a single test changes, so
that the best adjustment is found among finitely many.

It is fair to one group in each ranking, by counts. It knows no accounts, no relevance owed over time and no quality
floor. Where protected subjects run out, the others follow, and the test is not passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.fairness.rankings import Floats, Ints, Standing

__all__ = ["FairTopK", "adjusted_significance", "chance_of_failing", "least_protected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairTopK:
    """The most relevant, with protected subjects drawn forward where a prefix has too few."""

    least_share: Annotated[float, Gt(0), Lt(1)] = 0.5
    """Share of the protected group that is asked for (p)."""
    significance: Annotated[float, Gt(0), Lt(1)] = 0.1
    """Chance that a fair order is called unfair, over all prefixes together (alpha)."""
    protected_group: Annotated[int, Ge(0)] = 0
    """Number of the group, as in the standing's groups."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """Greedy: the next of all, or the next protected subject where the prefix needs one."""
        if standing.groups is None:
            raise ParameterError("FA*IR needs groups", hint="give each subject's group with the rankings")
        positions = len(standing.attention)
        adjusted = adjusted_significance(positions, self.least_share, self.significance)
        needed = least_protected(positions, self.least_share, adjusted)
        protected = np.flatnonzero(standing.groups == self.protected_group).tolist()[:positions]
        others = np.flatnonzero(standing.groups != self.protected_group).tolist()[:positions]
        placed: list[int] = []
        taken = 0
        for least in needed.tolist():
            must = taken < least and taken < len(protected)
            next_other = others[len(placed) - taken] if len(placed) - taken < len(others) else len(standing.relevance)
            if must or (taken < len(protected) and protected[taken] < next_other):
                placed.append(protected[taken])
                taken += 1
            else:
                placed.append(next_other)
        return np.array(placed, dtype=np.int64)


def least_protected(positions: int, least_share: float, significance: float) -> Ints:
    """Least number of protected subjects in every prefix: the smallest that the binomial test does not reject."""
    below = [np.count_nonzero(_at_most(prefix, least_share) <= significance) for prefix in range(1, positions + 1)]
    return np.array(below, dtype=np.int64)


def chance_of_failing(needed: Ints, least_share: float) -> float:
    """Probability that coin tosses have too few heads in at least one prefix."""
    passing = np.array([1.0])
    for least in needed.tolist():
        more = np.zeros(len(passing) + 1)
        more[:-1] = passing * (1 - least_share)
        more[1:] += passing * least_share
        more[:least] = 0.0
        passing = more
    return float(1.0 - passing.sum())


@lru_cache(maxsize=64)  # the same for every ranking of a run
def adjusted_significance(positions: int, least_share: float, significance: float) -> float:
    """The largest significance of single prefixes at which the whole test keeps the one asked for; 0 when none does."""
    steps = np.unique(np.concatenate([_at_most(prefix, least_share) for prefix in range(1, positions + 1)]))
    steps = steps[steps <= significance]
    low, high = 0, len(steps)  # the first `low` steps are known to keep it, `high + 1` not to
    while low < high:
        middle = (low + high + 1) // 2
        needed = least_protected(positions, least_share, float(steps[middle - 1]))
        if chance_of_failing(needed, least_share) <= significance + 1e-12:
            low = middle
        else:
            high = middle - 1
    return float(steps[low - 1]) if low else 0.0


def _at_most(tosses: int, chance: float) -> Floats:
    """Binomial distribution function at 0, 1, ..., tosses."""
    counts = np.arange(tosses + 1)
    ways = np.array([float(comb(tosses, count)) for count in counts.tolist()])
    terms: Floats = np.cumsum(ways * chance**counts * (1 - chance) ** (tosses - counts))
    return terms
