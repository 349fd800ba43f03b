"""What a limit of risk costs: discriminating power and risk under each limit, and each algorithm beside the best.

Power and risk are those of spec and paper (excess risk), on seeds that give something away: where there is nothing to
hide nothing is pruned, and every algorithm is as good. For the quality, the exact search finds the best profile of
small seeds; an algorithm's share of its power is averaged over seeds that had to be pruned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.core.topictree import TopicTree
from aidos.errors import ParameterError
from aidos.rooms.shield.profile.decision import ALGORITHMS as PRUNES
from aidos.rooms.shield.profile.prune import stand
from aidos.rooms.shield.profile.seed import SeedProfile
from aidos.studies.ups.cases import draw_case, random_tree
from aidos.studies.ups.plan import ALGORITHMS, UpsExperiment

__all__ = ["QUALITY_LIMITS", "measure_limits", "measure_quality", "random_seeds"]

SMALL_TREE = 50
FEWEST_ASKED, MOST_ASKED = 4, 12
SEED_SIZE = 40
LEAVES = "random, leaves alone"
"""Random trees with queries and documents at leaves only."""
QUALITY_LIMITS = (0.05, 0.1, 0.2, 0.3)
"""Limits at which quality is looked at: at 0 little can stay, and from 0.5 on little has to go."""
TINY = 1e-9


def random_seeds(asked: UpsExperiment, number: int) -> Iterator[SeedProfile]:
    """Seeds of some 40 topics on random trees."""
    stream = np.random.default_rng([asked.seed, 3])
    for _ in range(number):
        yield draw_case(random_tree(3 * SEED_SIZE, stream), stream, size=SEED_SIZE).seed()


def measure_limits(
    asked: UpsExperiment, sources: Mapping[str, Iterable[SeedProfile]], *, progress: Progress = SILENT
) -> pa.Table:
    """A row for each seed with something to hide, limit and algorithm."""
    rows: list[dict[str, Any]] = []
    for source, seeds in sources.items():
        with progress.task(f"limits of risk ({source})", total=None, unit="seeds") as task:
            for number, seed in enumerate(seeds):
                task.advance(1)
                before = stand(seed, np.ones(len(seed), dtype=np.bool_))
                if before.risk <= TINY:
                    continue
                about = {"tree": source, "seed": number, "topics": len(seed)}
                about |= {"power_before": before.power, "risk_before": before.risk}
                rows += [{**about, **row} for row in _limited(seed, asked.limits)]
    if not rows:
        raise ParameterError("no query has anything sensitive in its seed", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


def measure_quality(asked: UpsExperiment, trees: Mapping[str, TopicTree], *, progress: Progress = SILENT) -> pa.Table:
    """A row for each small seed, limit and algorithm; seeds that nothing has to be pruned from are marked."""
    stream = np.random.default_rng([asked.seed, 4])
    rows: list[dict[str, Any]] = []
    grounds = {"random": None, LEAVES: None, **trees}
    with progress.task("looking for the best", total=len(grounds) * asked.small_seeds, unit="seeds") as task:
        for name, given in grounds.items():
            for number in range(asked.small_seeds):
                tree = given or random_tree(SMALL_TREE, stream)
                topics = int(stream.integers(FEWEST_ASKED, MOST_ASKED + 1))
                seed = draw_case(tree, stream, asked=topics, of_leaves=name == LEAVES).seed()
                rows += [{"tree": name, "seed": number, **row} for row in _compared(seed)]
                task.advance(1)
    return pa.Table.from_pylist(rows)


def _limited(seed: SeedProfile, limits: Iterable[float]) -> Iterator[dict[str, Any]]:
    for limit in limits:
        for name in ALGORITHMS:
            found = PRUNES[name](seed, limit, "excess")
            numbers = {"power": found.power, "risk": found.risk, "iterations": found.iterations}
            yield {"limit": limit, "algorithm": name, **numbers, "bare": found.is_root}


def _compared(seed: SeedProfile) -> Iterator[dict[str, Any]]:
    for limit in QUALITY_LIMITS:
        best = PRUNES["exact"](seed, limit, "excess")
        if best.power <= TINY:
            continue
        for name in ALGORITHMS:
            found = PRUNES[name](seed, limit, "excess")
            yield {
                "limit": limit,
                "algorithm": name,
                "topics": len(seed),
                "pruned": bool(best.steps.size),
                "power": found.power,
                "best": best.power,
                "share": found.power / best.power,
            }
