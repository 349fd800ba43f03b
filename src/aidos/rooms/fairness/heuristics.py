"""Orders without a program to solve: by relevance, by what is owed, by chance among equals, and FairCo.

`ByRelevance`, always by relevance: what a search system does that does not care. Unfairness grows with every ranking.

`ByDeficit`, by what is owed, whatever the quality: the "objective" heuristic of the thesis. Who has received least,
measured against what she has earned, comes first. No quality floor is kept. It is fair over time in most settings and
shows what a floor costs; it is not the fairest sequence either.

`TieShuffle`, chance among equals: subjects of exactly the same relevance in random order, everybody else by relevance.
The least that a search system can do, and it costs no quality. Where no two relevances are equal it changes nothing.

`FairCo`, a proportional controller on top of relevance (Morik, Singh, Hong and Joachims 2020). Every subject is scored
by relevance plus a gain times an error: how far attention per merit, accumulated, lags behind that of the best-served.
The paper compares groups; without groups every account is a group of one. Scales: relevance is divided by the largest,
so that it lies in [0, 1] as in the paper; merit is the accumulated relevance as the accounts have it, so that attention
per merit is 1 where all is fair. Merit is known here, it is not learned from clicks.

Only the subjects of the ranking at hand are compared. Who has no merit has no error. No quality floor is kept: the
controller lowers quality as far as its gain says.

FA*IR: enough of a protected group at the top of every single ranking (Zehlike et al. 2017). A ranking passes when in
none of its prefixes the number of protected subjects is improbably small for somebody who fills positions by tosses of
a coin that favours the protected with the least share asked for. Looking at every prefix is many tests at once: the
significance of each is lowered until a fair coin fails the whole test no more often than the significance asked for.
The chance of failing is computed exactly and changes only where a single test changes, so that the best adjustment is
found among finitely many.

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

__all__ = [
    "ByDeficit",
    "ByRelevance",
    "FairCo",
    "FairTopK",
    "TieShuffle",
    "adjusted_significance",
    "chance_of_failing",
    "least_protected",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRelevance:
    """Never reorders."""

    def place(self, standing: Standing) -> Ints:
        """The most relevant, in their order."""
        return np.arange(len(standing.attention), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDeficit:
    """Smallest balance A - (R + r) first, equals by relevance."""

    def place(self, standing: Standing) -> Ints:
        """Those who are owed most."""
        order: Ints = np.argsort(standing.balance, kind="stable")
        return order[: len(standing.attention)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TieShuffle:
    """A new order of equals for every ranking, the same when it is asked again."""

    seed: Annotated[int, Ge(0)] = 0
    """Start of the random numbers; with the number of the ranking it fixes the order."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """The most relevant, equals shuffled."""
        chance = np.random.default_rng([self.seed, standing.rankings]).random(len(standing.relevance))
        order: Ints = np.lexsort((chance, -standing.relevance))
        return order[: len(standing.attention)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FairCo:
    """Relevance plus gain times error, largest first."""

    gain: Annotated[float, Ge(0)] = 0.01
    """Weight of the error against relevance (lambda); 0 never reorders."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def place(self, standing: Standing) -> Ints:
        """The best scores, equals by relevance."""
        score = standing.relevance / standing.relevance[0] + self.gain * _error(standing)
        order: Ints = np.argsort(-score, kind="stable")
        return order[: len(standing.attention)]


def _error(standing: Standing) -> Floats:
    """Rankings so far times the largest lag in attention per merit."""
    received, earned = standing.received, standing.earned
    if standing.groups is not None:
        received, earned = _by_group(received, standing), _by_group(earned, standing)
    with_merit = earned > 0
    per_merit = np.divide(received, earned, out=np.zeros_like(received), where=with_merit)
    most = per_merit[with_merit].max(initial=0.0)
    lag: Floats = np.where(with_merit, standing.rankings * (most - per_merit), 0.0)
    return lag


def _by_group(amounts: Floats, standing: Standing) -> Floats:
    """Each subject's group total; an account that several subjects share is split among them."""
    if standing.accounts is not None:
        _, owner, sharers = np.unique(standing.accounts, return_inverse=True, return_counts=True)
        amounts = amounts / sharers[owner]
    _, group = np.unique(np.asarray(standing.groups), return_inverse=True)
    totals = np.zeros(group.max() + 1)
    np.add.at(totals, group, amounts)
    return totals[group]


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
