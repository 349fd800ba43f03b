"""One job done: a release simulated and measured, in whatever process.

Nothing is shared between jobs but the ground's directory, so that they can run in any order, beside each other, and
again after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.engine.embedded import EmbeddedEngine
from aidos.studies.utility.ground import Ground
from aidos.studies.utility.plan import ORIGINAL, Job
from aidos.studies.utility.releases import Published, simulate
from aidos.studies.utility.rows import result_rows
from aidos.studies.utility.statistics import Compared, count_distribution
from aidos.studies.utility.substitution import Mean, compare_suggestions, suggest_all

__all__ = ["work"]

Row = dict[str, Any]


def work(ground: Ground, job: Job) -> pa.Table:
    """The results of a job, as rows."""
    originals = ground.originals
    kinds = [job.kind] if job.kind else [kind for kind in originals.kinds if kind in ground.plan.kinds]
    needs_queries = job.kind == "pairs" and ground.suggests
    wanted = [*kinds, "queries"] if needs_queries else kinds
    with EmbeddedEngine(threads=1, memory=ground.memory, scratch=originals.directory) as engine:
        made = simulate(engine, originals, job.setting, wanted, seed=ground.plan.seed)
    return pa.concat_tables(
        result_rows(job, _measures(ground, job, kind, made), kind=kind) for kind in kinds if kind in made
    )


def _measures(ground: Ground, job: Job, kind: str, made: dict[str, Published]) -> Iterator[Row]:
    match job.experiment:
        case "caching":
            yield from _hits(ground, job, made[kind])
        case "substitution":
            yield from _suggestions(ground, made)
        case _:
            yield from _statistics(ground, job, kind, made[kind])
            if kind == "keywords" and ground.caches:
                yield from _hits(ground, job, made[kind])
            if kind == "pairs" and ground.suggests and made[kind].counts is not None:
                yield from _suggestions(ground, made)


def _statistics(ground: Ground, job: Job, kind: str, published: Published) -> Iterator[Row]:
    true = ground.originals.counts(kind)
    compared = Compared(true, published.dense(len(true)))
    for found in compared.measured(ground.plan.tops, has_counts=published.counts is not None):
        yield asdict(found)
    if job.experiment == "statistics" and published.counts is not None:
        for start, items in count_distribution(published.counts):
            yield {"measure": "items_with_count", "top": start, "value": items}
    if job.setting.mechanism == ORIGINAL:
        yield {"measure": "mean_items", "value": ground.originals.mean_items(kind)}


def _hits(ground: Ground, job: Job, published: Published) -> Iterator[Row]:
    """The cache that a release fills; whoever has the log fills it by what was searched, which no release says."""
    cacheable = ground.cacheable()
    if job.setting.mechanism == ORIGINAL:
        published = Published(items=np.arange(len(cacheable.workload)), counts=cacheable.workload)
    return cacheable.measured(published)


def _suggestions(ground: Ground, made: dict[str, Published]) -> Iterator[Row]:
    queries, truth = ground.suggestions()
    found = suggest_all(ground.model(made), queries)
    yield {"measure": "published_pairs", "value": float(len(made["pairs"].items))}
    for utility in compare_suggestions(truth, found).value:
        means = ((name, getattr(utility, name)) for name in MEANS)
        yield from _told(utility.most, means)
        yield {"measure": "unfounded", "top": utility.most, "value": float(utility.unfounded)}


MEANS = ("precision", "recall", "average_precision", "printed_map", "ndcg", "coverage", "answered")
"""Means over queries; coverage is called suggestion_coverage, since items have one of their own."""


def _told(most: int, means: Iterable[tuple[str, Mean]]) -> Iterator[Row]:
    for name, mean in means:
        called = f"suggestion_{name}"
        yield {"measure": called, "top": most, "value": mean.value}
        yield {"measure": f"{called}_low", "top": most, "value": mean.low}
        yield {"measure": f"{called}_high", "top": most, "value": mean.high}
