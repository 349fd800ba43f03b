"""LTP-INF: the profile by coordinate ascent, with the mix and the concentration given.

The posterior is taken as r(eta) = N(m, s^2 I) with s fixed, r(z_q = 1) = rho_q and r(phi) = Beta(t1, t2). Three updates
take turns, and none lowers the bound on the evidence (ELBO):

    rho_q = sigmoid(digamma(t1) - digamma(t2) + E[ln g_q] - ln f_q)
    t1 = a1 + sum rho,  t2 = a2 + sum (1 - rho)
    m = argmax -|m|^2 / (2 s0^2) + sum_q rho_q E[ln g_q]           concave; a few steps of L-BFGS from where m stands

The result is the best of one climb, not the best there is: with few queries another climb may end elsewhere. It is the
same for the same input. How sure a weight is, is the question of `aidos.rooms.audit.uncertainty`, not of s.

Uphill within limits: a limited-memory quasi-Newton climb (L-BFGS) that never ends lower than it began. Steps go along
the inverse curvature that the last few steps have shown, are cut at the limits and halved until they gain enough
(Armijo). A coordinate at its limit that would leave it stays there for the step. Everything is a product of short
vectors: library routines that split such work between threads lose ten times more than they win.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import Scored, log_mean_personalised, log_vanilla, pull_of_weights
from aidos.rooms.audit.numerics import betaln, digamma, expit, xlogy

__all__ = [
    "MOST_CONCENTRATED",
    "Ascent",
    "LearnedProfile",
    "LearningSettings",
    "climb",
    "infer_profile",
    "start_ascent",
]

Floats = NDArray[np.float64]

MOST_CONCENTRATED = 20.0
"""The largest lambda: with lists that never change it would grow without end."""
STEPS = 12
"""Steps of L-BFGS in one round: more would polish a target that the next round moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings:
    """What is fixed before learning."""

    mix: Annotated[float, Ge(0), Le(1)] = 0.9
    """Weight of interests against the vanilla order in personalised lists (gamma); a start where it is learned."""
    concentration: Annotated[float, Gt(0), Le(MOST_CONCENTRATED)] = 10.0
    """How closely a list that is not personalised follows the vanilla one (lambda); a start where it is learned."""
    spread: Annotated[float, Gt(0)] = 0.1
    """Standard deviation of the posterior of a weight (s)."""
    prior_deviation: Annotated[float, Gt(0)] = 2.0
    """Standard deviation of the prior of a weight (s0)."""
    personalised_before: Annotated[float, Gt(0)] = 1.0
    """Personalised queries that the prior of the rate counts (a1)."""
    vanilla_before: Annotated[float, Gt(0)] = 1.0
    """Queries that are not, in the same prior (a2)."""
    tolerance: Annotated[float, Gt(0)] = 1e-6
    """Learning ends where a round gains less than this for each query."""
    rounds: Annotated[int, Ge(1)] = 200
    """It ends after so many in any case."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def narrowed_for(self, pairs: PairArrays) -> LearningSettings:
        """With fewer queries than topics, the prior of the weights narrowed by the root of their ratio."""
        if not 0 < len(pairs) < pairs.topic_count:
            return self
        return replace(self, prior_deviation=self.prior_deviation * sqrt(len(pairs) / pairs.topic_count))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LearnedProfile:
    """What was learned of the engine's profile of somebody."""

    weights: Floats
    """m: above 0 the engine lifts the topic for this account, below 0 it sinks it."""
    switches: Floats
    """rho: how likely each query was personalised."""
    personalised: float
    """t1."""
    vanilla: float
    """t2."""
    mix: float
    concentration: float
    elbo: tuple[float, ...] = field(repr=False)
    """The bound after each round; it never falls."""
    converged: bool

    @property
    def rate(self) -> float:
        """The share of queries that the engine personalises, phi."""
        return self.personalised / (self.personalised + self.vanilla)


