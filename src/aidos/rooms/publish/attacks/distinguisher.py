"""A membership distinguisher: two logs that differ in one person, and a lower bound on epsilon that anybody can check.

The observer sees what was released of the victim's items, adds it up to one score, and says "she is in" when the score
is high enough (or low enough). If that is right with rate p1 where she is in and wrong with rate p0 where she is not,
then (epsilon, delta) differential privacy for one person would need

    p1 <= e^epsilon * p0 + delta,   so   epsilon >= ln( (p1 - delta) / p0 ).

The sign and how many others have the same items are chosen in rehearsal: nobody (then only the victim can bring them
out), just as many as bring them to the edge of release, or far more. p1 and p0 are then counted in a fresh run and
replaced by their Clopper-Pearson bounds. So a mechanism that keeps its promise is found above its claim with
probability 1 - confidence at most, whatever was tried in rehearsal. The victim may hold more items than the mechanism
takes from a person: what should hold her back is the mechanism's own limit.

A low bound is no proof of privacy. A bound above the claim is a proof of the contrary.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from aidos.rooms.publish.attacks.confidence import Rate
from aidos.rooms.publish.attacks.scenes import Scores, Stage, asked

__all__ = ["Distinction", "distinguish"]

QUANTILES = np.linspace(0, 1, 41)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distinction:
    """How well one person's presence was told."""

    others: int
    """People who had the same items besides the victim, on the stage that was chosen."""
    right: Rate
    """How often the observer's sign was seen where it speaks for the truth (p1)."""
    wrong: Rate
    """How often the same sign was seen on the neighbouring log (p0)."""
    delta: float
    """The claimed delta that the bound takes into account."""
    confidence: float
    """Of the bound, as a probability."""

    @property
    def epsilon(self) -> float:
        """The true epsilon at this delta is at least this, with the stated confidence; 0 when nothing was shown."""
        each = 1 - (1 - self.confidence) / 2
        gained = self.right.not_below(each) - self.delta
        return max(0.0, log(gained / self.wrong.not_above(each))) if gained > 0 else 0.0

    def refutes(self, epsilon: float) -> bool:
        """Whether the claim of this epsilon (at this delta) is shown to be wrong."""
        return self.epsilon > epsilon


def distinguish(stage: Stage, *, delta: float, confidence: float = 0.99) -> Distinction:
    """Rehearse with different numbers of others, choose the most telling sign, and count it in a fresh run."""
    best = (-1.0, 0, _Sign(0.0, 0.0, True))
    for others in dict.fromkeys((0, *stage.tactics())):
        seen = stage.play(others)
        found = max(_signs(seen), key=lambda sign: sign.epsilon(seen, delta, confidence))
        best = max(best, (found.epsilon(seen, delta, confidence), others, found), key=lambda one: one[0])
    _, others, sign = best
    right, wrong = sign.rates(stage.play(others))
    return Distinction(others=others, right=right, wrong=wrong, delta=delta, confidence=confidence)


@dataclass(frozen=True, slots=True)
class _Sign:
    """A sum of counts that is at least this, as a sign of presence, or that is below it, as one of absence."""

    floor: float
    """What an item counts that was not released."""
    least: float
    of_presence: bool

    def rates(self, seen: Scores) -> tuple[Rate, Rate]:
        """How often it was there where it is right, and where it is wrong."""
        truth = asked(len(seen)) == self.of_presence
        there = (_sums(seen, self.floor) >= self.least) == self.of_presence
        return Rate(int(there[truth].sum()), int(truth.sum())), Rate(int(there[~truth].sum()), int((~truth).sum()))

    def epsilon(self, seen: Scores, delta: float, confidence: float) -> float:
        right, wrong = self.rates(seen)
        return Distinction(others=0, right=right, wrong=wrong, delta=delta, confidence=confidence).epsilon


def _signs(seen: Scores) -> list[_Sign]:
    """Signs at quantiles of what was seen (a few dozen keep rehearsal quick), and that anything came out at all."""
    released = seen[np.isfinite(seen)]
    floor = float(released.min()) - 1 if released.size else 0.0
    levels = np.quantile(_sums(seen, floor), QUANTILES, method="inverted_cdf")
    anything = floor * seen.shape[1] + 1
    every = np.unique([*levels, anything])
    return [_Sign(floor, float(level), of_presence) for level in every for of_presence in (True, False)]


def _sums(seen: Scores, floor: float) -> Scores:
    sums: Scores = np.where(np.isfinite(seen), seen, floor).sum(axis=1)
    return sums
