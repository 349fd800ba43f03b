"""One person over time, and by chance: how her risks grew, and how much her ranks hang on single entries.

The history of a rank is hers alone: at the end of each time bucket that has an entry, her risk is that of all entries
up to there, and the rank is the one it would have among the others as they are today. So a line that rises says that
she wrote something, and never that others stopped; and nobody else's past has to be kept. Empty buckets are left out,
since nothing changes in them.

Intervals are those of `aidos.rooms.risk.ranks`: her entries are drawn again, all others stay as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.risk.entries import BUCKET_ORIGIN, bucket_numbers
from aidos.rooms.risk.evidence import gather_redrawn
from aidos.rooms.risk.kept.standing import Standing
from aidos.rooms.risk.kept.traces import Traces
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure
from aidos.rooms.risk.people import People
from aidos.rooms.risk.ranks import Bootstrap, RankInterval, rank_among
from aidos.rooms.risk.state import RiskState, Standings

__all__ = ["Stage", "find_history", "find_intervals"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
DAY = 86_400
DRAWS = 1 << 20
"""Entries that are drawn in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How things stood at the end of a time bucket."""

    begins: datetime
    """When the bucket begins."""
    entries: int
    """Entries of the bucket itself."""
    standing: Standing
    """By all entries up to its end, among the others as they are today."""


def find_history(
    state: RiskState, person_id: str, mine: People, bucket_days: int
) -> tuple[list[tuple[datetime, int]], list[Standings]]:
    """Beginning and entries of every bucket that has some, and the standings at its end; nothing without times."""
    if mine.times is None or not state.plan.kept:
        return [], []
    numbers, firsts = np.unique(bucket_numbers(mine.times, bucket_days), return_index=True)
    cuts = np.append(firsts, mine.entries)
    begins = [datetime.fromtimestamp(BUCKET_ORIGIN + int(number) * bucket_days * DAY, tz=UTC) for number in numbers]
    sizes = np.diff(cuts).tolist()
    return list(zip(begins, sizes, strict=True)), state.would_stand(person_id, _stages(state, mine, cuts))


def find_intervals(
    state: RiskState, person_id: str, mine: People, bootstrap: Bootstrap
) -> dict[tuple[RiskMeasure, str], RankInterval]:
    """The interval of every rank of hers; entries and community are those of the state.

    There is none by measures of third parties, which may need the entries of everybody: see `Bootstrap.intervals`.
    """
    kept = [measure for measure in state.plan.measures if measure not in state.plan.others]
    stream = np.random.default_rng([bootstrap.seed, zlib.crc32(person_id.encode("utf-8", "replace"))])
    step = max(1, DRAWS // mine.entries)
    parts: dict[RiskMeasure, list[Floats]] = {measure: [] for measure in kept}
    for first in range(0, bootstrap.resamples, step):
        draws = stream.integers(mine.entries, size=(min(step, bootstrap.resamples - first), mine.entries))
        for measure in kept:
            parts[measure].append(_redrawn(state, mine, measure, draws))
    standings = state.standings(person_id)
    return {
        (measure, topic): _interval(
            bootstrap, standings[measure, topic], state.ordered(topic, measure), redrawn[:, at], mine.entries
        )
        for measure, redrawn in ((measure, np.concatenate(part)) for measure, part in parts.items())
        for at, topic in enumerate(state.plan.topics)
    }


def _stages(state: RiskState, mine: People, cuts: Longs) -> dict[str, Traces]:
    """What is kept of her at the end of each bucket, a row each."""
    found = {}
    for name, kept in state.plan.kept.items():
        now, stages = kept.of_nothing(1), kept.of_nothing(len(cuts) - 1)
        for stage, part in enumerate(_parts(mine, cuts)):
            kept.take_in(now, part, 0, threads=1)
            stages.put(np.array([stage]), now)
        found[name] = stages
    return found


def _parts(mine: People, cuts: Longs) -> Iterator[People]:
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield replace(
            mine,
            entry_ids=None,
            person_starts=np.array([0, last - first], dtype=np.int64),
            times=None if mine.times is None else mine.times[first:last],
            bags=mine.bags.part(first, last),
        )


def _redrawn(state: RiskState, mine: People, measure: RiskMeasure, draws: Longs) -> Floats:
    plan = state.plan
    if not isinstance(measure, BaselineRisk) or plan.presence is None:
        return measure.redrawn(mine, 0, plan.topics, plan.models, draws)
    # Only words that she has can be drawn, and she is counted among those who have them.
    has = gather_redrawn(mine, plan.presence, {}, draws).best
    found = np.empty((len(draws), len(plan.topics)))
    for at, topic in enumerate(plan.topics):
        holders, columns = state.holders(topic), plan.columns_of_words(at)
        found[:, at] = measure.among(has[:, columns], holders.counts, len(state), holders.space)[:, 0]
    return found


def _interval(bootstrap: Bootstrap, now: Standing, ordered: Floats, redrawn: Floats, entries: int) -> RankInterval:
    others = np.delete(ordered, np.searchsorted(ordered, now.risk))
    ranks = rank_among(redrawn, others, ties=bootstrap.ties)
    middle = rank_among(redrawn, others, ties="mean")
    shares = (now.people - middle) / len(others) if len(others) else np.full(len(ranks), 0.5)
    low, high = _middle(ranks, bootstrap.coverage)
    share_low, share_high = _middle(shares, bootstrap.coverage)
    return RankInterval(
        rank={"best": float(now.best), "mean": now.mean, "worst": float(now.worst)}[bootstrap.ties],
        low=low,
        high=high,
        percentile=now.percentile,
        percentile_low=share_low,
        percentile_high=share_high,
        coverage=bootstrap.coverage,
        entries=entries,
        people=now.people,
    )


def _middle(values: Floats, coverage: float) -> tuple[float, float]:
    """Two of the values that hold at least that share of them between them."""
    low = np.quantile(values, (1 - coverage) / 2, method="lower")
    high = np.quantile(values, (1 + coverage) / 2, method="higher")
    return float(low), float(high)
