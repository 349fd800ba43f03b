"""Telling lists apart by a learned profile: which of two is the personalised one.

The law of a pair is p(pi|sigma) = (1 - phi) f + phi g, with g at the learned weights. Which of two lists is the
personalised one: the larger of p(l1|l2) and p(l2|l1). Two lists that are the same say nothing, and count as half right.

Pairs whose two lists were probably exchanged are found by likelihood, in the whole file and singly. For the whole file
a profile is learned both ways round, and the bounds on the evidence are compared: the model is not symmetric, for a
vanilla list does not order items by one person's interests. For a single pair the odds of the two ways are weighed
against how rare exchanged pairs are. One pair says little (the paper tells them apart in 62 to 74 of 100 cases), so
only clear ones are named, and clear ones may still be right as they are: a warning, never a repair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import log_mean_personalised, log_vanilla
from aidos.rooms.audit.inference import LearnedProfile

__all__ = [
    "Disambiguation",
    "SwapReport",
    "disambiguate",
    "find_swapped",
    "log_likelihoods",
]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
UNDECIDED = 1e-9
"""Logarithms of odds within this are equal: rounding."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disambiguation:
    """How clearly each pair says which of its lists is the personalised one."""

    log_odds: Floats
    """ln p(personalised | vanilla) - ln p(vanilla | personalised) for each pair; above 0 is right."""

    @property
    def accuracy(self) -> float:
        """The share of pairs told right, undecided ones counting half."""
        if not len(self.log_odds):
            raise InputError("there are no pairs to tell apart")
        right = self.log_odds > UNDECIDED
        undecided = np.abs(self.log_odds) <= UNDECIDED
        return float(np.mean(right + 0.5 * undecided))


def log_likelihoods(pairs: PairArrays, profile: LearnedProfile) -> Floats:
    """The logarithm of p(pi|sigma), for each query."""
    kept = log_vanilla(pairs, profile.concentration).values
    lifted = log_mean_personalised(pairs, pairs.maps.dot(profile.weights), profile.mix, 0.0).values
    found: Floats = np.logaddexp(np.log1p(-profile.rate) + kept, np.log(profile.rate) + lifted)
    return found


def disambiguate(pairs: PairArrays, profile: LearnedProfile) -> Disambiguation:
    """Compare each pair with its exchange; measure on pairs that the profile was not learned from."""
    return Disambiguation(log_odds=log_likelihoods(pairs, profile) - log_likelihoods(pairs.swapped(), profile))


CLEAR = float(np.log(19))
"""Odds of 19 to 1 after the rarity was weighed in."""
SURE = 3.0
"""Standard errors."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwapReport:
    """What speaks for exchanged lists."""

    gain: float
    """How much higher the bound is with all pairs exchanged; above 0 the file is probably the wrong way round."""
    log_odds: Floats
    """For each pair, ln of the odds that it was exchanged."""

    certainty: float
    """The same gain summed over queries, in standard errors: lists that differ by noise alone stay below 3."""

    @property
    def whole_file(self) -> bool:
        """Whether personalised and vanilla were probably mistaken for each other throughout."""
        return self.gain > CLEAR and self.certainty > SURE

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Numbers of pairs that were clearly exchanged."""
        return np.flatnonzero(self.log_odds > CLEAR)


def find_swapped(
    learn: Callable[[PairArrays], LearnedProfile],
    pairs: PairArrays,
    profile: LearnedProfile | None = None,
    *,
    rarity: float = 0.01,
) -> SwapReport:
    """Look both ways; ``rarity`` is the share of pairs that are exchanged where somebody is careful.

    Single pairs are judged by the profile of the likelier way round, which a few exchanged pairs hardly move.
    """
    if not 0 < rarity < 1:
        raise ParameterError(f"rarity must lie between 0 and 1, got {rarity}")
    forward = profile or learn(pairs)
    backward = learn(pairs.swapped())
    gains = log_likelihoods(pairs.swapped(), backward) - log_likelihoods(pairs, forward)
    scale = float(np.sqrt(gains @ gains))
    gain = backward.elbo[-1] - forward.elbo[-1]
    odds = -disambiguate(pairs, forward if gain <= 0 else backward).log_odds
    certainty = float(gains.sum()) / scale if scale > 0 else 0.0
    return SwapReport(gain=gain, certainty=certainty, log_odds=odds + np.log(rarity) - np.log1p(-rarity))
