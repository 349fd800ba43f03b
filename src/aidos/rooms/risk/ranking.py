"""Ranking a community, as a mechanism of the catalogue: which topics, by which measures, so that a recipe can say it.

It is the whole question that `aidos risk rank` asks, and its answer is a `RiskState`: the truth about everybody, which
promises nothing and is for those who are responsible for the people alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.mechanism import PublicFacts
from aidos.core.noise import Noise
from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.rooms.risk.measure import RiskMeasure, RiskQuestion
from aidos.rooms.risk.measures import find_measure
from aidos.rooms.risk.state import RiskState

__all__ = ["CommunityRanking", "RiskRanking"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommunityRanking:
    """What is ranked: people, the topics that can be measured, and what the adversary knows."""

    question: RiskQuestion
    threads: int | None = None
    """All cores where it is None."""
    progress: Progress = SILENT


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRanking:
    """Ranks people by their exposure to sensitive topics, as a rational adversary would."""

    topics: tuple[str, ...] = ()
    """Sensitive topics by name; all that can be measured where none are named."""
    measures: tuple[str, ...] = ("lda-dt",)
    """How risk is measured, as measures print: lda-dt, or lda-dt:recurring=4."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.measures:
            raise ParameterError("RiskRanking: at least one measure is needed", hint="lda-dt is the usual one")
        self.chosen()

    def chosen(self) -> tuple[RiskMeasure, ...]:
        """The measures as values, each once."""
        return tuple(dict.fromkeys(map(find_measure, self.measures)))

    def guarantee(self, facts: PublicFacts) -> NoGuarantee:  # noqa: ARG002
        """None: it finds who is exposed, and hides nobody."""
        return NoGuarantee("it ranks people by how exposed they are, and hides nobody")

    def run(self, data: CommunityRanking, noise: Noise) -> RiskState:  # noqa: ARG002
        """Everybody's risks, kept so that new entries can be taken in; nothing is random."""
        asked = data.question
        topics = self.topics or asked.topics
        question = RiskQuestion(people=asked.people, topics=topics, models=asked.models)
        return RiskState.of(question, self.chosen(), threads=data.threads, progress=data.progress)