@dataclass(slots=True, kw_only=True, eq=False)
class Ascent:
    """One climb: the pairs, how often each counts, and where it stands."""

    pairs: PairArrays
    settings: LearningSettings
    counts: Floats
    """How often each query counts: 1, or what a bootstrap has drawn."""
    weights: Floats
    mix: float
    concentration: float
    odds: float = 0.0
    """E[ln phi] - E[ln(1 - phi)]."""
    lifted: Scored = field(init=False)
    kept: Scored = field(init=False)
    switches: Floats = field(init=False)
    personalised: float = field(init=False)
    vanilla: float = field(init=False)

    def __post_init__(self) -> None:
        self.score_vanilla()
        self.score_personalised()
        self.update_switches()

    def score_vanilla(self) -> None:
        """Put ln f where the climb stands."""
        self.kept = log_vanilla(self.pairs, self.concentration)

    def score_personalised(self) -> None:
        """Put E[ln g] where the climb stands."""
        interests = self.pairs.maps.dot(self.weights)
        self.lifted = log_mean_personalised(self.pairs, interests, self.mix, self.settings.spread)

    def update_switches(self) -> None:
        """Renew rho, then t1 and t2."""
        self.switches = expit(self.odds + self.lifted.values - self.kept.values)
        self.personalised = self.settings.personalised_before + float(self.counts @ self.switches)
        self.vanilla = self.settings.vanilla_before + float(self.counts @ (1 - self.switches))
        self.odds = float(digamma(self.personalised) - digamma(self.vanilla))

    def target(self, weights: Floats, mix: float) -> tuple[float, Floats, float]:
        """What m and gamma are to maximise, with its derivatives."""
        rho = self.counts * self.switches
        scored = log_mean_personalised(self.pairs, self.pairs.maps.dot(weights), mix, self.settings.spread)
        variance = self.settings.prior_deviation**2
        value = float(rho @ scored.values) - float(weights @ weights) / (2 * variance)
        gradient = pull_of_weights(self.pairs, scored.pushes, mix, rho) - weights / variance
        return value, gradient, float(rho @ scored.slopes)

    def update_weights(self, *, with_mix: bool = False) -> None:
        """Climb in m, or in m and gamma together."""
        free, unlimited = (0.0, 1.0) if with_mix else (self.mix, self.mix), np.full(len(self.weights), np.inf)

        def target(point: Floats) -> tuple[float, Floats]:
            value, gradient, slope = self.target(point[:-1], float(point[-1]))
            return value, np.append(gradient, slope)

        limits = np.append(-unlimited, free[0]), np.append(unlimited, free[1])
        found = climb(target, np.append(self.weights, self.mix), limits, STEPS)
        self.weights, self.mix = found[:-1].copy(), float(found[-1])
        self.score_personalised()

    def elbo(self) -> float:
        """The bound on the evidence."""
        rho, settings = self.switches, self.settings
        both = float(digamma(self.personalised + self.vanilla))
        on, off = float(digamma(self.personalised)) - both, float(digamma(self.vanilla)) - both
        each = rho * (self.lifted.values + on) + (1 - rho) * (self.kept.values + off) - xlogy(rho, rho)
        total = float(self.counts @ (each - xlogy(1 - rho, 1 - rho)))
        narrowing = (settings.spread / settings.prior_deviation) ** 2
        length = float(self.weights @ self.weights) / settings.prior_deviation**2
        total += float(len(self.weights) * (1 + np.log(narrowing) - narrowing) - length) / 2
        first, second = settings.personalised_before, settings.vanilla_before
        total += (first - self.personalised) * on + (second - self.vanilla) * off
        return total + float(betaln(self.personalised, self.vanilla) - betaln(first, second))

    def result(self, elbo: list[float], *, converged: bool) -> LearnedProfile:
        """Where the climb stands, as a value."""
        return LearnedProfile(
            weights=self.weights,
            switches=self.switches,
            personalised=self.personalised,
            vanilla=self.vanilla,
            mix=self.mix,
            concentration=self.concentration,
            elbo=tuple(elbo),
            converged=converged,
        )


