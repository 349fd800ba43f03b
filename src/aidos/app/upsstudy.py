"""The experiments on profile generalisation from the command line: a world and a taxonomy in, tables and a page out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq

from aidos.core.progress import Progress
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import ParameterError
from aidos.model.taxonomies.opened import open_named, searcher
from aidos.report.page import render
from aidos.studies.ups.experiment import run_experiment
from aidos.studies.ups.outcome import Outcome
from aidos.studies.ups.page import UpsStudy, ups_study_page
from aidos.studies.ups.plan import PARTS, Part, UpsExperiment
from aidos.world.size import World

__all__ = ["Asking", "run_ups", "write_ups"]

DEFAULT_NAME = "the default taxonomy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is tried, on what."""

    size: str
    seed: int
    taxonomy: Path | None
    """None for the taxonomy that comes with aidos."""
    parts: Sequence[str]
    """All where none are named."""

    def experiment(self) -> UpsExperiment:
        """As the experiment takes it; ParameterError for parts that there are not."""
        if unknown := [part for part in self.parts if part not in PARTS]:
            raise ParameterError(f"there is no part {unknown[0]!r}", hint=f"parts are {', '.join(PARTS)}")
        chosen = tuple(cast("Part", part) for part in dict.fromkeys(self.parts))
        return UpsExperiment(parts=chosen or PARTS, seed=self.seed)

    def command(self, output: Path) -> str:
        """What to type to get the same."""
        said = ["aidos evaluate ups", f"--size {self.size} --seed {self.seed}"]
        said += [f"--taxonomy {self.taxonomy}"] if self.taxonomy is not None else []
        return " ".join([*said, *(f"--part {part}" for part in self.parts), f"-o {output}"])


def run_ups(asked: Asking, output: Path, *, progress: Progress) -> tuple[Outcome, str]:
    """Run the experiments, keeping what is done in the directory; and a remark about the taxonomy, if there is any."""
    experiment, world = asked.experiment(), World(size=asked.size, seed=asked.seed)
    opened = open_named(asked.taxonomy)
    search, remark = searcher(opened)
    name = DEFAULT_NAME if asked.taxonomy is None else asked.taxonomy.name
    return run_experiment(world, search, experiment, name=name, keep=output, progress=progress), remark


def write_ups(output: Path, outcome: Outcome, *, command: str) -> None:
    """A table for each question, and the page."""
    for name, table in outcome.tables.items():
        if not table.num_columns:
            continue
        with replace_when_done(output / f"{name}.parquet", private=False) as partial:
            pq.write_table(table, partial)
    page = ups_study_page(UpsStudy(outcome=outcome, command=command))
    write_text(output / "report.html", render(page), private=False)
