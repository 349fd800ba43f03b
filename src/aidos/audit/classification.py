"""Telling lists apart by a learned profile: which of two is the personalised one, and which of several people's it is.

The law of a pair is p(pi|sigma) = (1 - phi) f + phi g, with g at the learned weights. Which of two lists is the
personalised one: the larger of p(l1|l2) and p(l2|l1). Whose they are: the user whose profile makes them likeliest.
Two lists that are the same say nothing, and count as half right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays
from aidos.audit.densities import log_mean_personalised, log_vanilla
from aidos.audit.inference import LearnedProfile
from aidos.errors import InputError

__all__ = ["Disambiguation", "classify_queries", "classify_user", "disambiguate", "log_likelihoods"]

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


def classify_queries(pairs: PairArrays, profiles: Sequence[LearnedProfile]) -> Longs:
    """For each query the profile under which it is likeliest; the first of equals."""
    if not profiles:
        raise InputError("there are no profiles to choose from")
    found: Longs = np.argmax([log_likelihoods(pairs, profile) for profile in profiles], axis=0)
    return found


def classify_user(pairs: PairArrays, profiles: Sequence[LearnedProfile]) -> int:
    """The profile under which all queries together are likeliest; the first of equals."""
    if not profiles:
        raise InputError("there are no profiles to choose from")
    return int(np.argmax([log_likelihoods(pairs, profile).sum() for profile in profiles]))
