"""A measure as another package would write it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aidos.rooms.risk.measures import RiskMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Loudness(RiskMeasure):
    """How much somebody writes, about anything."""

    name: ClassVar[str] = "loudness"

    factor: float = 1.0
    """What an entry counts."""

    def about(self):
        return "How much somebody writes."

    def risk(self, people, topics, models):
        return self.factor * np.repeat(np.diff(people.person_starts)[:, None], len(topics), axis=1)

    def redrawn(self, people, person, topics, models, draws):
        return np.full((len(draws), len(topics)), self.factor * draws.shape[1])
