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

How sure one can be of a rate that was counted: exact binomial bounds (Clopper and Pearson 1934). The bounds hold for
every true rate and every number of trials, with no normal approximation; the price is that they are a little wide. They
presume independent trials.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np
import numpy.typing as npt

from aidos.errors import ParameterError
from aidos.rooms.publish.attacks.scenes import Scores, Stage, asked

__all__ = ["Distinction", "Rate", "distinguish", "lower_bound", "upper_bound"]

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


HALVINGS = 60
"""Steps of bisection: the answer is then exact to the last place of a float."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of successes among a number of independent trials."""

    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials or self.trials == 0:
            raise ParameterError(f"a rate needs 0 <= successes <= trials, got {self.successes} of {self.trials}")

    @property
    def value(self) -> float:
        """The share that was counted."""
        return self.successes / self.trials

    def not_below(self, confidence: float) -> float:
        """The true rate is at least this, but for a mistake of probability 1 - confidence."""
        return lower_bound(self.successes, self.trials, confidence)

    def not_above(self, confidence: float) -> float:
        """The true rate is at most this, but for a mistake of probability 1 - confidence."""
        return upper_bound(self.successes, self.trials, confidence)


def lower_bound(successes: int, trials: int, confidence: float) -> float:
    """The rate at which as many successes or more would have probability 1 - confidence; 0 when there are none."""
    if successes == 0:
        return 0.0
    return _crossing(lambda rate: _at_least(successes, trials, rate) > 1 - confidence)


def upper_bound(successes: int, trials: int, confidence: float) -> float:
    """The rate at which as few successes or fewer would have probability 1 - confidence; 1 when all succeeded."""
    return 1.0 - lower_bound(trials - successes, trials, confidence)


def _crossing(is_above: Callable[[float], bool]) -> float:
    """Where a growing condition becomes true between 0 and 1, from below."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return low


def _at_least(successes: int, trials: int, rate: float) -> float:
    """Pr[Bin(trials, rate) >= successes]."""
    counts = np.arange(successes, trials + 1)
    logs = _log_choices(trials)[successes:] + counts * np.log(rate) + (trials - counts) * np.log1p(-rate)
    return float(np.exp(logs).sum())


@lru_cache(maxsize=8)
def _log_choices(trials: int) -> npt.NDArray[np.float64]:
    """Logarithms of the binomial coefficients (trials over 0), ..., (trials over trials)."""
    places = np.arange(1, trials + 1)
    steps = np.log(trials - places + 1) - np.log(places)
    return np.concatenate(([0.0], np.cumsum(steps)))
