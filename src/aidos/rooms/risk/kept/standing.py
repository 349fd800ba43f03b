"""Where people stand by each kind of measure, kept up to date.

The baselines compare every person with the whole community: one new entry changes how common a word is, and with it the
risk of everybody who has that word. But the risk depends on nothing but which words of the topic somebody has. People
fall into far fewer classes than there are people, most of them into that without any word; so risks are computed anew
for classes, and a rank is a sum over classes. The numbers are those of computing everybody again, to the last digit.

By the topical measures the risks of everybody stand in order: ranks are found by halving, changes by one merge.

Of how a new entry changes the risks by measures of third parties nothing is known. Measures that come with aidos are
kept up to date from what is remembered of each person; for any other one the risks of everybody are computed anew at
every change, from all entries that there are, and kept as they are until the next. So a change costs as much as ranking
by that measure does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.risk.kept.plan import RiskPlan
from aidos.rooms.risk.kernels import merge
from aidos.rooms.risk.measure import BaselineRisk, RiskMeasure
from aidos.rooms.risk.people import People
from aidos.rooms.risk.spaces import PresenceSpace

__all__ = ["Classes", "Holders", "Recomputed", "Standing", "standing_among", "with_changes"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where somebody stands by one measure for one topic; rank 1 is the most exposed."""

    risk: float
    above: int
    """People who are more exposed."""
    equal: int
    """Others with the same risk."""
    people: int
    nearness: float | None = None
    """How near her nearest entry comes to the topic; None where the measure does not tell."""
    silent: bool = False
    """Whether the risk itself says that there is no evidence."""
    least_nearness: float = 0.0
    """What nearness must exceed to be evidence, see `aidos.rooms.risk.measure`."""

    @property
    def has_evidence(self) -> bool:
        """Whether anything of hers is near the topic; without it the rank is a number of the formula, and no more."""
        return not self.silent and (self.nearness is None or self.nearness > self.least_nearness)

    @property
    def best(self) -> int:
        """The best of the places that people of her risk share: the one that sounds most exposed."""
        return self.above + 1

    @property
    def worst(self) -> int:
        """The last of these places."""
        return self.above + self.equal + 1

    @property
    def mean(self) -> float:
        """Their mean."""
        return self.above + 1 + self.equal / 2

    @property
    def percentile(self) -> float:
        """The share of the others who are less exposed, half of her equals among them; 0.5 for one who is alone."""
        return (self.people - self.mean) / (self.people - 1) if self.people > 1 else 0.5


def standing_among(risk: float, ordered: Floats, own: float | None) -> Standing:
    """The standing of a risk among sorted ones, of which ``own`` is not another's and is left out."""
    left, right = (int(np.searchsorted(ordered, risk, side=side)) for side in ("left", "right"))
    above, equal = len(ordered) - right, right - left
    if own is not None:
        above, equal = above - (own > risk), equal - (own == risk)
    others = len(ordered) - (own is not None)
    return Standing(risk=risk, above=above, equal=equal, people=others + 1)


def with_changes(ordered: Floats, gone: Floats, come: Floats) -> Floats:
    """Sorted risks without some that are there, and with others."""
    if len(gone) == len(come) and (gone == come).all():
        return ordered
    found = np.empty(len(ordered) + len(come))
    written = merge(ordered, np.sort(gone), np.sort(come), found)
    if written < 0:
        raise RuntimeError("a risk that should go is not there")
    return found[:written]


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


class Recomputed:
    """The risks of everybody by such measures. It is never changed: a change gives another one."""

    def __init__(self, ids: Sequence[str], risks: Mapping[RiskMeasure, Floats]) -> None:
        """People, and their risks by measure: a row a person, a column a topic."""
        self._rows = {person_id: row for row, person_id in enumerate(ids)}
        self._risks = dict(risks)

    @classmethod
    def of_nobody(cls, plan: RiskPlan) -> Self:
        """Before anybody is there."""
        return cls((), {measure: np.zeros((0, len(plan.topics))) for measure in plan.others})

    @classmethod
    def of(cls, plan: RiskPlan, everybody: People | None, expected: Set[str]) -> Self:
        """Computed from all entries of the people who are expected, and of nobody else."""
        if not plan.others or not expected:
            return cls.of_nobody(plan)
        named = ", ".join(measure.name for measure in plan.others)
        if everybody is None:
            raise ParameterError(
                f"{named} cannot be kept up to date: nothing is known of how a single entry changes it",
                hint="give all entries of everybody, so that it is computed again; or rank without it",
            )
        plan.check_people(everybody)
        ids = [str(name) for name in everybody.ids.to_pylist()]
        if set(ids) != expected:
            raise InputError(
                f"{named} is computed from the entries of everybody, and these are of other people",
                hint="give all entries of all people who are ranked",
            )
        return cls(ids, {measure: _risks(measure, everybody, plan) for measure in plan.others})

    def of_people(self, measure: RiskMeasure, ids: Sequence[str]) -> Floats:
        """The risks of these people, in their order; a column a topic."""
        return self._risks[measure][[self._rows[person_id] for person_id in ids]]

    def ordered(self, measure: RiskMeasure, topic: int) -> Floats:
        """The risks of everybody for one topic, rising."""
        return np.sort(self._risks[measure][:, topic])

    def standing(self, measure: RiskMeasure, topic: int, person_id: str) -> Standing:
        """Where one person stands."""
        own = float(self._risks[measure][self._rows[person_id], topic])
        found = standing_among(own, self.ordered(measure, topic), own)
        return replace(found, silent=measure.zero_is_silence and own == 0)

    def packed(self) -> list[tuple[str, bytes]]:
        """A person and her risks each, measure after measure."""
        together = np.concatenate(list(self._risks.values()), axis=1) if self._risks else np.zeros((0, 0))
        return [(person_id, together[row].tobytes()) for person_id, row in self._rows.items()]

    @classmethod
    def unpacked(cls, rows: Sequence[tuple[str, bytes]], plan: RiskPlan) -> Self:
        """The same back; ValueError where a text is not one of this plan."""
        if not rows:
            return cls.of_nobody(plan)
        together = np.stack([np.frombuffer(text, dtype=np.float64) for _, text in rows])
        if not np.isfinite(together).all():
            raise ValueError("not a risk")
        parts = together.reshape(len(rows), len(plan.others), len(plan.topics))
        return cls([person for person, _ in rows], {one: parts[:, at] for at, one in enumerate(plan.others)})


def _risks(measure: RiskMeasure, everybody: People, plan: RiskPlan) -> Floats:
    found = np.asarray(measure.risk(everybody, plan.topics, plan.models), dtype=np.float64)
    if found.shape != (len(everybody), len(plan.topics)) or not np.isfinite(found).all():
        raise ParameterError(
            f"{measure.name} does not give every person a number for every topic",
            hint="look at the measure: a row a person, a column a topic, all finite",
        )
    return found
