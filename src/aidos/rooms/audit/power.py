"""How many queries would be needed: for the topic that stands out most, from what the queries so far have shown.

The verdict tells by how many standard deviations each topic shifted (`aidos.rooms.audit.verdict`). Over the root of the
number of queries this is the effect of a topic, and n queries raise it to effect * sqrt(n). The topic that stands out
most of T was chosen because it does, so the effect as seen is too large: the number that follows from it, with the
threshold of the verdict, is the fewest queries that can be hoped for. The other end of the range comes from the effect
with the square off that T topics without any effect would reach (2 ln T), and a threshold that holds for T topics
whatever they are (Bonferroni). Just above chance little is left of the effect, and the number becomes very large.

Before any list is collected, the same follows from public numbers: what somebody expects of a service
(`aidos.rooms.audit.jobs.plan`).

Both are plans, not promises: the normal law is an approximation, and later queries may be of another kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.concluding import TOPICS_PART
from aidos.rooms.audit.densities import draw_places
from aidos.rooms.audit.items import LEAST_CONTROLLED
from aidos.rooms.audit.numerics import ndtr, ndtri
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.verdict import Verdict, judge

if TYPE_CHECKING:
    from aidos.rooms.audit.jobs.plan import ExpectedService

__all__ = [
    "PowerEstimate",
    "estimate_power",
    "expected_effects",
    "power_of",
    "queries_needed",
    "searches_needed",
]


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


def expected_effects(service: ExpectedService, rates: Sequence[float], seed: int = 0) -> list[float]:
    """The effect of the topic at each share of personalised searches, in lists drawn from the model.

    It is the mean shift less that of a second list without an account, over the standard deviation. Without a profile
    results are not moved by what they are about, so that the mean is 0 there; what cannot be told from it counts as 0.
    """
    generator, lists = np.random.default_rng(seed), DRAWN_RESULTS // service.results
    places = lists * service.results
    share = generator.beta(DIRICHLET, DIRICHLET * (service.topics - 1), places)
    maps = TopicMaps.from_dense(np.stack([share, 1 - share], axis=1))
    ranks = np.tile(np.arange(1, service.results + 1), lists)
    noisy: NDArray[np.float64] = -service.concentration * ranks.astype(np.float64)
    starts = np.arange(lists + 1, dtype=np.int64) * service.results
    vanilla = PairArrays(starts=starts, items=np.arange(places), ranks=ranks, maps=maps)

    def shifts(utilities: NDArray[np.float64]) -> NDArray[np.float64]:
        order = draw_places(vanilla, utilities, generator)
        return shifts_by_query(PairArrays(starts=starts, items=order, ranks=ranks[order], maps=maps))[:, 0]

    second = shifts(noisy)
    same = shifts(noisy) - second
    lifted = shifts(service.mix * service.weight * share - (1 - service.mix) * ranks) - second
    mean, square, noise = (float(each.mean()) for each in (lifted, lifted**2, same**2))
    if mean <= 3 * sqrt(square / lists):
        return [0.0] * len(rates)
    return [rate * mean / sqrt(rate * square + (1 - rate) * noise - (rate * mean) ** 2) for rate in rates]


def searches_needed(
    service: ExpectedService, rates: Sequence[float], *, level: float = 0.05, power: float = 0.8
) -> list[int | None]:
    """How many searches lead to "personalised by topic" and name the topic, at each share of personalised searches.

    By the shift of the topic alone, at the part of the level that the conclusion leaves to it.
    """
    found = [
        queries_needed(effect, service.topics, level=level * SHIFT_PART, power=power)
        for effect in expected_effects(service, rates)
    ]
    return [None if each is None else max(each, LEAST_CONTROLLED) for each in found]


DRAWN_RESULTS = 1_000_000
"""Of the lists that an expected effect is measured on: of ten results each, it is known to 0.3 % of a deviation."""
DIRICHLET = 0.05
"""Of topic maps: results are about one topic or two."""
SHIFT_PART = TOPICS_PART / 2
"""Of the level, what the largest shift may use up: the test of halves takes as much."""
