"""What a re-ranker is given and what it gives back.

Relevance is whatever number the search system ranks by, as long as it is not negative and more is better. Subjects are
people, flats, songs: whoever is found. A ranking may hold only some of the subjects that the system knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.core.ranking import Ranking
from aidos.errors import InputError

__all__ = ["Floats", "Ints", "Reranked", "SubjectRanking", "as_subject_ranking"]

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

    def as_ranking(self) -> Ranking:
        """The order alone."""
        return Ranking(self.subject_ids)


def as_subject_ranking(ranking: SubjectRanking | Ranking) -> SubjectRanking:
    """A plain ranking, its scores taken as relevance."""
    if isinstance(ranking, SubjectRanking):
        return ranking
    if not ranking.scores:
        raise InputError("the ranking has no scores", hint="scores are the relevance that attention is to follow")
    return SubjectRanking(subject_ids=ranking.object_ids, relevance=np.asarray(ranking.scores))
