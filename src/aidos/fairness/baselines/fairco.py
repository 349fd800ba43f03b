"""FairCo: a proportional controller on top of relevance (Morik, Singh, Hong and Joachims 2020).

Every subject is scored by relevance plus a gain times an error: how far attention per merit, accumulated, lags behind
that of the best-served. The paper compares groups; without groups every account is a group of one. Scales: relevance
is divided by the largest, so that it lies in [0, 1] as in the paper; merit is the accumulated relevance as the accounts
have it, so that attention per merit is 1 where all is fair. Merit is known here, it is not learned from clicks.

Only the subjects of the ranking at hand are compared. Who has no merit has no error. No quality floor is kept: the
controller lowers quality as far as its gain says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.fairness.rankings import Floats, Ints
from aidos.fairness.standing import Standing

__all__ = ["FairCo"]


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
