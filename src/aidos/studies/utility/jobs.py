"""The work of each experiment: which releases its tables and figures need, and one of them made and measured.

Nothing is shared between jobs but the ground's directory, so that they can run in any order, beside each other, and
again after an interruption.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import ParameterError
from aidos.studies.utility.ground import Ground, result_rows
from aidos.studies.utility.plan import ORIGINAL, PAPER, Experiment, Job, Setting, UtilityPlan
from aidos.studies.utility.releases import (
    COMPARED,
    DRAWING,
    FEWEST,
    REPLACING,
    Published,
    guarantee_of,
    is_possible,
    simulate,
)
from aidos.studies.utility.statistics import Compared, count_distribution
from aidos.studies.utility.substitution import Mean, compare_suggestions, suggest_all

__all__ = ["jobs_of", "work"]

FIRST = 1
"""The limit on items at which the paper varies the strength (figures 4, 5 and 7)."""


def jobs_of(experiment: Experiment, plan: UtilityPlan, kinds: Sequence[str]) -> list[Job]:
    """The work of an experiment on a log with these kinds, the longest first."""
    makers = {
        "statistics": _statistics,
        "caching": _caching,
        "substitution": _substitution,
        "mechanisms": _mechanisms,
    }
    if experiment not in makers:
        raise ParameterError(f"{experiment} has no grid of histograms")
    chosen = [kind for kind in plan.kinds if kind in kinds]
    return sorted(dict.fromkeys(makers[experiment](plan, chosen)), key=_length, reverse=True)


def _statistics(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:
    """Tables 3 and 4, figures 2 to 5: limits at the usual strength, strengths at one item, every k."""
    for kind in kinds:
        yield Job(experiment="statistics", setting=Setting(mechanism=ORIGINAL), kind=kind)
        for setting in (
            *plan.grid((plan.usual_epsilon,), plan.items_per_person),
            *plan.grid((*plan.epsilons, plan.usual_epsilon), (FIRST,)),
        ):
            yield Job(experiment="statistics", setting=setting, kind=kind)
    for setting in plan.anonymous():
        yield Job(experiment="statistics", setting=setting)


def _caching(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:  # noqa: ARG001 - all take the same
    """Figure 6: the log itself, every k, strengths at the cache's limit on keywords, limits at the usual strength.

    Other mechanisms than the paper's with them, at the delta that mechanisms are compared at, where they can be.
    """
    strengths = product((*plan.epsilons, plan.usual_epsilon), (plan.cache_items,))
    limits = product((plan.usual_epsilon,), (*plan.items_per_person, plan.cache_items))
    places = list(dict.fromkeys((*strengths, *limits)))
    others = (
        each for name in _compared(plan) if name != PAPER for place in places for each in plan.equal(name, *place)
    )
    for setting in (
        Setting(mechanism=ORIGINAL),
        *plan.anonymous(),
        *(each for place in places for each in plan.paper(*place)),
        *filter(is_possible, others),
    ):
        yield Job(experiment="caching", setting=setting, kind="keywords")


def _substitution(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:  # noqa: ARG001 - the same
    """Figures 7 and 8: every k, and strengths at one item and at a few."""
    for setting in (
        *plan.anonymous(),
        *plan.grid((*plan.epsilons, plan.usual_epsilon), (FIRST, plan.cache_items)),
    ):
        yield Job(experiment="substitution", setting=setting, kind="pairs")


def _mechanisms(plan: UtilityPlan, kinds: Sequence[str]) -> Iterator[Job]:
    """Every mechanism at the same numbers, as its promise is and for one person replaced."""
    for kind in kinds:
        yield Job(experiment="mechanisms", setting=Setting(mechanism=ORIGINAL), kind=kind)
        for name in _compared(plan):
            for epsilon in plan.equal_epsilons:
                for halved in (False,) if name in REPLACING else (False, True):
                    for setting in plan.equal(name, epsilon, plan.equal_items_per_person, halved=halved):
                        guarantee_of(setting, FEWEST)  # what is impossible is refused before anything is done
                        yield Job(experiment="mechanisms", setting=setting, kind=kind)


def _compared(plan: UtilityPlan) -> Sequence[str]:
    if unknown := [name for name in plan.mechanisms if name not in COMPARED]:
        raise ParameterError(
            f"there is no mechanism {unknown[0]!r} to compare", hint=f"there are {', '.join(COMPARED)}"
        )
    return plan.mechanisms or tuple(COMPARED)


def _length(job: Job) -> tuple[int, str]:
    """Roughly how long a job takes: what takes long should not begin last."""
    slow = {**dict.fromkeys(DRAWING, 3), "k-query-anonymity": 2, ORIGINAL: 0, PAPER: 1}
    large = {"": 3, "keywords": 4, "queries": 3, "clicks": 2, "pairs": 1}
    return slow.get(job.setting.mechanism, 1) * large[job.kind], job.name


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
            yield from _statistics_of(ground, job, kind, made[kind])
            if kind == "keywords" and ground.caches:
                yield from _hits(ground, job, made[kind])
            if kind == "pairs" and ground.suggests and made[kind].counts is not None:
                yield from _suggestions(ground, made)


def _statistics_of(ground: Ground, job: Job, kind: str, published: Published) -> Iterator[Row]:
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
