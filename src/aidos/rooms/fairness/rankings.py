"""What a re-ranker is given and what it gives back, and what a policy inside it sees and answers.

Relevance is whatever number the search system ranks by, as long as it is not negative and more is better. Subjects are
people, flats, songs: whoever is found. A ranking may hold only some of the subjects that the system knows.

A `Standing` is where everybody stands when a ranking comes in. Subjects are listed by relevance, best first, equal ones
as they came. A policy places subjects on the positions that get attention; behind them the others follow by relevance.
It knows neither names nor files.

Shares of relevance and what a result adds to DCG are two scales that are kept apart. Fairness compares attention with
relevance normalised to sum 1 over the ranking, since attention does so too. Quality is DCG, whose gain 2^relevance - 1
depends on the scale of relevance. The equity-of-attention paper puts the normalised relevance there, where the gain is
nearly linear; that is the default. On raw ratings of 0 to 100 the gain would double with every point and one rating
point would decide everything, so no such scale is offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, log
from typing import Protocol, assert_never

import numpy as np
from numpy.typing import NDArray

from aidos.core.ranking import Ranking
from aidos.errors import InputError, ParameterError

__all__ = [
    "Floats",
    "Gain",
    "Ints",
    "Policy",
    "Reranked",
    "Standing",
    "SubjectRanking",
    "as_subject_ranking",
    "discounts",
    "gains",
    "normalise",
    "quality",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubjectRanking:
    """Subjects with their relevance for one query, checked; the order given does not matter except among equals."""

    subject_ids: Sequence[str]
    relevance: Floats
    """One number per subject: finite, not negative, not all zero."""
    ranking_id: str = ""
    """Served rankings are counted once by this name; without one every call counts."""
    query_id: str = ""
    searcher_id: str = ""
    """Who searched; only needed to balance quality among searchers."""
    actors: Sequence[str] = ()
    """Who stands behind each subject (host, brand, domain); one per subject, or none at all."""
    groups: Sequence[str] = ()
    """Each subject's group, for methods and reports that look at groups; one per subject, or none at all."""
    place: str = ""
    """Where it was read, for error messages: a file and a line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "relevance", np.ascontiguousarray(self.relevance, dtype=np.float64))
        if wrong := self._what_is_wrong():
            raise InputError(f"{self.called}: {wrong[0]}", hint=wrong[1])

    def __len__(self) -> int:
        return len(self.subject_ids)

    @property
    def called(self) -> str:
        """How messages speak of it."""
        name = f"ranking {self.ranking_id}" if self.ranking_id else "a ranking"
        return f"{self.place}: {name}" if self.place else name

    def _what_is_wrong(self) -> tuple[str, str] | None:
        number, values = len(self.subject_ids), self.relevance
        if values.ndim != 1 or len(values) != number:
            return f"{number} subjects but {values.size} relevances", "give one relevance per subject"
        if number == 0:
            return "it has no subjects", "leave empty rankings out"
        for name in ("actors", "groups"):
            if len(getattr(self, name)) not in {0, number}:
                return f"{number} subjects but {len(getattr(self, name))} {name}", "give one per subject, or none"
        if len(set(self.subject_ids)) != number:
            return "a subject stands in it twice", "keep each subject once, for example with its best relevance"
        # One pass says that everything is in order; only what is not is looked at closely.
        least, total = float(values.min()), float(values.sum())
        if least >= 0 and 0 < total < np.inf:
            return None
        return _wrong_values(values)


def _wrong_values(values: Floats) -> tuple[str, str]:
    hint = "relevance is a finite number, not negative, and above 0 for at least one subject"
    for bad, words in ((np.isnan(values), "not a number"), (np.isinf(values), "infinite"), (values < 0, "negative")):
        if bad.any():
            return f"the relevance of subject {int(bad.argmax()) + 1} of {len(values)} is {words}", hint
    return "the relevance of every subject is 0" if not values.any() else "the relevances are too large to add", hint


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reranked:
    """A ranking as it is to be served, and what that does."""

    subject_ids: tuple[str, ...]
    """All subjects, in the order to be served."""
    relevance: Floats = field(repr=False)
    """Of the subjects, in the same order, as it was given."""
    attention: Floats = field(repr=False)
    """What the first positions receive; sums to 1."""
    quality: float
    """NDCG-quality against the order by relevance; 1 is as good."""
    unfairness: float
    """Sum over all subjects of |attention - relevance|, accumulated, after this ranking."""
    ranking_id: str = ""
    query_id: str = ""
    searcher_id: str = ""
    replayed: bool = False
    """The ranking had been served before: this is the same answer again, and nothing was counted."""

    def __len__(self) -> int:
        return len(self.subject_ids)


def as_subject_ranking(ranking: SubjectRanking | Ranking) -> SubjectRanking:
    """A plain ranking, its scores taken as relevance."""
    if isinstance(ranking, SubjectRanking):
        return ranking
    if not ranking.scores:
        raise InputError("the ranking has no scores", hint="scores are the relevance that attention is to follow")
    return SubjectRanking(subject_ids=ranking.object_ids, relevance=np.asarray(ranking.scores))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standing:
    """One ranking and the accounts of those in it, as arrays over its subjects in the order of relevance."""

    relevance: Floats
    """Of this ranking; sums to 1 and never rises."""
    gains: Floats
    """What a subject adds to DCG; never rises."""
    attention: Floats
    """Of the positions, first to last, no more than there are subjects; sums to 1. Positions beyond get nothing."""
    received: Floats
    """Attention accumulated before this ranking (A), by the account that the subject belongs to."""
    earned: Floats
    """Relevance accumulated, this ranking included (R + r), by the same account."""
    quality_floor: float = 0.0
    """Share of the original DCG that must remain."""
    accounts: Ints | None = None
    """Whose account each subject belongs to, where several subjects of the ranking share one."""
    groups: Ints | None = None
    """Group of each subject, where groups are known."""
    rankings: int = 0
    """Served before this one."""
    known: int = 0
    """Accounts in all, those in this ranking included."""
    unfairness: float = 0.0
    """Sum over all accounts of |received - earned|, were nobody given attention now."""

    @property
    def balance(self) -> Floats:
        """Attention received less relevance earned: negative is owed (D)."""
        owed: Floats = self.received - self.earned
        return owed


class Policy(Protocol):
    """A way to answer."""

    def place(self, standing: Standing) -> Ints:
        """Index (by relevance) of the subject on each position that gets attention."""
        ...


def discounts(positions: int) -> Floats:
    """Weights of the first positions in DCG: 1 / log2(position + 1)."""
    return 1.0 / np.log2(np.arange(2, positions + 2))


def quality(standing: Standing, placed: Ints) -> float:
    """NDCG-quality: DCG of the placed subjects as a share of the DCG of the order by relevance."""
    positions = len(placed)
    weights = discounts(positions)
    best = float(weights @ standing.gains[:positions])
    return float(weights @ standing.gains[placed]) / best if best > 0 else 1.0


LOG_2 = log(2)


class Gain(StrEnum):
    """What a subject's relevance is worth in DCG."""

    PAPER = "paper"
    """2^r - 1 with r normalised to sum 1 over the ranking."""
    LINEAR = "linear"
    """Relevance as a share of the top of the scale."""
    EXPONENTIAL_1 = "exponential-1"
    """2^r - 1 with r from 0 to 1 at the top of the scale."""
    EXPONENTIAL_5 = "exponential-5"
    """2^r - 1 with r from 0 to 5 at the top of the scale, as with grades of judges."""


