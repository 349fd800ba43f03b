"""LTP-EM: the profile together with the mix and the concentration.

To the updates of `aidos.rooms.audit.inference` come two of the laws themselves: lambda in (0, 20] maximises the sum of
(1 - rho) ln f, which is concave, and gamma in [0, 1] maximises that of rho E[ln g]. The latter is concave too, but it
trades against the length of m (a long m with a small gamma ranks much like a short one with a large gamma), so that
taking turns would creep: both are climbed together, from where they stand, and the bound still never falls.

A list that changed a little may be noise or a personalised one, and the climb keeps what it was told at the start. It
therefore starts from several concentrations and after a few rounds goes on from the one with the highest bound.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import log_vanilla
from aidos.rooms.audit.inference import MOST_CONCENTRATED, Ascent, LearnedProfile, LearningSettings, start_ascent
from aidos.rooms.audit.numerics import brentq

__all__ = ["fit_concentration", "learn_profile", "update_concentration"]

Floats = NDArray[np.float64]

LEAST_CONCENTRATED = 1e-3
STARTS = (10.0, 1.0)
"""Concentrations to begin with."""
FIRST_ROUNDS = 6
"""After so many, the climbs that will end lower can be told."""


def fit_concentration(pairs: PairArrays, query_weights: Floats) -> float:
    """The lambda that maximises the weighted sum of ln f; the largest allowed where lists never change."""

    def slope(concentration: float) -> float:
        return float(query_weights @ log_vanilla(pairs, concentration).slopes)

    if slope(MOST_CONCENTRATED) >= 0:
        return MOST_CONCENTRATED
    if slope(LEAST_CONCENTRATED) <= 0:
        return LEAST_CONCENTRATED
    return float(brentq(slope, LEAST_CONCENTRATED, MOST_CONCENTRATED, xtol=1e-10))


def learn_profile(
    pairs: PairArrays,
    settings: LearningSettings | None = None,
    *,
    counts: Floats | None = None,
    start: LearnedProfile | None = None,
) -> LearnedProfile:
    """LTP-EM; with ``start`` it climbs once, from there."""
    chosen = settings or LearningSettings()
    if start is not None:
        return _Climb(start_ascent(pairs, chosen, counts, start)).go_on(chosen.rounds)
    begun = [
        _Climb(start_ascent(pairs, replace(chosen, concentration=at), counts, None))
        for at in dict.fromkeys((chosen.concentration, *STARTS))
    ]
    for climb in begun:
        climb.go_on(min(FIRST_ROUNDS, chosen.rounds))
    best = max(begun, key=lambda climb: climb.elbo[-1])
    return best.go_on(chosen.rounds - min(FIRST_ROUNDS, chosen.rounds))


class _Climb:
    """A climb that can be left and taken up again."""

    def __init__(self, ascent: Ascent) -> None:
        self.ascent = ascent
        self.elbo = [ascent.elbo()]
        self.converged = False

    def go_on(self, rounds: int) -> LearnedProfile:
        """At most so many rounds more."""
        for _ in range(0 if self.converged else rounds):
            update_concentration(self.ascent)
            self.ascent.update_weights(with_mix=True)
            self.ascent.update_switches()
            self.elbo.append(self.ascent.elbo())
            least = self.ascent.settings.tolerance * len(self.ascent.pairs)
            self.converged = self.elbo[-1] - self.elbo[-2] < least
            if self.converged:
                break
        return self.ascent.result(self.elbo, converged=self.converged)


def update_concentration(ascent: Ascent) -> None:
    """Renew lambda where the climb stands, unless that would lower the bound."""
    weights = ascent.counts * (1 - ascent.switches)
    before = float(weights @ ascent.kept.values)
    old = ascent.concentration
    ascent.concentration = fit_concentration(ascent.pairs, weights)
    ascent.score_vanilla()
    # At a flat top the root may be a digit off; what was there before is then as good.
    if float(weights @ ascent.kept.values) < before:
        ascent.concentration = old
        ascent.score_vanilla()
