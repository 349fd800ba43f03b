"""Why somebody stands where she stands: the entries that a risk goes by, and the words in them that count most.

A word's weight is what the entry would lose without it: the entry is compared with the topic again and again, each time
without one of its words. That is the same question in every space, and needs no theory of any of them. For the
baselines, which count words and not entries, it is the risk that this word alone would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.risk.entries import Bags
from aidos.rooms.risk.kept.plan import PRESENCE
from aidos.rooms.risk.kept.register import entry_name
from aidos.rooms.risk.kept.standing import Holders
from aidos.rooms.risk.kept.traces import Traces
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure, TopicalRisk
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import Similarity
from aidos.rooms.risk.state import RiskState

__all__ = ["Reason", "Reasons", "TellingWord"]

Longs: TypeAlias = NDArray[np.int64]
LEAST = 1e-6
"""What is lost by rounding says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingWord:
    """A word of an entry, and how much it counts."""

    word: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One entry that a risk goes by."""

    entry: str
    """Its name."""
    place: int
    """Its place among her entries in the order of time, counted from 0."""
    weight: float
    """How near it comes to the topic; for the baselines the risk that its most telling word alone would give."""
    words: tuple[TellingWord, ...]
    """The words that count most, most first; as the analyser writes them."""


class Reasons:
    """Looks for reasons in the entries of one person."""

    def __init__(self, state: RiskState, mine: People, traces: dict[str, Traces], *, words: int) -> None:
        """Her entries, words numbered by the alphabet, what a state keeps of them, and how many words to name."""
        self._state = state
        self._mine = mine
        self._traces = traces
        self._most = words
        self._compare: dict[str, Similarity] = {
            name: kept.space.bind(mine.vocabulary) for name, kept in state.plan.kept.items() if name != PRESENCE
        }
        self._found: dict[tuple[str, int, int], tuple[TellingWord, ...]] = {}

    def of(self, topic: str, measure: RiskMeasure) -> tuple[Reason, ...]:
        """The entries that a risk goes by, the most telling first; none where nothing of hers is near."""
        at = self._state.plan.find_topic(topic)
        if isinstance(measure, TopicalRisk):
            return self._topical(at, measure)
        return self._baseline(topic, at, measure) if isinstance(measure, BaselineRisk) else ()

    def _topical(self, at: int, measure: TopicalRisk) -> tuple[Reason, ...]:
        traces, column = self._traces[measure.space], int(self._state.plan.kept[measure.space].layout.asked[at])
        entries, values, most = traces.nearest[0, [at]], traces.evidence.best[0, [column]], 1
        if measure.time:
            entries = traces.bucketed[measure.bucket_days][0, at]
            values, most = traces.evidence.highest[measure.bucket_days][0, at], measure.recurring
        best = [place for place in np.argsort(-values, kind="stable")[:most].tolist() if values[place] > 0]
        places = [int(entries[place]) - self._state.next_entry for place in best]
        return tuple(
            self._reason(entry, float(values[place]), self._words(measure.space, entry, column))
            for place, entry in zip(best, places, strict=True)
        )

    def _baseline(self, topic: str, at: int, measure: BaselineRisk) -> tuple[Reason, ...]:
        holders = self._state.holders(topic)
        weights = _weigh_words(holders, measure)
        columns = self._state.plan.columns_of_words(at)
        entries = self._traces[PRESENCE].nearest[0, columns]
        found: dict[int, list[TellingWord]] = {}
        for place in np.argsort(-weights, kind="stable").tolist():
            if entries[place] >= 0:
                word = TellingWord(word=holders.space.terms[place], weight=float(weights[place]))
                found.setdefault(int(entries[place]) - self._state.next_entry, []).append(word)
        return tuple(self._reason(entry, words[0].weight, tuple(words[: self._most])) for entry, words in found.items())

    def _reason(self, entry: int, weight: float, words: tuple[TellingWord, ...]) -> Reason:
        return Reason(entry=entry_name(self._mine, entry, entry), place=entry, weight=weight, words=words)

    def _words(self, space: str, entry: int, column: int) -> tuple[TellingWord, ...]:
        if (space, entry, column) not in self._found:
            self._found[space, entry, column] = self._left_out(space, entry, column)
        return self._found[space, entry, column]

    def _left_out(self, space: str, entry: int, column: int) -> tuple[TellingWord, ...]:
        own = self._mine.bags.part(entry, entry + 1)
        number = len(own.words)
        kept = ~np.eye(number, dtype=np.bool_)
        without = Bags(
            np.arange(number + 1, dtype=np.int64) * (number - 1),
            np.broadcast_to(own.words, kept.shape)[kept],
            np.broadcast_to(own.frequencies, kept.shape)[kept],
        )
        compare = self._compare[space]
        lost = compare(own)[0, column] - compare(without)[:, column]
        best = [place for place in np.argsort(-lost, kind="stable")[: self._most].tolist() if lost[place] > LEAST]
        terms = self._mine.vocabulary.terms(own.words[best].astype(np.int64))
        return tuple(TellingWord(word=term, weight=float(lost[place])) for term, place in zip(terms, best, strict=True))


def _weigh_words(holders: Holders, measure: BaselineRisk) -> NDArray[np.float64]:
    """The risk that each word of the topic alone would give to one who has it."""
    only = np.eye(len(holders.space.terms), dtype=np.float32)
    return measure.among(only, holders.counts, int(holders.people.sum()), holders.space)[:, 0]
