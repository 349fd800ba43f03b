"""The experiment on critical queries from the command line: a world or judgements in, a summary and a page out."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from aidos.app.console import Common
from aidos.core.mechanism import Finding
from aidos.core.progress import Progress
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import ParameterError
from aidos.report.page import render
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.queries.settings import MEMORY
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.experiment import KEPT, sample_experiment
from aidos.studies.exposure.judged import judged_experiment
from aidos.studies.exposure.judgements import read_judgements
from aidos.studies.exposure.outcome import Outcome
from aidos.studies.exposure.page import CriticalStory, critical_page
from aidos.world.size import World

__all__ = ["run_judged", "run_sample", "write_study"]

SHIPPED = "model that comes along"
OWN = "model"


def run_judged(directory: Path, judgements: Path, model: Path | None, output: Path, *, progress: Progress) -> Outcome:
    """A model against people's judgements."""
    if (output / KEPT).exists():
        raise ParameterError(f"{output} holds an experiment on the sample world", hint="choose another directory")
    store = ExposureStore.open(directory)
    return judged_experiment(store, read_judgements(str(judgements)), _models(model), progress=progress)


def run_sample(
    size: str, seed: int, model: Path | None, output: Path, *, common: Common, progress: Progress
) -> Outcome:
    """The learned ranker, and a model beside it, against the truth of a sample world."""
    world = World(size, seed)
    return sample_experiment(
        world,
        models=_models(model),
        keep=output,
        memory=common.memory or MEMORY,
        threads=common.threads,
        progress=progress,
    )


def write_study(output: Path, outcome: Outcome, *, command: str, synthetic: bool) -> None:
    """The summary as a tidy table, and the page."""
    output.mkdir(parents=True, exist_ok=True, mode=0o777 if synthetic else 0o700)
    with replace_when_done(output / "summary.parquet", private=not synthetic) as partial:
        pq.write_table(outcome.summary(), partial)
    story = CriticalStory(
        outcome=outcome,
        command=command,
        source=None if synthetic else Finding(value=outcome, about="the judged members"),
    )
    write_text(output / "report.html", render(critical_page(story)), private=not synthetic)


def _models(path: Path | None) -> dict[str, CriticalityModel]:
    if path is None:
        return {SHIPPED: CriticalityModel.default()}
    return {OWN: CriticalityModel.load(path)}
