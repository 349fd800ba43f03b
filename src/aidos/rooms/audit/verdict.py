"""Does the engine personalise at all, and which topics are more than chance? Tests with a kept rate of false alarms.

Two things are tested, and the smaller p-value counts twice: rank shift by topic (how far items of a topic rose, summed
over queries), for the largest of all topics at once, which sees one strong topic; and whether one half of the queries
moves the way that the other half says, which sees several weak ones. Which lists would look the same without a profile
depends on where the noise comes from:

- *With a second vanilla fetch* for each query: without a profile the personalised and the second vanilla list could
  be exchanged. Doing so flips the sign of the difference of their shifts (`aidos.rooms.audit.chance`). The test is
  exact, whatever the noise; where the order of asking is known and was left to chance, also where the service drifts.
  The same holds without a second vanilla list, if the order of asking is known.
- *With neither* there are two suspects. Either both lists are noisy views of one ranking; then they could be exchanged
  with each other, which flips the sign of the shift. Or the personalised list is the vanilla one with noise of the
  law f; then items at the top can only fall, and topics that often stand at the top seem to be sunk. The second is
  simulated at the lambda that fits. The larger of the two p-values counts, so that the rate of false alarms is kept
  under either (under f nearly, for lambda is estimated).

Topics are reported only where the verdict is that the engine personalises, and then at a false discovery rate of the
same level (Benjamini and Hochberg). "Not detected" does not mean "not there": see `aidos.rooms.audit.power`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.chance import FREE, MANY, TINY, Signs, Tested, halves_p_value, sign_flip_p_values
from aidos.rooms.audit.densities import draw_places
from aidos.rooms.audit.learning import fit_concentration
from aidos.rooms.audit.numerics import ndtr
from aidos.rooms.audit.shifts import shifts_by_query

__all__ = [
    "Verdict",
    "direction_p_value",
    "discoveries",
    "judge",
    "simulated_p_values",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FINEST = 8
"""Simulations for one unit of the level: two tests, one of two halves, still reach half of it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """What the tests say."""

    level: float
    p_value: float
    """How likely shifts like these are without a profile, at most."""
    topic_p_values: Floats
    topic_scores: Floats
    """How many standard deviations each topic shifted, by the test that says less; 0 where two tests disagree."""
    threshold: float
    """What the largest of these would have to reach alone, by the test that asks for more."""
    topics: Flags
    """Topics that the engine lifts or sinks, at a false discovery rate of the level."""
    controlled: bool
    """Whether a second vanilla fetch or a known order of asking was there, so that the test is exact."""

    @property
    def personalised(self) -> bool:
        """Whether personalisation was detected."""
        return self.p_value <= self.level

    def __str__(self) -> str:
        if self.personalised:
            return f"personalisation detected at level {self.level:g} (p = {self.p_value:.3g})"
        return f"no personalisation detected at level {self.level:g} (p = {self.p_value:.3g})"


def discoveries(p_values: Floats, level: float) -> Flags:
    """Which hypotheses fall at this false discovery rate, by Benjamini and Hochberg."""
    order = np.argsort(p_values, kind="stable")
    below = p_values[order] <= level * np.arange(1, len(order) + 1) / max(len(order), 1)
    found = np.zeros(len(p_values), dtype=np.bool_)
    if below.any():
        found[order[: int(np.flatnonzero(below)[-1]) + 1]] = True
    return found


def judge(  # noqa: PLR0913 - what is compared, and by which rules
    pairs: PairArrays,
    control: PairArrays | None = None,
    *,
    level: float = 0.05,
    simulations: int = 199,
    seed: int = 0,
    signs: Signs = FREE,
) -> Verdict:
    """The verdict; ``control`` pairs the same queries' vanilla lists with a second vanilla fetch.

    ``signs`` say in which queries the list of the account was asked later than the one it is compared with.

    There are 40 sign flips a topic, at least 1999: enough for the smallest threshold of one topic. From 20,000 queries
    on there are 1999, the p-value of a topic that is in many lists is the normal tail, which needs no flips, and
    topics are tested alone: of so many queries each shows by itself.
    """
    if not 0 < level < 1:
        raise ParameterError(f"the level must lie between 0 and 1, got {level}")
    if control is not None and (len(control) != len(pairs) or control.topic_count != pairs.topic_count):
        raise InputError("the second vanilla fetch must cover the same queries and topics as the pairs")
    generator = np.random.default_rng(seed)
    simulations = max(simulations, ceil(FINEST / level))
    shifts = shifts_by_query(pairs)
    flips = 1999 if len(pairs) >= MANY else max(1999, 40 * pairs.topic_count)
    if control is not None:
        tested = sign_flip_p_values(shifts - shifts_by_query(control), flips, generator, level, signs)
    elif signs.later is not None:
        tested = sign_flip_p_values(shifts, flips, generator, level, signs)
    else:
        flipped = sign_flip_p_values(shifts, flips, generator, level)
        tested = _weaker(flipped, simulated_p_values(pairs, simulations, generator, level))
    p_value = tested.overall
    if len(pairs) < MANY:
        whole = direction_p_value(pairs, control, generator, simulations=simulations, signs=signs)
        p_value = min(1.0, 2 * min(p_value, whole))
    detected = p_value <= level
    return Verdict(
        level=level,
        p_value=p_value,
        topic_p_values=tested.each,
        topic_scores=tested.scores,
        threshold=tested.threshold,
        topics=discoveries(tested.each, level) if detected else np.zeros(len(tested.each), dtype=np.bool_),
        controlled=control is not None or signs.later is not None,
    )


