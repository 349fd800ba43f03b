"""How a sequence of rankings went: unfairness and quality ranking by ranking, and where everybody ended.

A course is recorded from what was really served, whoever chose the order: attention goes to the position a subject
stood on, and adds up over all rankings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aidos.errors import InputError
from aidos.model.attention import Attention
from aidos.rooms.fairness.accounts import Accounts, Served
from aidos.rooms.fairness.rankings import Floats, Ints, SubjectRanking, discounts, gains, normalise

__all__ = ["Course", "Recorder", "Series"]


@dataclass(slots=True)
class Series:
    """What is noted ranking by ranking."""

    unfairness: list[float] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, unfairness: float, quality: float) -> None:
        """One more ranking."""
        self.unfairness.append(unfairness)
        self.quality.append(quality)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """How one method did."""

    method: str
    quality_floor: float | None
    """What it had to keep, if anything."""
    unfairness: Floats
    """After each ranking."""
    quality: Floats
    """NDCG-quality of each ranking."""
    names: tuple[str, ...]
    """Of the accounts."""
    received: Floats
    earned: Floats
    seconds: float = 0.0

    @property
    def final(self) -> float:
        """Unfairness at the end."""
        return float(self.unfairness[-1])

    @staticmethod
    def ended(method: str, accounts: Accounts, series: Series, *, quality_floor: float | None = None) -> Course:
        """A course with the accounts as they are now."""
        return Course(
            method=method,
            quality_floor=quality_floor,
            unfairness=np.array(series.unfairness),
            quality=np.array(series.quality),
            names=tuple(accounts.names),
            received=accounts.received(),
            earned=accounts.earned(),
            seconds=series.seconds,
        )


class Recorder:
    """Counts rankings as they were served."""

    def __init__(self, method: str, attention: Attention, gain: str, *, half_life: float | None = None) -> None:
        self.method, self.attention, self.gain = method, attention, gain
        self.accounts = Accounts(half_life=half_life)
        self.series = Series()

    def add(self, ranking: SubjectRanking, served: Ints | None = None, *, accounts: Sequence[str] = ()) -> None:
        """One ranking in the order ``served`` (indices into it); by relevance unless given."""
        by_relevance = np.argsort(-ranking.relevance, kind="stable")
        order = by_relevance if served is None else served
        best = gains(ranking.relevance[by_relevance], self.gain)
        worth = np.empty_like(best)
        worth[by_relevance] = best
        weights = self.attention.weights(ranking.relevance[by_relevance] / ranking.relevance.max())
        top = order[: len(weights)]
        discount = discounts(len(weights))
        quality = float(discount @ worth[top]) / float(discount @ best[: len(weights)])
        self.accounts.count(
            Served(
                ranking_id="",
                content="",
                slots=self.accounts.slots(tuple(accounts or ranking.subject_ids)),
                relevance=normalise(ranking.relevance),
                placed=top,
                attention=weights,
                placed_ids=(),
                searcher_id=ranking.searcher_id,
                quality=quality,
            )
        )
        self.series.note(self.accounts.unfairness, quality)

    def course(self, quality_floor: float | None = None) -> Course:
        """What was recorded."""
        if not self.series.quality:
            raise InputError("there are no rankings", hint="name a file with at least one")
        return Course.ended(self.method, self.accounts, self.series, quality_floor=quality_floor)
