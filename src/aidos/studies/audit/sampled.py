"""What is found again in lists that were drawn from the model, and how long it takes: the best case of LTP.

Fifty topics, lists of ten, 500 queries, five topics with a weight, half of the queries personalised: the setting that
the numbers of paper and spec are for. Weak weights are a third of the usual ones. Times are of the processor.

How often the verdict is wrong: alarms where there is no profile, and weak profiles that are not detected. Without a
profile lists differ in two ways here. *Noise below vanilla*: the personalised list is the vanilla one with noise of the
model's law f, so that what stands at the top can only fall. *Two views*: both lists are noisy views of one ranking. In
both, a topic that likes to stand at the top makes it harder. Each data set is judged with and without a second vanilla
list. Weak profiles favour one topic of many, and a fifth of the queries is personalised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.densities import draw_places
from aidos.rooms.audit.inference import LearnedProfile, infer_profile
from aidos.rooms.audit.learning import learn_profile
from aidos.rooms.audit.power import estimate_power, power_of
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.verdict import judge
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.surrogate import HiddenProfile, sample_audit

__all__ = [
    "BELOW",
    "LEARNERS",
    "STRONG",
    "VIEWS",
    "WEAK",
    "measure_alarms",
    "measure_power",
    "measure_recovery",
    "measure_time",
    "share_found",
]

LEARNERS: dict[str, Callable[..., LearnedProfile]] = {"INF": infer_profile, "EM": learn_profile}
"""Both ways to learn, by the paper's names."""
STRONG, WEAK = "usual weights", "weak weights"
KINDS = {STRONG: HiddenProfile(), WEAK: HiddenProfile(weight=2.0)}


def share_found(scores: np.ndarray[Any, Any], topics: np.ndarray[Any, Any]) -> float:
    """R-precision: of as many topics as there are, the share that stands at the top."""
    return float(np.isin(np.argsort(-scores, kind="stable")[: len(topics)], topics).mean())