def normalise(relevance: Floats) -> Floats:
    """Relevance divided by its sum."""
    total = float(relevance.sum())
    if not 0 < total < inf:
        raise InputError(
            "relevance does not sum to a positive, finite number",
            hint="relevance is a finite number, not negative, and above 0 for at least one subject",
        )
    shares: Floats = relevance / total
    return shares


def gains(relevance: Floats, gain: Gain | str = Gain.PAPER, top: float | None = None) -> Floats:
    """What each subject adds to DCG before the discount of its position.

    ``top`` is the top of the scale of relevance: the ranking's largest unless given. The paper's gain has no scale.
    """
    match _known(gain):
        case Gain.PAPER:
            if top is not None:
                raise ParameterError("the paper's gain has no top of the scale", hint="leave it out, or take linear")
            return _exponential(normalise(relevance), 1)
        case Gain.LINEAR:
            return _graded(relevance, top)
        case Gain.EXPONENTIAL_1:
            return _exponential(_graded(relevance, top), 1)
        case Gain.EXPONENTIAL_5:
            return _exponential(_graded(relevance, top), 5)
        case unknown:
            assert_never(unknown)


def _exponential(grades: Floats, largest: int) -> Floats:
    """2^(largest * grade) - 1, in the memory of the grades."""
    grades *= largest * LOG_2
    return np.expm1(grades, out=grades)


def _graded(relevance: Floats, top: float | None) -> Floats:
    """Relevance from 0 to 1 at the top of the scale."""
    largest = float(relevance.max(initial=0.0))
    if top is not None and not 0 < top < inf:
        raise ParameterError(f"the top of the scale must be finite and greater than 0, got {top}")
    if top is not None and largest > top:
        above = int((relevance > top).sum())
        raise InputError(
            f"the relevance of {above} of {len(relevance)} subjects is above the top of the scale, {top:g}",
            hint="give the top of the scale that relevance is measured on, or leave it out",
        )
    scale = largest if top is None else top
    if not 0 < scale < inf:
        raise InputError("no relevance is above 0 and finite", hint="one subject at least must be relevant")
    grades: Floats = relevance / scale
    return grades


def _known(gain: Gain | str) -> Gain:
    try:
        return Gain(gain)
    except ValueError:
        raise ParameterError(f"no gain is called {gain!r}", hint=f"there are {', '.join(Gain)}") from None
