"""Result pairs by number: every distinct result once, and each list as numbers of results.

Two results are the same where their addresses are (`aidos.core.resultpairs`). Both lists of a pair are brought to the
same items: what one of them lacks stands at its end, in the order of the other. How many results each list really
showed is kept, since overlap can be measured only on these.

Of a result that stands in many lists the first that has a title or a snippet is kept; an engine may show another
snippet for another query, and what those said is not read. Of lists of one query none is read first: what results are
about, and which topics there are, must not depend on which of the lists is the account's, or the tests that exchange
lists would not be exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import Result, ResultPair
from aidos.errors import InputError
from aidos.rooms.audit.arrays import PairArrays, TopicMaps

__all__ = ["LEAST_CONTROLLED", "PairItems"]

LEAST_CONTROLLED = 20
"""Queries with a second vanilla list that a controlled test needs; they must be half of all queries, too."""
Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairItems:
    """Pairs of lists over numbered items."""

    items: tuple[Result, ...]
    queries: tuple[str, ...]
    vanilla: tuple[Numbers, ...]
    """For each query its items in vanilla order, those that only the personalised list has last."""
    personalised: tuple[Numbers, ...]
    """The same items in personalised order, those that only the vanilla list has last."""
    shown: tuple[tuple[int, int], ...]
    """How many of the items of each query the vanilla and the personalised list really held."""
    again: tuple[Numbers | None, ...]
    """The second vanilla list of each query as it was shown; None where nobody asked again."""

    @classmethod
    def of(cls, pairs: Sequence[ResultPair]) -> PairItems:
        """Number the items and align the lists; InputError where there are no pairs."""
        if not pairs:
            raise InputError("there are no pairs of result lists", hint="collect some queries first")
        numbering = _Numbering()
        vanilla, personalised, shown, again = [], [], [], []
        for pair in pairs:
            lists = (pair.vanilla, pair.personalised, pair.again or ())
            numbering.list_of(sorted({each for shown in lists for each in shown}, key=_writing))
            one, other = numbering.list_of(pair.vanilla), numbering.list_of(pair.personalised)
            aligned = _align(one, other)
            vanilla.append(aligned[0])
            personalised.append(aligned[1])
            shown.append((len(one), len(other)))
            again.append(None if pair.again is None else numbering.list_of(pair.again))
        return cls(
            items=tuple(numbering.items),
            queries=tuple(pair.query for pair in pairs),
            vanilla=tuple(vanilla),
            personalised=tuple(personalised),
            shown=tuple(shown),
            again=tuple(again),
        )

    def __len__(self) -> int:
        return len(self.queries)

    def arrays(self, maps: TopicMaps) -> PairArrays:
        """What the learner takes; ``maps`` has a row for each item."""
        return PairArrays.from_lists(self.vanilla, self.personalised, self._checked(maps))

    def control(self, maps: TopicMaps, queries: NDArray[np.int64], second: NDArray[np.bool_]) -> PairArrays:
        """Vanilla lists against those that the account's are compared with: the second of these queries, or itself."""
        lists = [
            _align(self.vanilla_shown(query), (self.again[query] or ()) if other else self.vanilla_shown(query))
            for query, other in zip(queries.tolist(), second.tolist(), strict=True)
        ]
        return PairArrays.from_lists([one for one, _ in lists], [other for _, other in lists], self._checked(maps))

    @property
    def met(self) -> tuple[Numbers, ...]:
        """The items of each query that any of its lists has, in an order that says nothing."""
        return tuple(tuple(sorted({*held, *(more or ())})) for held, more in zip(self.vanilla, self.again, strict=True))

    def vanilla_shown(self, query: int) -> Numbers:
        """The vanilla list of a query as it was."""
        return self.vanilla[query][: self.shown[query][0]]

    def personalised_shown(self, query: int) -> Numbers:
        """The personalised list of a query as it was."""
        return self.personalised[query][: self.shown[query][1]]

    def _checked(self, maps: TopicMaps) -> TopicMaps:
        if len(maps) != len(self.items):
            raise InputError(f"{len(self.items)} results need as many topic maps, got {len(maps)}")
        return maps


class _Numbering:
    """Gives each distinct result a number, in the order in which they are met."""

    def __init__(self) -> None:
        self.items: list[Result] = []
        self._by_identity: dict[str, int] = {}
        self._by_writing: dict[str, int] = {}

    def list_of(self, results: Sequence[Result]) -> Numbers:
        """The numbers of the results of one list."""
        return tuple(map(self._number, results))

    def _number(self, result: Result) -> int:
        # Most results are met again in the same writing, and to compare addresses takes longer than to look them up.
        number = self._by_writing.get(result.url) if result.url else None
        if number is None:
            number = self._by_identity.setdefault(result.identity, len(self.items))
            if number == len(self.items):
                self.items.append(result)
            if result.url:
                self._by_writing[result.url] = number
        kept = self.items[number]
        if not (kept.title or kept.snippet) and (result.title or result.snippet):
            self.items[number] = result
        return number


def _writing(result: Result) -> tuple[str, str, str]:
    return result.url, result.title, result.snippet


def _align(one: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
    """Both lists over the items of either: what one lacks stands at its end."""
    mine, theirs = set(one), set(other)
    lacking = tuple(item for item in other if item not in mine)
    missed = tuple(item for item in one if item not in theirs)
    return one + lacking, other + missed
