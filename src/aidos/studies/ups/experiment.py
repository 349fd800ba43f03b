"""The experiments on profile generalisation (Shou et al. 2014, and what the paper leaves out), by name and repeatable.

Five parts on three grounds: random trees, a taxonomy, and the people of a sample world with the profiles and queries
that they have on it. The same world, taxonomy, plan and seed give the same numbers, times excepted. Finished parts are
kept in a directory, if one is given, and not done again there; parts may be added later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.model.taxonomies.cache import digest_of
from aidos.model.topicsearch import TopicSearch
from aidos.studies.risk.shelf import Shelf
from aidos.studies.ups.cost import measure_growth, measure_speed
from aidos.studies.ups.eavesdropping import (
    Watched,
    made_up_people,
    measure_one_session,
    measure_sessions,
    risky_seeds,
    watched_searchers,
)
from aidos.studies.ups.outcome import RAW, Facts, Outcome
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.ranking import measure_reranking
from aidos.studies.ups.searchers import Society, gather_society
from aidos.studies.ups.tradeoff import measure_limits, measure_quality, random_seeds
from aidos.world.size import World

__all__ = ["GIVEN", "PEOPLE", "run_experiment"]

GIVEN = "taxonomy"
"""What the taxonomy that was given is called in tables."""
PEOPLE, MADE_UP = "sample world", "made-up"
"""What the two kinds of people are called."""
RANDOM_SEEDS = 40
"""Seeds on random trees that limits are tried on."""


def run_experiment(  # noqa: PLR0913 - on what, what, and where it is kept
    world: World,
    search: TopicSearch,
    asked: UpsExperiment | None = None,
    *,
    name: str = "the default taxonomy",
    keep: Path | None = None,
    progress: Progress = SILENT,
) -> Outcome:
    """Run the parts that are asked for, on a world and the taxonomy of ``search``, which is called ``name``."""
    plan = asked or UpsExperiment()
    shelf = Shelf(keep, _fingerprint(world, search, plan))
    ground = _Ground(world, search, plan, progress)
    rows = {raw: shelf.table(raw, ground.makers[raw]) for part in plan.parts for raw in RAW[part]}
    about = (
        f"On random trees, on {name} ({len(search.tree):,} topics), and with searchers of the sample world of "
        f"{world.people:,} people (seed {world.seed})."
    )
    facts = Facts(about=about, taxonomy=name, topics=len(search.tree), seed=plan.seed, usual_limit=plan.usual_limit)
    return Outcome(rows=rows, facts=facts)


class _Ground:
    """Everything that parts share, made when it is first needed."""

    def __init__(self, world: World, search: TopicSearch, asked: UpsExperiment, progress: Progress) -> None:
        self._world, self._search, self._asked, self._progress = world, search, asked, progress

    @cached_property
    def society(self) -> Society:
        """The searchers."""
        return gather_society(self._world, self._search, self._asked, progress=self._progress)

    @property
    def makers(self) -> dict[str, Callable[[], pa.Table]]:
        """How the rows of each name are measured."""
        asked, progress, trees = self._asked, self._progress, {GIVEN: self._search.tree}
        return {
            "seeds-timed": partial(measure_speed, asked, trees, progress=progress),
            "taxonomies-timed": partial(measure_growth, asked, progress=progress),
            "limits-tried": self._limits,
            "best-compared": partial(measure_quality, asked, trees, progress=progress),
            "queries-watched": lambda: measure_one_session(asked, self._watched(), progress=progress),
            "months-watched": lambda: measure_sessions(asked, self._watched(), progress=progress),
            "lists-ordered": lambda: measure_reranking(asked, self.society, progress=progress),
        }

    def _watched(self) -> dict[str, Iterable[Watched]]:
        return {PEOPLE: watched_searchers(self.society), MADE_UP: made_up_people(self._asked)}

    def _limits(self) -> pa.Table:
        seeds = {
            "random": random_seeds(self._asked, RANDOM_SEEDS),
            PEOPLE: risky_seeds(watched_searchers(self.society)),
        }
        return measure_limits(self._asked, seeds, progress=self._progress)


def _fingerprint(world: World, search: TopicSearch, asked: UpsExperiment) -> str:
    """What kept results depend on, beside the program."""
    said = json.dumps([asdict(world), digest_of(search.taxonomy), asked.identity()], sort_keys=True)
    digest = sha256(said.encode())
    digest.update(search.tree.supports.tobytes())
    return digest.hexdigest()
