"""The experiment on risk measures from the command line: a world or judgements in, tables and a page out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

import pyarrow.parquet as pq

from aidos.core.mechanism import Finding
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import InputError, ParameterError
from aidos.report.page import render
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measures import MEASURES, RiskQuestion, TopicalRisk, risks
from aidos.rooms.risk.models import Knowledge
from aidos.rooms.risk.people import read_people
from aidos.studies.risk.experiment import Entries, judged_experiment, sample_experiment
from aidos.studies.risk.judgements import ProfileJudgements
from aidos.studies.risk.outcome import Outcome
from aidos.studies.risk.page import RiskStudy, risk_study_page
from aidos.studies.risk.plan import RiskExperiment
from aidos.studies.risk.sampling import ProfileSampling
from aidos.studies.risk.sheet import write_sheet
from aidos.world.size import World

__all__ = ["Judging", "draw_sheet", "run_judged", "run_sample", "write_study"]

STRENGTH = TopicalRisk(space="lda")
"""Profiles are drawn by the plain strength of interest."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judging:
    """What is tried, with what, and where it is kept."""

    measures: tuple[str, ...]
    """All of the thesis where none are named."""
    sampling: ProfileSampling | None
    models: RiskModels | None
    """Learned where there are none."""
    keep: Path
    threads: int | None
    progress: Progress

    def experiment(self) -> RiskExperiment:
        """As the experiment takes it."""
        return RiskExperiment(measures=self.measures or tuple(MEASURES), sampling=self.sampling)


def run_sample(size: str, seed: int, entries: str, asked: Judging) -> Outcome:
    """All measures against the truth of a sample world."""
    if entries not in get_args(Entries):
        raise ParameterError(f"--entries must be posts or log, got {entries}")
    return sample_experiment(
        World(size=size, seed=seed),
        asked.experiment(),
        entries=cast("Entries", entries),
        models=asked.models,
        keep=asked.keep,
        threads=asked.threads,
        progress=asked.progress,
    )


def run_judged(entries: EmbeddedTable, judgements: Path, asked: Judging) -> Outcome:
    """All measures against what judges say."""
    return judged_experiment(
        entries,
        ProfileJudgements.read(str(judgements)),
        asked.experiment(),
        models=asked.models,
        keep=asked.keep,
        threads=asked.threads,
        progress=asked.progress,
    )


def write_study(output: Path, outcome: Outcome, *, command: str, synthetic: bool) -> None:
    """Tables of every kind, and the page."""
    tables = {"summary": outcome.summary(), "by-topic": outcome.topics(), "comparisons": outcome.comparisons()}
    tables |= {"roles": outcome.roles(), "sweep": outcome.sweep()}
    for name, table in tables.items():
        if table.num_columns:
            with replace_when_done(output / f"{name}.parquet", private=not synthetic) as partial:
                pq.write_table(table, partial)
    source = None if synthetic else Finding(value=outcome, about="the judged people")
    page = risk_study_page(RiskStudy(outcome=outcome, command=command, source=source))
    write_text(output / "report.html", render(page), private=not synthetic)


def draw_sheet(
    path: Path,
    entries: EmbeddedTable,
    topics: Sequence[str],
    knowledge: Knowledge,
    sampling: ProfileSampling,
    *,
    progress: Progress,
) -> int:
    """Draw profiles for judging, more of those who seem exposed, and write the sheet that judges fill in."""
    if not topics:
        raise InputError("no topic is named to be judged", hint="name one or more with --topic")
    people = read_people(entries, analyser=knowledge.latent.analyser)
    question = RiskQuestion(people=people, topics=tuple(topics), models=knowledge.models())
    scores = risks([STRENGTH], question, progress=progress)[STRENGTH]
    names = [str(name) for name in people.ids.to_pylist()]
    drawn = {
        topic: [names[row] for row in sampling.draw(scores[:, at], at).people.tolist()]
        for at, topic in enumerate(question.topics)
    }
    return write_sheet(path, entries, drawn)
