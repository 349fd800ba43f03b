"""Who is short-changed: attention against relevance for each subject and for each group of subjects.

A deficit is relevance that has not been met by attention, a surplus is attention beyond it.

Intervals of groups are bootstrap percentile intervals over the group's subjects: they say how far the number would move
had other subjects of the same kind been drawn. They do not speak about other queries, and over few subjects they are
too narrow; a group of one subject has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from aidos.core.checks import check_parameters
from aidos.errors import InputError
from aidos.rooms.fairness.rankings import Floats, Ints

__all__ = ["Bootstrap", "Disparity", "Estimate", "GroupDisparity", "SubjectDisparity", "measure_disparity"]

MOST_DRAWN_AT_ONCE = 2_000_000
"""Subjects drawn in one go, which bounds the memory of the bootstrap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectDisparity:
    """One subject's line in the table."""

    subject_id: str
    attention: float
    relevance: float
    difference: float
    """Attention less relevance: negative is owed."""
    ratio: float
    """Attention per relevance; infinite for attention without any relevance, 1 for neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number and the interval around it."""

    value: float
    low: float | None
    high: float | None
    """Ends of the interval; None where there is no telling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDisparity:
    """One group's line in the table."""

    group: str
    subjects: int
    attention: float
    """Sum over its subjects."""
    relevance: float
    difference: Estimate
    """Attention less relevance, of the average subject."""
    ratio: Estimate
    """Attention of the group per relevance of the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How intervals are made."""

    confidence: Annotated[float, Gt(0), Lt(1)] = 0.95
    """Share of such intervals that hold the true number, with many subjects."""
    replicates: Annotated[int, Ge(100)] = 1000
    """How often each group is drawn anew."""
    seed: Annotated[int, Ge(0)] = 0
    """The same seed gives the same intervals."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Disparity:
    """Attention and relevance of every subject, accumulated."""

    subject_ids: Sequence[str]
    attention: Floats
    relevance: Floats

    def __len__(self) -> int:
        return len(self.subject_ids)

    @property
    def difference(self) -> Floats:
        """Attention less relevance."""
        owed: Floats = self.attention - self.relevance
        return owed

    @property
    def ratio(self) -> Floats:
        """Attention per relevance; infinite for attention without any relevance, 1 for neither."""
        return _ratio(self.attention, self.relevance)

    def deficits(self, number: int = 10) -> tuple[SubjectDisparity, ...]:
        """Who is owed most, most first; never anybody who is owed nothing."""
        return tuple(self._line(each) for each in _smallest(self.difference, number))

    def surpluses(self, number: int = 10) -> tuple[SubjectDisparity, ...]:
        """Who got most beyond relevance, most first; never anybody who got no more."""
        return tuple(self._line(each) for each in _smallest(-self.difference, number))

    def by_group(self, groups: Sequence[str], bootstrap: Bootstrap | None = None) -> tuple[GroupDisparity, ...]:
        """One line per group, by name; ``groups`` names each subject's."""
        if len(groups) != len(self):
            raise InputError(f"{len(self)} subjects but {len(groups)} groups", hint="give one group per subject")
        names, members = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
        how = bootstrap or Bootstrap()
        # Each group draws by its own name: its interval does not depend on which other groups there are.
        return tuple(
            _group(str(name), self.attention[members == each], self.relevance[members == each], how)
            for each, name in enumerate(names)
        )

    def _line(self, each: int) -> SubjectDisparity:
        attention, relevance = self.attention[each : each + 1], self.relevance[each : each + 1]
        return SubjectDisparity(
            subject_id=self.subject_ids[each],
            attention=float(attention[0]),
            relevance=float(relevance[0]),
            difference=float(attention[0] - relevance[0]),
            ratio=float(_ratio(attention, relevance)[0]),
        )


def measure_disparity(subject_ids: Sequence[str], attention: Floats, relevance: Floats) -> Disparity:
    """The table of all subjects, from what they received and earned; both finite and not negative."""
    received, earned = np.asarray(attention, dtype=np.float64), np.asarray(relevance, dtype=np.float64)
    if not len(subject_ids) == len(received) == len(earned):
        raise InputError(
            f"{len(subject_ids)} subjects, {len(received)} numbers of attention, {len(earned)} of relevance",
            hint="give one of each per subject",
        )
    for name, values in (("attention", received), ("relevance", earned)):
        if not (np.isfinite(values) & (values >= 0)).all():
            raise InputError(f"{name} is negative or not a finite number for some subject", hint="count rankings anew")
    return Disparity(subject_ids=subject_ids, attention=received, relevance=earned)


def _ratio(attention: Floats, relevance: Floats) -> Floats:
    without = np.where(attention > 0, np.inf, 1.0)
    with np.errstate(over="ignore"):  # a relevance next to nothing is as good as none
        return np.divide(attention, relevance, out=without, where=relevance > 0)


def _smallest(values: Floats, number: int) -> Ints:
    """Indices of the smallest negative values, smallest first, equal ones as they came."""
    below = np.flatnonzero(values < 0)
    return below[np.argsort(values[below], kind="stable")[:number]]


def _group(name: str, attention: Floats, relevance: Floats, how: Bootstrap) -> GroupDisparity:
    number, received, earned = len(attention), float(attention.sum()), float(relevance.sum())
    drawn = np.concatenate(list(_draws(name, attention, relevance, how)), axis=1)
    ratio = float(_ratio(np.array([received]), np.array([earned]))[0])
    return GroupDisparity(
        group=name,
        subjects=number,
        attention=received,
        relevance=earned,
        difference=_estimate((received - earned) / number, (drawn[0] - drawn[1]) / number, how),
        ratio=_estimate(ratio, _ratio(drawn[0], drawn[1]), how),
    )


def _draws(name: str, attention: Floats, relevance: Floats, how: Bootstrap) -> Iterator[Floats]:
    """Sums of attention and of relevance over as many subjects as there are, drawn with replacement; none of one."""
    rng = np.random.default_rng([how.seed, *name.encode()])
    number = len(attention)
    at_once = max(MOST_DRAWN_AT_ONCE // number, 1)
    if number == 1:
        yield np.zeros((2, 0))
        return
    for start in range(0, how.replicates, at_once):
        chosen = rng.integers(number, size=(min(at_once, how.replicates - start), number))
        yield np.stack([attention[chosen].sum(axis=1), relevance[chosen].sum(axis=1)])


def _estimate(value: float, drawn: Floats, how: Bootstrap) -> Estimate:
    if not len(drawn):
        return Estimate(value=value, low=None, high=None)
    tail = (1 - how.confidence) / 2
    # Values that were drawn, not values between them: a ratio may be infinite.
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return Estimate(value=value, low=float(low), high=float(high))
