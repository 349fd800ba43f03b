"""How sure a learned profile is: bootstrap over queries, each time learned anew from where the first learning ended.

Queries are drawn with replacement, as many as there are; the spread of what is then learned is the spread that other
queries of the same kind would have given. Intervals are percentiles. They say nothing about queries of another kind,
and nothing about noise that all queries share, such as an engine that changed between two fetches: for that there is a
second vanilla fetch and `aidos.rooms.audit.verdict`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.inference import LearnedProfile, LearningSettings

__all__ = ["BootstrapPlan", "Interval", "ProfileIntervals", "bootstrap_profile"]

Floats = NDArray[np.float64]
TOLERANCE = 1e-4
"""Gain a query below which a draw is learned: far below what draws differ by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapPlan:
    """How often to draw, and what the intervals promise."""

    draws: Annotated[int, Ge(2)] = 100
    confidence: Annotated[float, Gt(0), Lt(1)] = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number lies, at the stated confidence."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileIntervals:
    """Intervals for everything that was learned."""

    confidence: float
    low: Floats
    """Lower ends for the weights of the topics."""
    high: Floats
    """Upper ends."""
    draws: Floats
    """What the draws gave: draws by topics."""
    drawn_rates: Floats
    """The rate of each draw."""
    rate: Interval
    mix: Interval
    concentration: Interval


def bootstrap_profile(
    learn: Callable[..., LearnedProfile],
    pairs: PairArrays,
    profile: LearnedProfile,
    settings: LearningSettings | None = None,
    plan: BootstrapPlan | None = None,
) -> ProfileIntervals:
    """Percentile intervals; ``learn`` is `infer_profile` or `learn_profile`, whichever gave the profile."""
    chosen = plan or BootstrapPlan()
    base = settings or LearningSettings()
    quick = replace(base, tolerance=max(base.tolerance, TOLERANCE))
    generator = np.random.default_rng(chosen.seed)
    even = np.full(len(pairs), 1 / len(pairs))
    drawn = [generator.multinomial(len(pairs), even).astype(np.float64) for _ in range(chosen.draws)]
    # Most of the work is compiled and lets go of the interpreter, so that plain threads share the cores.
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(lambda counts: learn(pairs, quick, counts=counts, start=profile), drawn))
    ends = [(1 - chosen.confidence) / 2, (1 + chosen.confidence) / 2]
    low, high = np.quantile([each.weights for each in found], ends, axis=0)

    def interval(values: list[float]) -> Interval:
        one, other = np.quantile(values, ends)
        return Interval(float(one), float(other))

    return ProfileIntervals(
        confidence=chosen.confidence,
        low=low,
        high=high,
        draws=np.array([each.weights for each in found]),
        drawn_rates=np.array([each.rate for each in found]),
        rate=interval([each.rate for each in found]),
        mix=interval([each.mix for each in found]),
        concentration=interval([each.concentration for each in found]),
    )
