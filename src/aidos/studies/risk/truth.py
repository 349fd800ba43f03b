"""Who is sensitive to which topic: as judges say, or as the sample world knows.

In the world the people of a topic are the afflicted ones; professionals and curious people of the topic are those whom
a good measure should not take for afflicted. Among the posts of its open community only people with a post can be
ranked; an afflicted person who writes about her trouble in the anonymous community alone counts as afflicted all the
same, and cannot be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.studies.risk.profiles import ProfileJudgements, ProfileSampling
from aidos.world.names import client_texts
from aidos.world.people import ROLES, block_count, people_block
from aidos.world.size import World
from aidos.world.vocabulary import build_vocabulary

__all__ = ["AFFLICTED", "WATCHED", "Truth"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

AFFLICTED = "afflicted"
WATCHED = (AFFLICTED, "professional", "curious")
"""Roles whose places in the ranking are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Truth:
    """A row for each person who is ranked, a column for each topic."""

    topics: tuple[str, ...]
    grades: Floats = field(repr=False)
    """How sensitive, from 0 on; not a number where nobody knows: such people are left out for the topic."""
    sensitive: Flags = field(repr=False)
    roles: Mapping[str, Flags] = field(default_factory=dict, repr=False)
    """Who has each role of `WATCHED` with regard to each topic; empty where it is not known."""

    @classmethod
    def of_world(cls, world: World, ids: Sequence[str]) -> Self:
        """The truth about these people of a world, everybody known."""
        vocabulary = build_vocabulary(world)
        first = vocabulary.ordinary
        found: dict[str, tuple[int, int]] = {}
        for block in range(block_count(world)):
            people = people_block(world, vocabulary, block)
            special = people.roles > 0
            names = map(str, client_texts(people.numbers[special]).to_pylist())
            about = zip(people.roles[special].tolist(), (people.role_topics[special] - first).tolist(), strict=True)
            found |= dict(zip(names, about, strict=True))
        shape = (len(ids), len(vocabulary.sensitive))
        roles = {role: np.zeros(shape, dtype=np.bool_) for role in WATCHED}
        for row, person in enumerate(ids):
            if person in found:
                role, topic = found[person]
                roles[ROLES[role]][row, topic] = True
        return cls(
            topics=tuple(vocabulary.topics[topic].id for topic in vocabulary.sensitive),
            grades=roles[AFFLICTED].astype(np.float64),
            sensitive=roles[AFFLICTED],
            roles=roles,
        )

    @classmethod
    def of_judgements(cls, judgements: ProfileJudgements, ids: Sequence[str]) -> Self:
        """What judges say about these people."""
        grades, sensitive, _ = judgements.among(ids)
        return cls(topics=judgements.topics, grades=grades, sensitive=sensitive)

    def select(self, topics: Sequence[str]) -> Self:
        """Only these topics, in this order."""
        columns = [self.topics.index(topic) for topic in topics]
        return replace(
            self,
            topics=tuple(topics),
            grades=self.grades[:, columns],
            sensitive=self.sensitive[:, columns],
            roles={role: flags[:, columns] for role, flags in self.roles.items()},
        )

    def sampled(self, sampling: ProfileSampling, scores: Floats) -> Self:
        """The same where only sampled profiles are known, drawn for each topic by the scores of people."""
        kept = np.full(self.grades.shape, np.nan)
        for column in range(len(self.topics)):
            drawn = sampling.draw(scores[:, column], column).people
            kept[drawn, column] = self.grades[drawn, column]
        return replace(self, grades=kept, sensitive=self.sensitive & np.isfinite(kept))
