"""What the experiment on risk measures tries: which measures, and which of their parameters are varied."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.rooms.risk.measures import MEASURES, RiskMeasure, TopicalRisk, find_measure
from aidos.studies.risk.learning import Learning
from aidos.studies.risk.sampling import ProfileSampling

__all__ = ["RiskExperiment", "Varied", "label"]

Varied = tuple[RiskMeasure, tuple[str, float] | None]
"""A measure, and which parameter was varied to which value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskExperiment:
    """What is tried."""

    measures: tuple[str, ...] = tuple(MEASURES)
    """Measures by name, with parameters if they are not the usual ones."""
    breadths: tuple[Annotated[float, Gt(0), Le(1)], ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    """Shares of a domain that are tried in measures with D (k); empty to vary nothing."""
    recurrings: tuple[Annotated[int, Ge(1)], ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    """Numbers of time buckets that are tried in measures with T (m); empty to vary nothing."""
    sampling: ProfileSampling | None = None
    """How profiles are drawn; everybody counts if unset. Where judges chose, only judged profiles count anyway."""
    learning: Learning = field(default_factory=Learning)
    """How models are learned where none are given."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.measures:
            raise ParameterError("RiskExperiment: give at least one measure")
        self.groups()

    def groups(self) -> dict[str, list[Varied]]:
        """Measures that share work, by the name of what they share; first as they are, then varied."""
        found: dict[str, list[Varied]] = {}
        for measure in dict.fromkeys(map(find_measure, self.measures)):
            name = measure.space if isinstance(measure, TopicalRisk) else "baselines"
            found.setdefault(name, []).append((measure, None))
        for group in found.values():
            group += [one for measure, _ in list(group) for one in self._varied(measure)]
        return found

    def _varied(self, measure: RiskMeasure) -> list[Varied]:
        if not isinstance(measure, TopicalRisk) or label(measure) != measure.name:
            return []
        breadths = self.breadths if measure.domain else ()
        recurrings = self.recurrings if measure.time else ()
        return [
            *((replace(measure, breadth=value), ("breadth", value)) for value in breadths),
            *((replace(measure, recurring=value), ("recurring", float(value))) for value in recurrings),
        ]


def label(measure: RiskMeasure) -> str:
    """The name of a measure, with its parameters only where they are not the usual ones."""
    return measure.name if MEASURES.get(measure.name) == measure else str(measure)
