"""The papers' experiments from the command line: data in, tidy results and a page out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aidos.core.mechanism import Finding
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.files import replace_when_done, write_text
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.report.page import render
from aidos.rooms.shield.mediator.measures import Measured
from aidos.rooms.shield.mediator.page import MediatorStory, Setting, mediator_page
from aidos.studies.mediator.derivation import Derivation, index_answers
from aidos.studies.mediator.experiment import MediatorExperiment
from aidos.studies.mediator.outcome import OWN_ACCOUNT, THESIS, Outcome
from aidos.studies.mediator.posts import write_posts
from aidos.studies.mediator.searches import Searches
from aidos.studies.mediator.world import thesis_world

__all__ = ["MediatorData", "mediator_settings", "run_mediator", "write_mediator"]

SHOWN = {"entropy", "overlap", "coherence_loss", "least_divergence", "kendall_loss", "jaccard_loss"}
TABLE = ("entropy", "coherence_loss", "least_divergence", "kendall_loss")
"""The columns of the thesis' table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediatorData:
    """Where questions and answers come from."""

    posts: Sequence[str] = ()
    """Files of posts; the world of the thesis, made up, if there are none."""
    derivation: Derivation
    queries_per_person: int | None
    """Queries of each person that are searched; None for all."""
    seed: int
    options: ReadOptions


def run_mediator(
    data: MediatorData, experiment: MediatorExperiment, keep: Path, *, engine: EmbeddedEngine, progress: Progress
) -> Outcome:
    """Derive the log, search, assign and measure; what is done is kept in the directory and not done again."""
    if data.posts:
        posts = read_files(engine, data.posts, data.options).table
    else:
        posts = engine.table(write_posts(thesis_world(data.seed), data.seed))
    index = index_answers(posts, progress=progress)
    log = data.derivation.derive(posts, index, progress=progress)
    searches = Searches(log, index, queries_per_person=data.queries_per_person, seed=data.seed, progress=progress)
    return experiment.run(log.objects, searches, keep=keep, progress=progress)


def mediator_settings(outcome: Outcome) -> list[Setting]:
    """Means of every setting that mediates."""
    settings = []
    for heuristic, alpha in outcome.settings():
        if alpha is None:
            continue
        held = outcome.of(heuristic, alpha)
        means = {name: float(np.nanmean(held[name].to_numpy())) for name in SHOWN}
        means["linked"] = float(np.nanmean(held["linked_1"].to_numpy()))
        settings.append(Setting(heuristic=heuristic, alpha=alpha, means=means))
    return settings


def write_mediator(directory: Path, outcome: Outcome, *, accounts: int | None, synthetic: bool, command: str) -> None:
    """The summary as a tidy table, and the page; as many accounts as people if none are given."""
    with replace_when_done(directory / "summary.parquet", private=True) as partial:
        pq.write_table(outcome.summary(), partial)
    settings = mediator_settings(outcome)
    chosen = settings[len(settings) // 2]
    people = _measured(outcome.of(chosen.heuristic, chosen.alpha))
    asked, asking = int(people.objects.sum()), len(people.objects)
    story = MediatorStory(
        lead=f"The thesis' experiment: {asked:,} queries of {asking:,} people, made from questions.",
        settings=tuple(settings),
        chosen=chosen,
        people=people,
        accounts=accounts or int(outcome.of(OWN_ACCOUNT, None).num_rows),
        reference=tuple(
            (alpha, dict(zip(TABLE, told, strict=True))) for alpha, told in THESIS.items() if alpha is not None
        ),
        source=None if synthetic else Finding(value=outcome, about="the people who asked"),
        command=command,
    )
    write_text(directory / "report.html", render(mediator_page(story)), private=not synthetic)


def _measured(held: pa.Table) -> Measured:
    return Measured(**{field.name: held[field.name].to_numpy() for field in fields(Measured)})
