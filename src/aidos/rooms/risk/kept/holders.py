"""Who has which words of a topic: people with the same words are one class, which is all that the baselines need.

The baselines compare every person with the whole community: one new entry changes how common a word is, and with it the
risk of everybody who has that word. But the risk depends on nothing but which words of the topic somebody has. People
fall into far fewer classes than there are people, most of them into that without any word; so risks are computed anew
for classes, and a rank is a sum over classes. The numbers are those of computing everybody again, to the last digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.risk.baselines import BaselineRisk
from aidos.rooms.risk.kept.columns import Standing
from aidos.rooms.risk.spaces import PresenceSpace

__all__ = ["Classes", "Holders"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]
Marks: TypeAlias = NDArray[np.bool_]


class Classes:
    """The classes of people that ever were, of one topic; it only grows."""

    def __init__(self, terms: Sequence[str]) -> None:
        """The topic's distinct terms."""
        self.space = PresenceSpace([terms])
        self._places: dict[bytes, int] = {}
        self._marks = np.zeros((len(terms), 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._places)

    def place(self, pattern: bytes) -> int:
        """The number of a class, by the bytes of its marks; one that is new gets the next."""
        place = self._places.setdefault(pattern, len(self._places))
        if place == self._marks.shape[1]:
            more = np.zeros((len(self._marks), max(64, place)), dtype=np.float32)
            self._marks = np.concatenate([self._marks, more], axis=1)
        self._marks[:, place] = np.frombuffer(pattern, dtype=np.bool_)
        return place

    def has(self, number: int) -> NDArray[np.float32]:
        """Which words the first classes have: a row a class, a column a word; columns stand together in memory."""
        return self._marks[:, :number].T


class Holders:
    """How many people there are of each class. It is never changed: a change gives another one."""

    __slots__ = ("_risks", "classes", "counts", "people")

    def __init__(self, classes: Classes, people: Longs, counts: Floats) -> None:
        """The classes; how many people are in each of the first of them; how many have each word."""
        self.classes = classes
        self.people = people
        self.counts = counts
        self._risks: dict[BaselineRisk, Floats] = {}

    @classmethod
    def of_nobody(cls, terms: Sequence[str]) -> Self:
        """Before anybody is there."""
        return cls(Classes(terms), np.zeros(0, dtype=np.int64), np.zeros(len(terms)))

    @property
    def space(self) -> PresenceSpace:
        """The words of the topic."""
        return self.classes.space

    def moved(self, before: Marks, after: Marks) -> Holders:
        """With people gone who had these words, and others there who have those; rows are people."""
        gone, come = _counted(before), _counted(after)
        if gone == come:
            return self
        leaving, coming = ([(self.classes.place(own), number) for own, number in each.items()] for each in (gone, come))
        people = np.zeros(len(self.classes), dtype=np.int64)
        people[: len(self.people)] = self.people
        for place, number in leaving:
            people[place] -= number
        for place, number in coming:
            people[place] += number
        counts = self.counts + after.sum(axis=0, dtype=np.float64) - before.sum(axis=0, dtype=np.float64)
        return Holders(self.classes, people, counts)

    def risks(self, measure: BaselineRisk) -> Floats:
        """The risk of the people of each class; that of a class without people means nothing."""
        if measure not in self._risks:
            has, total = self.classes.has(len(self.people)), int(self.people.sum())
            self._risks[measure] = measure.among(has, self.counts, total, self.space)[:, 0]
        return self._risks[measure]

    def of(self, measure: BaselineRisk, has: Marks) -> Floats:
        """The risks of people with these words, each of whom is counted here."""
        places = [self.classes.place(pattern.tobytes()) for pattern in np.ascontiguousarray(has)]
        return self.risks(measure)[places]

    def ordered(self, measure: BaselineRisk) -> Floats:
        """The risks of everybody, rising."""
        return np.sort(np.repeat(self.risks(measure), self.people))

    def standing(self, measure: BaselineRisk, has: Marks) -> Standing:
        """Where one person with these words stands, who is counted here."""
        risk = float(self.of(measure, has[None])[0])
        risks = self.risks(measure)
        above, same = (int(self.people[mask].sum()) for mask in (risks > risk, risks == risk))
        return Standing(risk=risk, above=above, equal=same - 1, people=int(self.people.sum()))


def _counted(has: Marks) -> Counter[bytes]:
    """The classes of people, a row each, and how many are in each."""
    return Counter(pattern.tobytes() for pattern in np.ascontiguousarray(has))
