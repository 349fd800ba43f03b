"""The utility experiments of both log papers, by name and repeatable (Götz et al. 2012, Zhang et al. 2016).

The same log, plan and seed give the same numbers, on any number of workers. Settings that are finished are kept in a
directory, if one is given, and not done again there; more strengths or limits may be added later. True contributions
lie in a private scratch directory while the experiment runs, and nowhere after.

All releases are simulated with a seed. They carry no guarantee, and the numbers here are about true data: findings.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import write_text
from aidos.engine.scratch import scratch_directory
from aidos.errors import InputError, ParameterError
from aidos.evaluate.risk.shelf import Shelf
from aidos.evaluate.utility.gathering import gather_originals
from aidos.evaluate.utility.ground import Ground, lay_documents, lay_suggestions
from aidos.evaluate.utility.jobs import jobs_of
from aidos.evaluate.utility.outcome import Facts, Outcome
from aidos.evaluate.utility.plan import Experiment, UtilityPlan
from aidos.evaluate.utility.poolstudy import run_retrieval
from aidos.evaluate.utility.running import run_jobs
from aidos.evaluate.utility.working import work
from aidos.publish.items import KINDS

__all__ = ["SETTINGS", "Source", "run_experiment"]

SETTINGS, FACTS = "settings", "facts.json"
"""Where finished settings are kept, and what is known about the log."""
FIXED = (
    *("kinds", "tops", "cache_bytes", "suggested_queries", "seed"),
    *("folds", "tried_queries", "pool_limit", "pool_size"),
)
"""What results of one setting depend on beside the setting."""
NEEDED: dict[str, tuple[str, ...]] = {
    "statistics": ("queries",),
    "caching": ("keywords",),
    "substitution": ("pairs",),
    "retrieval": ("clicks",),
    "mechanisms": ("queries",),
}
"""Kinds without which an experiment cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an experiment is about."""

    log: EmbeddedTable
    """A search log; queries as `aidos publish` would count them."""
    about: str
    """It, in words."""
    fingerprint: str
    """Another one for other data: kept results of other data are refused."""
    documents: EmbeddedTable | None = None
    """Documents that were searched in: object_id and text."""


def run_experiment(  # noqa: PLR0913 - on what, what, and where and how it is worked out
    experiment: Experiment,
    source: Source,
    asked: UtilityPlan | None = None,
    *,
    keep: Path | None = None,
    workers: int = 1,
    memory: str = "",
    progress: Progress = SILENT,
) -> Outcome:
    """Run one experiment on one log."""
    plan = asked or UtilityPlan()
    if workers < 1:
        raise ParameterError(f"workers must be at least 1, got {workers}")
    with scratch_directory() as directory:
        originals = gather_originals(source.log, directory, _kinds(experiment, plan), progress=progress)
        originals.require(*NEEDED[experiment])
        ground = Ground(originals=originals, plan=plan, memory=memory or f"{80 // workers}%")
        numbers = _lay(experiment, ground, source, progress)
        # The directory is taken last: what is refused leaves nothing behind.
        shelf, kept = _shelf(experiment, source, plan, keep)
        if experiment == "retrieval":
            results = run_retrieval(ground, source.documents, shelf, kept, workers=workers, progress=progress)
        else:
            jobs = jobs_of(experiment, plan, originals.kinds)
            found = run_jobs(jobs, work, ground, shelf=shelf, kept=kept, workers=workers, progress=progress)
            results = pa.concat_tables(found.values())
    facts = Facts(
        about=source.about,
        people=originals.people,
        kinds=tuple(kind for kind in originals.kinds if kind in plan.kinds),
        left_out={kind: why for kind, why in originals.left_out.items() if kind in plan.kinds},
        numbers=numbers,
    )
    if keep is not None:
        write_text(keep / FACTS, json.dumps(asdict(facts), indent=2) + "\n", private=True)
    return Outcome(experiment=experiment, plan=plan, results=results, facts=facts)


def _kinds(experiment: Experiment, plan: UtilityPlan) -> tuple[str, ...]:
    needed = {"caching": ("keywords",), "substitution": ("queries", "pairs"), "retrieval": ("queries", "clicks")}
    return needed.get(experiment, plan.kinds) if experiment in needed else tuple(k for k in KINDS if k in plan.kinds)


def _lay(experiment: Experiment, ground: Ground, source: Source, progress: Progress) -> dict[str, float]:
    """What all jobs need, worked out once; and what of it is to be told."""
    numbers: dict[str, float] = {}
    has = ground.originals.kinds
    if experiment == "caching" and source.documents is None:
        raise InputError(
            "a cache of posting lists needs documents", hint="name the searched collection with --documents"
        )
    with progress.task("preparing measures", total=2, unit="steps") as task:
        if experiment in {"caching", "mechanisms"} and source.documents is not None and "keywords" in has:
            cacheable = lay_documents(ground, source.documents)
            numbers |= {
                "cache_bytes": float(cacheable.limits.memory_bytes),
                "index_bytes": float(cacheable.index_bytes),
                "known_share": float(cacheable.workload[cacheable.documents > 0].sum() / cacheable.workload.sum()),
            }
        task.advance(1)
        if experiment in {"substitution", "mechanisms"} and "pairs" in has:
            numbers["suggested_for"] = float(lay_suggestions(ground))
            if experiment == "substitution" and not numbers["suggested_for"]:
                raise InputError(
                    "the log itself gives no suggestions: too few people rephrase the same queries",
                    hint="name a larger log",
                )
        task.advance(1)
    return numbers


def _shelf(experiment: Experiment, source: Source, plan: UtilityPlan, keep: Path | None) -> tuple[Shelf, Path | None]:
    """Where finished settings are kept. Which settings there are is no part of it: more may come later."""
    fixed = {name: getattr(plan, name) for name in FIXED}
    said = json.dumps([experiment, source.fingerprint, fixed], sort_keys=True)
    mark = sha256(said.encode()).hexdigest()
    if keep is None:
        return Shelf(None, mark), None
    Shelf(keep, mark)
    return Shelf(keep / SETTINGS, mark), keep / SETTINGS
