"""Ranking a community, as a mechanism of the catalogue: which topics, by which measures, so that a recipe can say it.

It is the whole question that `aidos risk rank` asks, and its answer is a `RiskState`: the truth about everybody, which
promises nothing and is for those who are responsible for the people alone.

The ranks of everybody are a table, which `aidos risk rank` writes and takes its first places from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.guarantee import NoGuarantee
from aidos.core.progress import SILENT, Progress
from aidos.errors import ParameterError
from aidos.rooms.risk.measure import RiskMeasure, RiskQuestion, TopicalRisk
from aidos.rooms.risk.measures import find_measure
from aidos.rooms.risk.ranks import Floats, percentiles, rank_people
from aidos.rooms.risk.state import RiskState

__all__ = ["CommunityRanking", "Everybody", "RiskRanking", "everybodys_risks", "ranks_table", "write_ranks"]


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

    @property
    def promise(self) -> NoGuarantee:
        """None: it finds who is exposed, and hides nobody."""
        return NoGuarantee("it ranks people by how exposed they are, and hides nobody")

    def rank(self, data: CommunityRanking) -> RiskState:
        """Everybody's risks, kept so that new entries can be taken in."""
        asked = data.question
        topics = self.topics or asked.topics
        question = RiskQuestion(people=asked.people, topics=topics, models=asked.models)
        return RiskState.of(question, self.chosen(), threads=data.threads, progress=data.progress)


SCHEMA = pa.schema(
    {
        "person": pa.string(),
        "topic": pa.dictionary(pa.int32(), pa.string()),
        "measure": pa.dictionary(pa.int32(), pa.string()),
        "risk": pa.float64(),
        "nearness": pa.float64(),
        "evidence": pa.bool_(),
        "rank": pa.int64(),
        "rank_mean": pa.float64(),
        "rank_worst": pa.int64(),
        "percentile": pa.float64(),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Everybody:
    """The risks of everybody for one topic by one measure, in the order of the register."""

    topic: str
    measure: RiskMeasure
    risks: Floats
    nearness: Floats | None
    """How near the nearest entry of each comes to the topic; None for measures that compare no entries."""
    evidence: NDArray[np.bool_]
    """Whether that is near enough to say anything."""


def everybodys_risks(state: RiskState) -> Iterator[Everybody]:
    """The risks of everybody, measure by measure and topic by topic."""
    if not len(state):
        return
    for measure in state.plan.measures:
        risks, (near, evident) = state.all_risks(measure), state.evidence(measure)
        for at, topic in enumerate(state.plan.topics):
            own = near[:, at] if near is not None and isinstance(measure, TopicalRisk) else None
            yield Everybody(topic=topic, measure=measure, risks=risks[:, at], nearness=own, evidence=evident[:, at])


def ranks_table(state: RiskState) -> pa.Table:
    """The ranks of everybody as one table."""
    parts = [_ranks(state.register.ids, found) for found in everybodys_risks(state)]
    return pa.concat_tables(parts).unify_dictionaries() if parts else SCHEMA.empty_table()


def write_ranks(state: RiskState, path: Path) -> None:
    """Write the ranks of everybody to a Parquet file."""
    with pq.ParquetWriter(path, SCHEMA) as file:
        for found in everybodys_risks(state):
            file.write_table(_ranks(state.register.ids, found))


def _ranks(ids: list[str], found: Everybody) -> pa.Table:
    risks = found.risks
    columns = [
        pa.array(ids, pa.string()),
        pa.array([found.topic] * len(ids), pa.string()).dictionary_encode(),
        pa.array([str(found.measure)] * len(ids), pa.string()).dictionary_encode(),
        pa.array(risks),
        pa.nulls(len(ids), pa.float64()) if found.nearness is None else pa.array(found.nearness),
        pa.array(found.evidence),
        pa.array(rank_people(risks).astype(np.int64)),
        pa.array(rank_people(risks, ties="mean")),
        pa.array(rank_people(risks, ties="worst").astype(np.int64)),
        pa.array(percentiles(risks)),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)
