"""What is found again in lists that were drawn from the model, and how long it takes: the best case of LTP.

Fifty topics, lists of ten, 500 queries, five topics with a weight, half of the queries personalised: the setting that
the numbers of paper and spec are for. Weak weights are a third of the usual ones. Times are of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.rooms.audit.inference import LearnedProfile, infer_profile
from aidos.rooms.audit.learning import learn_profile
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.surrogate import HiddenProfile, sample_audit

__all__ = ["LEARNERS", "STRONG", "WEAK", "measure_recovery", "measure_time", "share_found"]

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
