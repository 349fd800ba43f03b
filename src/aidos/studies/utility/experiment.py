"""The utility experiments of both log papers, by name and repeatable (Götz et al. 2012, Zhang et al. 2016).

The same log, plan and seed give the same numbers, on any number of workers. Settings that are finished are kept in a
directory, if one is given, and not done again there; more strengths or limits may be added later. True contributions
lie in a private scratch directory while the experiment runs, and nowhere after.

All releases are simulated with a seed. They carry no guarantee, and the numbers here are about true data: findings.

What the utility experiments are run on: a log of somebody's own, or the sample world's, and what was searched in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from aidos.account.lineage import fingerprint_files
from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import write_text
from aidos.engine.scratch import scratch_directory
from aidos.errors import InputError, ParameterError
from aidos.ingest.history.reading import read_history
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources
from aidos.rooms.publish.items import KINDS
from aidos.studies.shelf import Shelf, fingerprint, run_settings
from aidos.studies.utility.ground import Ground, lay_documents, lay_suggestions
from aidos.studies.utility.jobs import jobs_of, work
from aidos.studies.utility.originals import Originals, UnsuitedLogError, gather_originals
from aidos.studies.utility.outcome import RESULTS, UtilityBasis, UtilityOutcome
from aidos.studies.utility.plan import EXPERIMENTS, Experiment, UtilityPlan, fit_grid
from aidos.studies.utility.poolstudy import holding, run_retrieval
from aidos.studies.utility.retrieval import require_relevance
from aidos.world.documents import document_blocks
from aidos.world.size import World
from aidos.world.write import write_sample

__all__ = ["SETTINGS", "PreparedLog", "Source", "own_source", "prepare", "run_experiment", "sample_source"]

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
CACHING = {"caching", "mechanisms"}
"""Those that fill a cache of posting lists."""


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
) -> UtilityOutcome:
    """Run one experiment on one log."""
    with prepare(source, asked, (experiment,), workers=workers, memory=memory, progress=progress) as prepared:
        return prepared.run(experiment, keep=keep)


@contextmanager
def prepare(  # noqa: PLR0913 - the same
    source: Source,
    asked: UtilityPlan | None = None,
    experiments: Sequence[Experiment] = EXPERIMENTS,
    *,
    workers: int = 1,
    memory: str = "",
    progress: Progress = SILENT,
) -> Iterator[PreparedLog]:
    """Make a log ready for some experiments, which is done once for all of them."""
    plan = asked or UtilityPlan()
    if workers < 1:
        raise ParameterError(f"workers must be at least 1, got {workers}")
    wanted = {kind for experiment in experiments for kind in _kinds(experiment, plan)}
    with scratch_directory() as directory:
        originals = gather_originals(source.log, directory, tuple(wanted), seed=plan.seed, progress=progress)
        pool = fit_grid(plan, originals.people, originals.count_askings())
        ground = Ground(originals=originals, plan=plan, pool=pool, memory=memory or f"{80 // workers}%")
        if source.documents is not None and not CACHING.isdisjoint(experiments) and "keywords" in originals.kinds:
            lay_documents(ground, source.documents)
        yield PreparedLog(source=source, ground=ground, workers=workers, progress=progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedLog:
    """A log that any of the experiments it was made ready for can be run on."""

    source: Source
    ground: Ground
    """Of all of them."""
    workers: int
    progress: Progress

    def run(self, experiment: Experiment, *, keep: Path | None = None) -> UtilityOutcome:
        """Run one; UnsuitedLogError where the log has not what it is about."""
        plan = self.ground.plan
        originals = self.ground.originals.of_kinds(_kinds(experiment, plan))
        originals.require(*NEEDED[experiment])
        if experiment == "retrieval":
            require_relevance(originals.contributions(self.source.log.engine, "clicks"), holding(plan))
        ground, numbers = self._lay(experiment, originals)
        jobs = [] if experiment == "retrieval" else jobs_of(experiment, plan, originals.kinds)
        # The directory is taken last: what is refused leaves nothing behind.
        shelf = _shelf(experiment, self.source, plan, keep)
        if experiment == "retrieval":
            results = run_retrieval(ground, self.source.documents, shelf, workers=self.workers, progress=self.progress)
        else:
            found = run_settings(jobs, work, ground, shelf=shelf, workers=self.workers, progress=self.progress)
            results = pa.concat_tables(found.values())
        basis = self._basis(originals, numbers)
        if keep is not None:
            write_text(keep / FACTS, json.dumps(asdict(basis), indent=2) + "\n", private=True)
        return UtilityOutcome(
            experiment=experiment, plan=plan, rows={RESULTS: results}, basis=basis, pool=ground.pool, output=keep
        )

    def _lay(self, experiment: Experiment, originals: Originals) -> tuple[Ground, dict[str, float]]:
        """What all jobs of an experiment need, worked out once; and what of it is to be told."""
        documents, has = self.source.documents, originals.kinds
        if experiment == "caching" and documents is None:
            raise UnsuitedLogError(
                "a cache of posting lists needs documents", hint="name the searched collection with --documents"
            )
        caches = documents is not None and experiment in CACHING and "keywords" in has
        suggests = experiment in {"substitution", "mechanisms"} and "pairs" in has
        ground = replace(self.ground, originals=originals, caches=caches, suggests=suggests)
        numbers: dict[str, float] = {}
        with self.progress.task("preparing measures", total=2, unit="steps") as task:
            if caches:
                cacheable = ground.cacheable()
                numbers |= {
                    "cache_bytes": float(cacheable.limits.memory_bytes),
                    "index_bytes": float(cacheable.index_bytes),
                    "known_share": float(cacheable.workload[cacheable.documents > 0].sum() / cacheable.workload.sum()),
                }
            task.advance(1)
            if suggests:
                numbers["suggested_for"] = float(lay_suggestions(ground))
                if experiment == "substitution" and not numbers["suggested_for"]:
                    raise UnsuitedLogError(
                        "the log itself gives no suggestions: too few people rephrase the same queries",
                        hint="name a larger log",
                    )
            task.advance(1)
        return ground, numbers

    def _basis(self, originals: Originals, numbers: dict[str, float]) -> UtilityBasis:
        kinds = self.ground.plan.kinds
        return UtilityBasis(
            about=self.source.about,
            people=originals.people,
            kinds=tuple(kind for kind in originals.kinds if kind in kinds),
            left_out={kind: why for kind, why in originals.left_out.items() if kind in kinds},
            numbers=numbers,
        )


def _kinds(experiment: Experiment, plan: UtilityPlan) -> tuple[str, ...]:
    """What an experiment is about: some kinds by its nature, or those that were asked for."""
    fixed = {"caching": ("keywords",), "substitution": ("queries", "pairs"), "retrieval": ("queries", "clicks")}
    return fixed.get(experiment) or tuple(kind for kind in KINDS if kind in plan.kinds)


def _shelf(experiment: Experiment, source: Source, plan: UtilityPlan, keep: Path | None) -> Shelf:
    """Where finished settings are kept. Which settings there are is no part of it: more may come later."""
    fixed = {name: getattr(plan, name) for name in FIXED}
    mark = fingerprint([experiment, source.fingerprint, fixed])
    Shelf(keep, mark)
    return Shelf(keep and keep / SETTINGS, mark)


TEXT = "text"


def sample_source(
    engine: EmbeddedEngine, world: World, documents: Sequence[str], progress: Progress, *, searched: bool
) -> Source:
    """The log of a sample world, with its documents unless others are named."""
    path = engine.scratch / "sample.parquet"
    texts = None
    if searched and documents:
        texts = _read_documents(engine, documents)
    elif searched:
        texts = engine.table(pa.concat_tables(document_blocks(world)).select(["object_id", TEXT]))
    write_sample("log", world, path, progress)
    return Source(
        log=engine.parquet(path),
        about=f"The sample world of {world.people:,} people (seed {world.seed})",
        fingerprint=f"{world.size} {world.seed} {_named(documents)}",
        documents=texts,
    )


def own_source(  # noqa: PLR0913 (what is read, and how)
    engine: EmbeddedEngine,
    files: Sequence[str],
    options: ReadOptions,
    world: World,
    documents: Sequence[str],
    *,
    searched: bool,
) -> Source:
    """A log of somebody's own; the sample world's documents have nothing to do with it, so only named ones count."""
    texts = _read_documents(engine, documents) if searched and documents else None
    log = read_files(engine, files, options).table
    paths = [source.path for source in find_sources(files)[0]]
    return Source(
        log=log,
        about=f"A search log of {len(paths)} file{'s' if len(paths) > 1 else ''}",
        fingerprint=f"{fingerprint_files(paths)} {world.size} {world.seed} {_named(documents)}",
        documents=texts,
    )


def _read_documents(engine: EmbeddedEngine, names: Sequence[str]) -> EmbeddedTable:
    """Tables with a column of texts, or any source of documents: posts, a folder of texts, bookmarks."""
    tables = [name for name in names if name.endswith(".parquet")]
    if len(tables) == len(names):
        paths = [Path(name) for name in tables]
        if missing := [path for path in paths if not path.is_file()]:
            raise InputError(f"{missing[0]} is no file", hint="check the name")
        read = engine.parquet(*paths)
        if TEXT not in read.columns:
            raise InputError(
                f"the documents have no column {TEXT}", hint=f"rename it in the file; it has {', '.join(read.columns)}"
            )
        return read
    texts = [document.text for name in names for document in read_history(engine, name)]
    return engine.table(pa.table({TEXT: pa.array(texts, pa.string())}))


def _named(files: Sequence[str]) -> str:
    if not files:
        return ""
    paths = [source.path for source in find_sources(files)[0]]
    return sha256(fingerprint_files(paths).encode()).hexdigest()
