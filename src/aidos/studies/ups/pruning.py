"""What pruning a seed costs and keeps: iterations and times, power and risk under each limit, and the best there is.

Times are of one decision from the query's topics on: making the seed, and pruning it at the usual limit. The mapping of
query words to topics is measured by ``benchmarks/ups.py``, with real words. Whatever else the machine does is in the
times; medians over the trials take most of it out. GreedyDP is left out where seeds are larger than 100 topics.

Power and risk are those of spec and paper (excess risk), on seeds that give something away: where there is nothing to
hide nothing is pruned, and every algorithm is as good. For the quality, the exact search finds the best profile of
small seeds; an algorithm's share of its power is averaged over seeds that had to be pruned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.core.topictree import TopicTree
from aidos.errors import ParameterError
from aidos.rooms.shield.profile.decision import ALGORITHMS as PRUNES
from aidos.rooms.shield.profile.prune import stand
from aidos.rooms.shield.profile.seed import SeedProfile
from aidos.studies.ups.cases import Case, draw_case, random_tree
from aidos.studies.ups.plan import ALGORITHMS, PLAIN_RISE, UpsExperiment

__all__ = ["measure_growth", "measure_limits", "measure_quality", "measure_speed", "random_seeds"]

ROOMY = 3
"""Topics of a random tree for each topic of the seed."""
ASKED = 20
"""Topics of a query, which is as many as the mapping of queries finds."""
SMALL_TREE = 50
FEWEST_ASKED, MOST_ASKED = 4, 12
SEED_SIZE = 40
LEAVES = "random, leaves alone"
"""Random trees with queries and documents at leaves only."""
QUALITY_LIMITS = (0.05, 0.1, 0.2, 0.3)
"""Limits at which quality is looked at: at 0 little can stay, and from 0.5 on little has to go."""
TINY = 1e-9


def measure_speed(asked: UpsExperiment, trees: Mapping[str, TopicTree], *, progress: Progress = SILENT) -> pa.Table:
    """A row for each tree, size, trial and algorithm; random trees beside those that are given."""
    stream = np.random.default_rng([asked.seed, 1])
    made: dict[str, Callable[[int], TopicTree | None]] = {
        "random": lambda size: random_tree(ROOMY * size, stream),
        **{name: lambda size, tree=tree: _fitting(tree, size) for name, tree in trees.items()},  # type: ignore[misc]
    }
    rows: list[dict[str, Any]] = []
    _compile(stream)
    with progress.task("timing seeds", total=len(made) * len(asked.seed_sizes), unit="sizes") as task:
        for name, make in made.items():
            for size in asked.seed_sizes:
                if (tree := make(size)) is not None:
                    about = {"tree": name, "size": size}
                    for trial in range(asked.trials):
                        case = draw_case(tree, stream, size=size)
                        rows += [{**about, "trial": trial, **row} for row in _timed(case, asked.usual_limit)]
                task.advance(1)
    return pa.Table.from_pylist(rows)


def measure_growth(asked: UpsExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each size of taxonomy, trial and algorithm; most topics are held, queries have 20 topics."""
    stream = np.random.default_rng([asked.seed, 2])
    rows: list[dict[str, Any]] = []
    _compile(stream)
    with progress.task("timing taxonomies", total=len(asked.taxonomy_sizes), unit="sizes") as task:
        for topics in asked.taxonomy_sizes:
            tree = random_tree(topics, stream)
            for trial in range(asked.trials):
                case = draw_case(tree, stream, asked=ASKED)
                about = {"taxonomy": topics, "held": len(case.held), "trial": trial}
                rows += [{**about, **row} for row in _timed(case, asked.usual_limit)]
            task.advance(1)
    return pa.Table.from_pylist(rows)


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


def _timed(case: Case, limit: float) -> Iterator[dict[str, Any]]:
    for name in ALGORITHMS:
        started = time.perf_counter()
        seed = case.seed()
        if name == "greedy-dp" and len(seed) > 1.5 * PLAIN_RISE:
            continue
        found = PRUNES[name](seed, limit, "excess")
        spent = time.perf_counter() - started
        yield {"algorithm": name, "topics": len(seed), "iterations": found.iterations, "seconds": spent}


def _fitting(tree: TopicTree, size: int) -> TopicTree | None:
    """The tree if a seed of that size is sure to be found in it."""
    return tree if ROOMY * size <= len(tree) else None


def _compile(stream: np.random.Generator) -> None:
    """Compile everything, so that no trial pays for it."""
    case = draw_case(random_tree(60, stream), stream, size=20)
    for _ in _timed(case, 0.0):
        pass


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
