"""How many queries would be needed: for the topic that stands out most, from what the queries so far have shown.

The verdict tells by how many standard deviations each topic shifted (`aidos.rooms.audit.verdict`). Over the root of the
number of queries this is the effect of a topic, and n queries raise it to effect * sqrt(n). The topic that stands out
most of T was chosen because it does, so the effect as seen is too large: the number that follows from it, with the
threshold of the verdict, is the fewest queries that can be hoped for. The other end of the range comes from the effect
with the square off that T topics without any effect would reach (2 ln T), and a threshold that holds for T topics
whatever they are (Bonferroni). Just above chance little is left of the effect, and the number becomes very large.

Before any list is collected, `ExpectedService` says the same from public numbers: what somebody expects of a service.

Both are plans, not promises: the normal law is an approximation, and later queries may be of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import draw_places
from aidos.rooms.audit.numerics import ndtr, ndtri
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.verdict import Verdict, judge

__all__ = ["ExpectedService", "PowerEstimate", "estimate_power", "power_of", "queries_needed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerEstimate:
    """What more queries would show."""

    topic: int
    """The one that stands out most."""
    seen: float
    """Its effect as seen: standard deviations that it shifted, over the root of the number of queries."""
    effect: float
    """The same less what chance would give."""
    power_now: float
    """How likely as many queries again would detect it, by the effect less chance."""
    fewest: int | None
    """How many queries would be needed in all, by the effect as seen; None where nothing shifted."""
    queries: int | None
    """How many queries would be needed in all, by the effect less chance; None where nothing but chance was seen."""


def power_of(effect: float, queries: int, topics: int, level: float = 0.05) -> float:
    """How likely an effect of one topic among these is detected (two-sided, the level shared by all topics)."""
    threshold = _threshold(topics, level)
    centre = abs(effect) * sqrt(queries)
    return float(ndtr(centre - threshold) + ndtr(-centre - threshold))


def queries_needed(effect: float, topics: int, *, level: float = 0.05, power: float = 0.8) -> int | None:
    """How many queries detect such an effect with this power; None for no effect."""
    _check(power)
    return _queries_beyond(_threshold(topics, level), effect, power)


def estimate_power(
    pairs: PairArrays,
    control: PairArrays | None = None,
    *,
    verdict: Verdict | None = None,
    level: float = 0.05,
    power: float = 0.8,
) -> PowerEstimate:
    """Plan from the pairs that there are, with a second vanilla fetch where there is one.

    ``verdict`` is that of the same pairs, where it is known already; then its level counts. What was not detected
    needs more queries than these, so that neither number is below that.
    """
    verdict = verdict or judge(pairs, control, level=level)
    number, topics = len(pairs), pairs.topic_count
    topic = int(np.argmax(np.abs(verdict.topic_scores)))
    square = float(verdict.topic_scores[topic]) ** 2
    seen, effect = (sqrt(max(each, 0.0) / number) for each in (square, square - 2 * log(max(topics, 2))))
    least = 1 if verdict.personalised else number + 1
    _check(power)
    fewest = _queries_beyond(verdict.threshold, seen, power)
    queries = queries_needed(effect, topics, level=verdict.level, power=power)
    return PowerEstimate(
        topic=topic,
        seen=seen,
        effect=effect,
        power_now=power_of(effect, number, topics, verdict.level),
        fewest=None if fewest is None else max(fewest, least),
        queries=None if queries is None else max(queries, least),
    )


def _queries_beyond(threshold: float, effect: float, power: float) -> int | None:
    return None if effect == 0 else ceil(((threshold + float(ndtri(power))) / effect) ** 2)


def _threshold(topics: int, level: float) -> float:
    if topics < 1 or not 0 < level < 1:
        raise ParameterError("power needs at least one topic and a level between 0 and 1")
    return -float(ndtri(level / (2 * topics)))


def _check(power: float) -> None:
    if not 0 < power < 1:
        raise ParameterError(f"power must lie between 0 and 1, got {power}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedService:
    """What somebody expects of a service before any list is collected: public numbers, no search and no account."""

    topics: Annotated[int, Ge(2)] = 50
    """Topics that results are about."""
    results: Annotated[int, Ge(2)] = 10
    """Results of a list."""
    weight: Annotated[float, Gt(0)] = 2.0
    """Of the one topic that is to be seen."""
    rate: Annotated[float, Gt(0), Le(1)] = 0.5
    """The share of searches that are personalised."""
    mix: Annotated[float, Ge(0), Le(1)] = 0.8
    """How much interests count against the order without an account."""
    concentration: Annotated[float, Gt(0)] = 2.0
    """How steady lists are that are not personalised."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def effect(self, seed: int = 0) -> float:
        """The mean shift of the topic over its standard deviation, in lists drawn from the model."""
        generator, places = np.random.default_rng(seed), DRAWN_LISTS * self.results
        maps = TopicMaps.from_dense(generator.dirichlet(np.full(self.topics, DIRICHLET), places))
        ranks = np.tile(np.arange(1, self.results + 1), DRAWN_LISTS)
        starts = np.arange(DRAWN_LISTS + 1, dtype=np.int64) * self.results
        vanilla = PairArrays(starts=starts, items=np.arange(places), ranks=ranks, maps=maps)
        about = maps.dot(np.eye(1, self.topics)[0] * self.weight)
        lifted = (generator.random(DRAWN_LISTS) < self.rate)[vanilla.query_of]
        utilities = np.where(lifted, self.mix * about - (1 - self.mix) * ranks, -self.concentration * ranks)
        order = draw_places(vanilla, utilities, generator)
        drawn = PairArrays(starts=starts, items=order, ranks=ranks[order], maps=maps)
        shifts = shifts_by_query(drawn)[:, 0]
        return float(shifts.mean() / shifts.std())

    def queries(self, *, level: float = 0.05, power: float = 0.8) -> int | None:
        """How many searches would show the topic with this power, by its shift alone; None where none would."""
        return queries_needed(self.effect(), self.topics, level=level, power=power)


DRAWN_LISTS = 4000
"""Lists that an expected effect is measured on: it is known to about 1.6 % of a standard deviation."""
DIRICHLET = 0.05
"""Of topic maps: results are about one topic or two."""
