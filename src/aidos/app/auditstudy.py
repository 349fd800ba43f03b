"""The experiments on the audit of hidden profiles from the command line: a world in, tables and a page out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq

from aidos.core.progress import Progress
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import ParameterError
from aidos.report.page import render
from aidos.studies.audit.experiment import run_experiment
from aidos.studies.audit.outcome import Outcome
from aidos.studies.audit.page import AuditStudy, audit_study_page
from aidos.studies.audit.plan import PARTS, AuditExperiment, Part, usual_plan
from aidos.world.size import World

__all__ = ["Asking", "run_audit_study", "write_audit_study"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is tried, on what."""

    size: str
    seed: int
    parts: Sequence[str]
    """All where none are named."""

    @property
    def world(self) -> World:
        """The sample world; ParameterError for sizes that there are not."""
        return World(size=self.size, seed=self.seed)

    def experiment(self) -> AuditExperiment:
        """As the experiment takes it; ParameterError for parts that there are not."""
        if unknown := [part for part in self.parts if part not in PARTS]:
            raise ParameterError(f"there is no part {unknown[0]!r}", hint=f"parts are {', '.join(PARTS)}")
        chosen = tuple(cast("Part", part) for part in dict.fromkeys(self.parts))
        return usual_plan(self.world, chosen or PARTS, seed=self.seed)

    def command(self, output: Path) -> str:
        """What to type to get the same."""
        said = ["aidos evaluate audit", f"--size {self.size} --seed {self.seed}"]
        return " ".join([*said, *(f"--part {part}" for part in self.parts), f"-o {output}"])


def run_audit_study(asked: Asking, output: Path, *, progress: Progress) -> Outcome:
    """Run the experiments, keeping what is done in the directory."""
    return run_experiment(asked.world, asked.experiment(), keep=output, progress=progress)


def write_audit_study(output: Path, outcome: Outcome, *, command: str) -> None:
    """A table for each question, and the page."""
    for name, table in outcome.tables.items():
        with replace_when_done(output / f"{name}.parquet", private=False) as partial:
            pq.write_table(table, partial)
    page = audit_study_page(AuditStudy(outcome=outcome, command=command))
    write_text(output / "report.html", render(page), private=False)
