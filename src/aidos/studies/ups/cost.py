"""What generalisation costs: iterations and response time by the size of the seed, of the taxonomy and of the profile.

Times are of one decision from the query's topics on: making the seed, and pruning it at the usual limit. The mapping of
query words to topics is measured by ``benchmarks/ups.py``, with real words. Whatever else the machine does is in the
times; medians over the trials take most of it out. GreedyDP is left out where seeds are larger than 100 topics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.core.topictree import TopicTree
from aidos.rooms.shield.profile.decision import ALGORITHMS as PRUNES
from aidos.studies.ups.cases import Case, draw_case, random_tree
from aidos.studies.ups.plan import ALGORITHMS, PLAIN_RISE, UpsExperiment

__all__ = ["measure_growth", "measure_speed"]

ROOMY = 3
"""Topics of a random tree for each topic of the seed."""
ASKED = 20
"""Topics of a query, which is as many as the mapping of queries finds."""


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