def measure_recovery(asked: AuditExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each kind of profile, data set and method."""
    rows: list[dict[str, Any]] = []
    with progress.task("learning sampled profiles", total=len(KINDS) * asked.samples, unit="data sets") as task:
        for kind, hidden in KINDS.items():
            for sample in range(asked.samples):
                drawn = sample_audit(hidden, np.random.default_rng([asked.seed, 1, sample]))
                for method, learn in LEARNERS.items():
                    found = learn(drawn.pairs)
                    rows.append(
                        {
                            "weights": kind,
                            "method": method,
                            "sample": sample,
                            "r_precision": share_found(found.weights, np.flatnonzero(drawn.weights)),
                            "correlation": float(np.corrcoef(found.weights, drawn.weights)[0, 1]),
                            "mix_error": abs(found.mix / hidden.mix - 1),
                            "concentration_error": abs(found.concentration / hidden.concentration - 1),
                            "rate_error": abs(found.rate - float(drawn.switches.mean())),
                        }
                    )
                task.advance(1)
    return pa.Table.from_pylist(rows)


def measure_time(asked: AuditExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each number of queries, data set and method."""
    rows: list[dict[str, Any]] = []
    warm = sample_audit(HiddenProfile(topics=5), np.random.default_rng(0), queries=20).pairs
    for learn in LEARNERS.values():
        learn(warm)
    with progress.task("timing", total=len(asked.timed_queries) * asked.repetitions, unit="data sets") as task:
        for queries in asked.timed_queries:
            for sample in range(asked.repetitions):
                stream = np.random.default_rng([asked.seed, 2, sample])
                pairs = sample_audit(HiddenProfile(), stream, queries=queries).pairs
                for method, learn in LEARNERS.items():
                    started = time.process_time()
                    found = learn(pairs)
                    spent = time.process_time() - started
                    rounds = len(found.elbo) - 1
                    rows.append(
                        {"queries": queries, "method": method, "sample": sample, "seconds": spent, "rounds": rounds}
                    )
                task.advance(1)
    return pa.Table.from_pylist(rows)


Longs = NDArray[np.int64]
BELOW, VIEWS = "noise below vanilla", "two views"
TOPICS, QUERIES, LENGTH = 30, 100, 10
CONCENTRATION = 1.0
"""lambda of the noise."""
SHAKE = 2.0
"""Standard deviation, in ranks, of where an item stands in a view."""
AT_THE_TOP = 0.5
"""Share of queries whose first item is wholly about the first topic."""
FAINT = HiddenProfile(topics=TOPICS, favoured=1, weight=6.0, rate=0.2, concentration=CONCENTRATION)
MANY = 20_000
"""Queries from which the true effect of the weak profile is told."""


def measure_alarms(asked: AuditExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each kind of noise, data set, and number of vanilla lists."""
    makers: dict[str, Callable[[np.random.Generator], tuple[PairArrays, PairArrays]]] = {
        BELOW: _below_vanilla,
        VIEWS: _two_views,
    }
    rows: list[dict[str, Any]] = []
    with progress.task("judging nothing", total=2 * asked.null_sets, unit="data sets") as task:
        for noise, make in makers.items():
            for number in range(asked.null_sets):
                pairs, control = make(np.random.default_rng([asked.seed, 6, list(makers).index(noise), number]))
                for fetches, against in ((1, None), (2, control)):
                    found = judge(pairs, against, level=asked.level, seed=number)
                    rows.append(
                        {
                            "noise": noise,
                            "vanilla_lists": fetches,
                            "data_set": number,
                            "p_value": found.p_value,
                            "alarm": found.personalised,
                        }
                    )
                task.advance(1)
    return pa.Table.from_pylist(rows)


def measure_power(asked: AuditExperiment, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each number of queries and data set: what was detected, and what was foretold."""
    effect = _true_effect(asked.seed)
    rows: list[dict[str, Any]] = []
    total = len(asked.query_numbers) * asked.effect_sets
    with progress.task("judging weak profiles", total=total, unit="data sets") as task:
        for queries in asked.query_numbers:
            foretold = power_of(effect, queries, TOPICS, asked.level)
            for number in range(asked.effect_sets):
                stream = np.random.default_rng([asked.seed, 7, queries, number])
                pairs = sample_audit(FAINT, stream, queries=queries, length=LENGTH).pairs
                verdict = judge(pairs, level=asked.level, seed=number)
                planned = estimate_power(pairs, verdict=verdict)
                rows.append(
                    {
                        "queries": queries,
                        "data_set": number,
                        "detected": verdict.personalised,
                        "foretold": foretold,
                        "planned": planned.power_now,
                        "planned_queries": planned.queries,
                    }
                )
                task.advance(1)
    return pa.Table.from_pylist(rows)


def _maps(stream: np.random.Generator) -> TopicMaps:
    maps = stream.dirichlet(np.full(TOPICS, 0.05), QUERIES * LENGTH)
    first = np.arange(QUERIES) * LENGTH
    maps[first[stream.random(QUERIES) < AT_THE_TOP]] = np.eye(TOPICS)[0]
    return TopicMaps.from_dense(maps)


def _below_vanilla(stream: np.random.Generator) -> tuple[PairArrays, PairArrays]:
    items = np.arange(QUERIES * LENGTH)
    starts, ranks = np.arange(QUERIES + 1) * LENGTH, np.tile(np.arange(1, LENGTH + 1), QUERIES)
    vanilla = PairArrays(starts=starts, items=items, ranks=ranks, maps=_maps(stream))

    def noisy() -> PairArrays:
        places = draw_places(vanilla, -CONCENTRATION * ranks.astype(np.float64), stream)
        return PairArrays(starts=starts, items=items[places], ranks=ranks[places], maps=vanilla.maps)

    return noisy(), noisy()


def _two_views(stream: np.random.Generator) -> tuple[PairArrays, PairArrays]:
    maps, items = _maps(stream), np.arange(QUERIES * LENGTH).reshape(QUERIES, LENGTH)

    def view() -> list[list[int]]:
        shaken = np.argsort(np.arange(LENGTH) + stream.normal(0, SHAKE, items.shape), axis=1)
        lists: list[list[int]] = np.take_along_axis(items, shaken, axis=1).tolist()
        return lists

    first, second, third = view(), view(), view()
    return PairArrays.from_lists(first, second, maps), PairArrays.from_lists(first, third, maps)


def _true_effect(seed: int) -> float:
    """Mean shift over its standard deviation, of the topic that is favoured."""
    drawn = sample_audit(FAINT, np.random.default_rng([seed, 7]), queries=MANY, length=LENGTH)
    shifts = shifts_by_query(drawn.pairs)[:, int(np.argmax(drawn.weights))]
    return float(shifts.mean() / shifts.std())
