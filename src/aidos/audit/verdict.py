"""Does the engine personalise at all, and which topics are more than chance? Tests with a kept rate of false alarms.

What is tested is rank shift by topic (how far items of a topic rose, summed over queries), for the largest of all
topics at once. Which lists would look the same without a profile depends on where the noise comes from:

- *With a second vanilla fetch* for each query: without a profile the personalised and the second vanilla list could
  be exchanged. Doing so flips the sign of the difference of their shifts, so all sign flips are equally likely. The
  test is exact, whatever the noise.
- *Without it* there are two suspects. Either both lists are noisy views of one ranking; then they could be exchanged
  with each other, which flips the sign of the shift. Or the personalised list is the vanilla one with noise of the
  law f; then items at the top can only fall, and topics that often stand at the top seem to be sunk. The second is
  simulated at the lambda that fits. The larger of the two p-values counts, so that the rate of false alarms is kept
  under either (under f nearly, for lambda is estimated).

Topics are reported only where the verdict is that the engine personalises, and then at a false discovery rate of the
same level (Benjamini and Hochberg). "Not detected" does not mean "not there": see `aidos.audit.power`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays
from aidos.audit.baselines import shifts_by_query
from aidos.audit.learning import fit_concentration
from aidos.audit.numerics import ndtr
from aidos.audit.sampling import draw_places
from aidos.errors import InputError, ParameterError

__all__ = ["MANY", "Verdict", "discoveries", "judge", "sign_flip_p_values", "simulated_p_values"]

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """What the tests say."""

    level: float
    p_value: float
    """How likely a largest shift like this is without a profile, at most."""
    topic_p_values: Floats
    topics: Flags
    """Topics that the engine lifts or sinks, at a false discovery rate of the level."""
    controlled: bool
    """Whether a second vanilla fetch was there to compare with."""

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


def judge(
    pairs: PairArrays,
    control: PairArrays | None = None,
    *,
    level: float = 0.05,
    simulations: int = 199,
    seed: int = 0,
) -> Verdict:
    """The verdict; ``control`` pairs the same queries' vanilla lists with a second vanilla fetch.

    There are 40 sign flips a topic, at least 1999: enough for the smallest threshold of one topic. From 20,000 queries
    on there are 1999, and the p-value of a topic that is in many lists is the normal tail, which needs no flips.
    """
    if not 0 < level < 1:
        raise ParameterError(f"the level must lie between 0 and 1, got {level}")
    if control is not None and (len(control) != len(pairs) or control.topic_count != pairs.topic_count):
        raise InputError("the second vanilla fetch must cover the same queries and topics as the pairs")
    generator = np.random.default_rng(seed)
    shifts = shifts_by_query(pairs)
    flips = 1999 if len(pairs) >= MANY else max(1999, 40 * pairs.topic_count)
    if control is not None:
        overall, each = sign_flip_p_values(shifts - shifts_by_query(control), flips, generator)
    else:
        flipped = sign_flip_p_values(shifts, flips, generator)
        simulated = simulated_p_values(pairs, simulations, generator)
        overall, each = max(flipped[0], simulated[0]), np.maximum(flipped[1], simulated[1])
    topics = discoveries(each, level) if overall <= level else np.zeros(len(each), dtype=np.bool_)
    return Verdict(level=level, p_value=overall, topic_p_values=each, topics=topics, controlled=control is not None)


def sign_flip_p_values(shifts: Floats, flips: int, generator: np.random.Generator) -> tuple[float, Floats]:
    """For the largest topic and for each: how often random signs of the queries give as large a sum.

    Sums are divided by the root of their sum of squares, which no flip changes.
    """
    used = shifts[np.abs(shifts).max(axis=1, initial=0) > TINY]
    lengths = np.sqrt((used**2).sum(axis=0))
    scaled = np.divide(used, lengths, out=np.zeros_like(used), where=lengths > TINY)
    seen = np.abs(scaled.sum(axis=0))
    largest = float(seen.max(initial=0))
    exceeded, overall, done = np.zeros(len(seen)), 0, 0
    while done < flips:
        size = min(500, flips - done, max(1, AT_ONCE // max(len(used), 1)))
        signs = generator.integers(0, 2, (size, len(used))) * 2.0 - 1
        drawn = np.abs(signs @ scaled) + TINY
        exceeded += (drawn >= seen).sum(axis=0)
        overall += int((drawn.max(axis=1, initial=TINY) >= largest).sum())
        done += size
    each = (1 + exceeded) / (1 + flips)
    if len(shifts) >= MANY:
        each = np.where(np.abs(scaled).max(axis=0, initial=0) <= SMALL_PART, 2 * ndtr(-seen), each)
        each = np.where(seen > TINY, each, 1.0)
    return (1 + overall) / (1 + flips), each


def simulated_p_values(pairs: PairArrays, simulations: int, generator: np.random.Generator) -> tuple[float, Floats]:
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
    each = 2 * ndtr(-np.abs(totals[0] - centres) / np.maximum(scales, TINY))
    return overall, np.where(np.abs(totals[0] - centres) <= TINY, 1.0, each)


def _total_shifts(pairs: PairArrays, moves: Floats) -> Floats:
    """Summed over queries at once: each item times all that it moved."""
    return pairs.maps.add(pairs.sum_by_item(moves))
