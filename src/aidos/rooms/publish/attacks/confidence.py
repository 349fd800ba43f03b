"""How sure one can be of a rate that was counted: exact binomial bounds (Clopper and Pearson 1934).

The bounds hold for every true rate and every number of trials, with no normal approximation; the price is that they are
a little wide. They presume independent trials.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from aidos.errors import ParameterError

__all__ = ["Rate", "lower_bound", "upper_bound"]

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