def start_ascent(
    pairs: PairArrays, settings: LearningSettings, counts: Floats | None, start: LearnedProfile | None
) -> Ascent:
    """Begin from nothing known, or from a profile that was learned before."""
    if not len(pairs):
        raise InputError("there are no pairs to learn from")
    counted = np.ones(len(pairs)) if counts is None else np.asarray(counts, dtype=np.float64)
    if counted.shape != (len(pairs),) or not (counted >= 0).all():
        raise InputError(f"{len(pairs)} pairs need as many counts, none below 0")
    return Ascent(
        pairs=pairs,
        settings=settings,
        counts=counted,
        weights=np.zeros(pairs.topic_count) if start is None else start.weights.copy(),
        mix=settings.mix if start is None else start.mix,
        concentration=settings.concentration if start is None else start.concentration,
        odds=0.0 if start is None else float(digamma(start.personalised) - digamma(start.vanilla)),
    )


def infer_profile(
    pairs: PairArrays,
    settings: LearningSettings | None = None,
    *,
    counts: Floats | None = None,
    start: LearnedProfile | None = None,
) -> LearnedProfile:
    """LTP-INF; ``counts`` says how often each query counts, ``start`` begins where another profile ended."""
    chosen = settings or LearningSettings()
    if start is not None:
        start = replace(start, mix=chosen.mix, concentration=chosen.concentration)
    ascent = start_ascent(pairs, chosen, counts, start)
    elbo = [ascent.elbo()]
    for _ in range(chosen.rounds):
        ascent.update_weights()
        ascent.update_switches()
        elbo.append(ascent.elbo())
        if elbo[-1] - elbo[-2] < chosen.tolerance * len(pairs):
            return ascent.result(elbo, converged=True)
    return ascent.result(elbo, converged=False)


Target = Callable[[Floats], tuple[float, Floats]]

MEMORY = 10
"""Steps that are remembered."""
HALVINGS = 25
ENOUGH = 1e-4
"""Of the gain that the slope promises, the share that a step must bring."""
FLAT = 1e-10
"""Gains below this share of the value end the climb."""


def climb(target: Target, start: Floats, limits: tuple[Floats, Floats], steps: int) -> Floats:
    """A point at least as high as the start; ``target`` gives value and gradient, ``limits`` the least and most."""
    low, high = limits
    point = np.clip(start, low, high)
    value, gradient = target(point)
    history: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        free = ~(((point <= low) & (gradient < 0)) | ((point >= high) & (gradient > 0)))
        slope = np.where(free, gradient, 0.0)
        if not slope.any():
            break
        direction = np.where(free, _newton(slope, history), 0.0)
        if not float(direction @ slope) > 0:
            history.clear()
            direction = slope
        size = 1.0 if history else 1 / max(1.0, float(np.abs(slope).sum()))
        for _ in range(HALVINGS):
            trial = np.clip(point + size * direction, low, high)
            reached, turned = target(trial)
            if reached >= value + ENOUGH * float(gradient @ (trial - point)) and reached > value:
                break
            size /= 2
        else:
            break
        step, bend = trial - point, gradient - turned
        if float(step @ bend) > 1e-12 * float(bend @ bend):
            history.append((step, bend))
        gain, point, value, gradient = reached - value, trial, reached, turned
        if gain <= FLAT * max(abs(value), 1.0):
            break
    return point


def _newton(slope: Floats, history: deque[tuple[Floats, Floats]]) -> Floats:
    """The slope times the inverse curvature that the remembered steps imply (the two-loop recursion)."""
    if not history:
        return slope
    direction = slope.copy()
    shares = []
    for step, bend in reversed(history):
        share = float(step @ direction) / float(step @ bend)
        direction -= share * bend
        shares.append(share)
    step, bend = history[-1]
    direction *= float(step @ bend) / float(bend @ bend)
    for (step, bend), share in zip(history, reversed(shares), strict=True):
        direction += (share - float(bend @ direction) / float(step @ bend)) * step
    return direction
