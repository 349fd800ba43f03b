"""What a risk measure is: parameters that give every person a number for a sensitive topic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.people import People

__all__ = ["RiskMeasure", "RiskQuestion"]

Floats: TypeAlias = NDArray[np.float64]
Longs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskQuestion:
    """Who is ranked, by which topics, with which knowledge."""

    people: People
    topics: tuple[str, ...]
    """Names of sensitive topics."""
    models: RiskModels


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskMeasure(ABC):
    """What maps a person and a topic to a number. A subclass has a ``name`` and says what the two methods do."""

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called when printed."""

    @property
    def needs_times(self) -> bool:
        """Whether it cannot be computed from entries without times."""
        return False

    @abstractmethod
    def about(self) -> str:
        """What it measures, in one sentence."""

    @abstractmethod
    def risk(self, people: People, topics: Sequence[str], models: RiskModels) -> Floats:
        """A row for every person and a column for every topic."""

    @abstractmethod
    def redrawn(self, people: People, person: int, topics: Sequence[str], models: RiskModels, draws: Longs) -> Floats:
        """The risks of one person had she other entries, a row for every row of ``draws``, and all others the same.

        A row of draws names entries of hers, counted from 0, each as often as it is drawn.
        """

    def settings(self) -> dict[str, object]:
        """The parameters that matter for it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002
        """None: it finds who is exposed, and hides nobody."""
        return NoGuarantee("it ranks people by how exposed they are, and hides nobody")

    def run(self, data: RiskQuestion, noise: Noise) -> Floats:  # noqa: ARG002
        """The same as `risk`; nothing is random."""
        return self.risk(data.people, data.topics, data.models)

    def __str__(self) -> str:
        said = ",".join(f"{key}={value}" for key, value in self.settings().items())
        return f"{self.name}:{said}" if said else self.name
