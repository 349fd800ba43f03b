"""The experiments on the audit of hidden profiles (LTP, and what the paper leaves out), by name and repeatable.

Nine parts on four grounds: lists drawn from the model, surrogate engines, lists without any profile, and the sample
world with its personalising service and the default taxonomy. The same world, plan and seed give the same numbers,
times excepted. Finished parts are kept in a directory, if one is given, and not done again there; parts may be added
later.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.model.topics import default_taxonomy
from aidos.model.topicsearch import TopicSearch
from aidos.studies.audit.accounts import measure_accounts, measure_loops
from aidos.studies.audit.engines import Engines
from aidos.studies.audit.outcome import RAW, Facts, Outcome
from aidos.studies.audit.plan import AuditExperiment, usual_plan
from aidos.studies.audit.sampled import measure_recovery, measure_time
from aidos.studies.audit.service import SampleService
from aidos.studies.audit.verdicts import measure_alarms, measure_power
from aidos.studies.risk.shelf import Shelf
from aidos.world.size import World

__all__ = ["run_experiment"]


def run_experiment(
    world: World, asked: AuditExperiment | None = None, *, keep: Path | None = None, progress: Progress = SILENT
) -> Outcome:
    """Run the parts that are asked for; those about accounts on a world."""
    plan = asked or usual_plan(world)
    shelf = Shelf(keep, _fingerprint(world, plan))
    ground = _Ground(world, plan, progress)
    rows = {raw: shelf.table(raw, ground.makers[raw]) for part in plan.parts for raw in RAW[part]}
    about = (
        f"On lists drawn from the model, on {plan.worlds} surrogate "
        f"{'engine' if plan.worlds == 1 else 'engines'}, and with accounts of the sample world of {world.people:,} "
        f"people (seed {world.seed})."
    )
    return Outcome(rows=rows, facts=Facts(about=about, seed=plan.seed, level=plan.level))


class _Ground:
    """Everything that parts share, made when it is first needed."""

    def __init__(self, world: World, asked: AuditExperiment, progress: Progress) -> None:
        self._world, self._asked, self._progress = world, asked, progress
        self._engines = Engines(asked, progress)

    @cached_property
    def service(self) -> SampleService:
        """The sample world's service."""
        return SampleService.of(self._world)

    @cached_property
    def search(self) -> TopicSearch:
        """What finds topics of the default taxonomy, whose topics the sample world has."""
        return TopicSearch(default_taxonomy())

    @property
    def makers(self) -> dict[str, Callable[[], pa.Table]]:
        """How the rows of each name are measured."""
        asked, progress = self._asked, self._progress
        return {
            "samples-learned": partial(measure_recovery, asked, progress=progress),
            "topics-ranked": self._engines.rank_topics,
            "lists-told-apart": self._engines.tell_lists_apart,
            "users-told-apart": self._engines.tell_users_apart,
            "learning-timed": partial(measure_time, asked, progress=progress),
            "nothing-judged": partial(measure_alarms, asked, progress=progress),
            "effects-judged": partial(measure_power, asked, progress=progress),
            "accounts-audited": lambda: measure_accounts(asked, self.service, self.search, progress=progress),
            "loops-run": lambda: measure_loops(asked, self.service, self.search, progress=progress),
        }


def _fingerprint(world: World, asked: AuditExperiment) -> str:
    """What kept results depend on, beside the program."""
    said = json.dumps([asdict(world), asked.identity()], sort_keys=True)
    return sha256(said.encode()).hexdigest()
