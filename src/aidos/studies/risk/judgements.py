"""Judgements of profiles: whether somebody suspects, from what a person wrote, that a sensitive topic is hers.

A file has a row for each judge and profile, with the columns author_id (or client_id, or person), topic, judge and
relevance; see `aidos.studies.judged`. A person is sensitive to a topic where the mean over her judges is above one
half, as in the thesis (section 6.5.1.5), or where more than half of them gave more than 0 ("majority"): with yes and no
both are the same. NDCG takes the mean itself. Profiles that nobody judged do not count at all, neither way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.studies.judged import JudgedItems, read_judged

__all__ = ["ProfileJudgements", "Rule"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rule = Literal["mean", "majority"]
"""When judges make a person sensitive."""
NAMES = {"client_id": "author_id", "person": "author_id"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProfileJudgements:
    """Judged profiles, as a table of people by topics."""

    people: tuple[str, ...] = field(repr=False)
    """Who was judged on any topic, in the order of the file."""
    topics: tuple[str, ...]
    """What was judged, in the order of the file."""
    grades: Floats = field(repr=False)
    """Mean relevance, a row a person and a column a topic; not a number where nobody judged."""
    sensitive: Flags = field(repr=False)
    """Whether judges find the person sensitive; false where nobody judged."""
    kappa: float
    """Agreement of the judges (Fleiss)."""
    judges: int

    @classmethod
    def read(cls, path: str, *, rule: Rule = "mean") -> Self:
        """Read files of judgements (a name or a pattern); InputError with all problems that they have."""
        return cls.of_items(read_judged(path, ("author_id", "topic"), also=NAMES), rule=rule)

    @classmethod
    def of_items(cls, judged: JudgedItems, *, rule: Rule = "mean") -> Self:
        """From items that are named by a person and a topic."""
        if rule not in ("mean", "majority"):
            raise InputError(f"{rule!r} is no rule", hint="take mean or majority")
        people = {person: row for row, person in enumerate(dict.fromkeys(item[0] for item in judged.items))}
        topics = {topic: column for column, topic in enumerate(dict.fromkeys(item[1] for item in judged.items))}
        grades = np.full((len(people), len(topics)), np.nan)
        sensitive = np.zeros(grades.shape, dtype=np.bool_)
        holds = judged.means > 0.5 if rule == "mean" else 2 * judged.positive > judged.judged
        for (person, topic), grade, is_so in zip(judged.items, judged.means, holds, strict=True):
            grades[people[person], topics[topic]] = grade
            sensitive[people[person], topics[topic]] = is_so
        return cls(
            people=tuple(people),
            topics=tuple(topics),
            grades=grades,
            sensitive=sensitive,
            kappa=judged.kappa,
            judges=judged.judges,
        )

    def among(self, ids: Sequence[str]) -> tuple[Floats, Flags, int]:
        """Grades and sensitivity in the order of these people, and how many judged profiles are of none of them."""
        rows = {person: row for row, person in enumerate(self.people)}
        places = np.array([rows.get(person, -1) for person in ids], dtype=np.int64)
        known = places >= 0
        grades = np.full((len(ids), len(self.topics)), np.nan)
        sensitive = np.zeros(grades.shape, dtype=np.bool_)
        grades[known], sensitive[known] = self.grades[places[known]], self.sensitive[places[known]]
        unknown = int(np.isfinite(self.grades).sum() - np.isfinite(grades).sum())
        return grades, sensitive, unknown
