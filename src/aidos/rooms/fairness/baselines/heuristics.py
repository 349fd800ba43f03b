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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.rooms.fairness.rankings import Floats, Ints, Standing

__all__ = ["ByDeficit", "ByRelevance", "FairCo", "TieShuffle"]


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
