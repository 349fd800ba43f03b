"""How many queries would be needed: for the topic that stands out most, from what the queries so far have shown.

Each query gives a shift for each topic; its mean over its standard deviation is the effect of a topic, and n queries
raise its statistic to effect * sqrt(n). The largest of T statistics is chosen because it is large, so the square that
T topics without any effect would reach (2 ln T) is taken off first. The answer is a plan, not a promise: the normal law
is an approximation, and later queries may be of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from aidos.audit.arrays import PairArrays
from aidos.audit.baselines import shifts_by_query
from aidos.audit.numerics import ndtr, ndtri
from aidos.errors import ParameterError

__all__ = ["PowerEstimate", "detectable_effect", "estimate_power", "power_of", "queries_needed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerEstimate:
    """What more queries would show."""

    effect: float
    """Mean shift over its standard deviation, of the topic that stands out most, less what chance would give."""
    topic: int
    power_now: float
    """How likely as many queries again would detect it."""
    queries: int | None
    """How many queries would be needed in all; None where nothing but chance was seen."""
    detectable: float
    """The smallest effect that so many queries as now would detect."""


def power_of(effect: float, queries: int, topics: int, level: float = 0.05) -> float:
    """How likely an effect of one topic among these is detected (two-sided, the level shared by all topics)."""
    threshold = _threshold(topics, level)
    centre = abs(effect) * sqrt(queries)
    return float(ndtr(centre - threshold) + ndtr(-centre - threshold))


def queries_needed(effect: float, topics: int, *, level: float = 0.05, power: float = 0.8) -> int | None:
    """How many queries detect such an effect with this power; None for no effect."""
    _check(power)
    if effect == 0:
        return None
    return ceil(((_threshold(topics, level) + float(ndtri(power))) / effect) ** 2)


def detectable_effect(queries: int, topics: int, *, level: float = 0.05, power: float = 0.8) -> float:
    """The smallest effect that so many queries detect with this power."""
    _check(power)
    return (_threshold(topics, level) + float(ndtri(power))) / sqrt(queries)


def estimate_power(pairs: PairArrays, *, level: float = 0.05, power: float = 0.8) -> PowerEstimate:
    """Plan from the pairs that there are."""
    shifts = shifts_by_query(pairs)
    number, topics = shifts.shape
    deviations = shifts.std(axis=0)
    means = shifts.mean(axis=0)
    effects = np.divide(means, deviations, out=np.zeros(topics), where=deviations > 0)
    topic = int(np.argmax(np.abs(effects)))
    effect = sqrt(max(float(effects[topic]) ** 2 - 2 * log(max(topics, 2)) / number, 0.0))
    return PowerEstimate(
        effect=effect,
        topic=topic,
        power_now=power_of(effect, number, topics, level),
        queries=queries_needed(effect, topics, level=level, power=power),
        detectable=detectable_effect(number, topics, level=level, power=power),
    )


def _threshold(topics: int, level: float) -> float:
    if topics < 1 or not 0 < level < 1:
        raise ParameterError("power needs at least one topic and a level between 0 and 1")
    return -float(ndtri(level / (2 * topics)))


def _check(power: float) -> None:
    if not 0 < power < 1:
        raise ParameterError(f"power must lie between 0 and 1, got {power}")