def simulated_p_values(
    pairs: PairArrays, simulations: int, generator: np.random.Generator, level: float = 0.05
) -> Tested:
    """The same against lists drawn from f; for single topics by the normal tail, for the largest by its rank."""
    if simulations < 19:
        raise ParameterError(f"fewer than 19 simulations cannot reach a level of 5 %, got {simulations}")
    concentration = fit_concentration(pairs, np.ones(len(pairs)))
    totals = np.empty((simulations + 1, pairs.topic_count))
    totals[0] = _total_shifts(pairs, (pairs.ranks - pairs.positions).astype(np.float64))
    utilities: Floats = -concentration * pairs.ranks.astype(np.float64)
    for row in range(1, simulations + 1):
        places = draw_places(pairs, utilities, generator)
        moves = np.empty(len(places))
        moves[places] = pairs.ranks[places] - pairs.positions
        totals[row] = _total_shifts(pairs, moves)
    drawn = totals[1:]
    centres, scales = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)
    # For the rank every row is measured alike, the seen one included: without a profile none is special.
    among = np.abs(totals - totals.mean(axis=0)) / np.maximum(totals.std(axis=0), TINY)
    largest = among.max(axis=1, initial=0)
    overall = float((largest >= largest[0] - TINY).mean())
    moved = totals[0] - centres
    scores = np.where(np.abs(moved) <= TINY, 0.0, moved / np.maximum(scales, TINY))
    each = np.where(scores == 0, 1.0, 2 * ndtr(-np.abs(scores)))
    return Tested(overall, each, scores, float(np.quantile(largest[1:], 1 - level)))


def _weaker(one: Tested, other: Tested) -> Tested:
    """Of two tests the one that says less, for each topic and for the largest."""
    agreed = one.scores * other.scores > 0
    scores = np.where(agreed, np.sign(one.scores) * np.minimum(np.abs(one.scores), np.abs(other.scores)), 0.0)
    return Tested(
        max(one.overall, other.overall),
        np.maximum(one.each, other.each),
        scores,
        max(one.threshold, other.threshold),
    )


def _total_shifts(pairs: PairArrays, moves: Floats) -> Floats:
    """Summed over queries at once: each item times all that it moved."""
    return pairs.maps.add(pairs.sum_by_item(moves))


def direction_p_value(
    pairs: PairArrays,
    control: PairArrays | None,
    generator: np.random.Generator,
    *,
    simulations: int = 199,
    signs: Signs = FREE,
) -> float:
    """How likely halves agree so well without a profile, at most; 1 where there are too few queries."""
    shifts = shifts_by_query(pairs)
    if control is not None:
        return halves_p_value(shifts - shifts_by_query(control), generator, signs)
    if signs.later is not None:
        return halves_p_value(shifts, generator, signs)
    return halves_p_value(
        shifts,
        generator,
        doubt=lambda tried, weights: _by_simulation(pairs.take(tried), weights, simulations, generator),
    )


def _by_simulation(pairs: PairArrays, weights: Floats, simulations: int, generator: np.random.Generator) -> float:
    """How often lists drawn from f, at the lambda that fits, rise as far."""
    interests = pairs.maps.dot(weights)[pairs.items]
    utilities: Floats = -fit_concentration(pairs, np.ones(len(pairs))) * pairs.ranks.astype(np.float64)
    seen = float(interests @ (pairs.ranks - pairs.positions))
    reached = 0
    for _ in range(simulations):
        places = draw_places(pairs, utilities, generator)
        reached += float(interests[places] @ (pairs.ranks[places] - pairs.positions)) >= seen - TINY
    return (1 + reached) / (1 + simulations)
