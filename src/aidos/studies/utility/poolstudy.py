"""What the pool release leaves for retrieval: tables 4 and 5 and figure 1 of Zhang, Yang and Singh (SIGIR 2016).

In each fold both rankers learn from the others' log, as it is and as it is released at every noise b and threshold K,
and are tried on the people who were held out. True counts of a fold do not hang on b and K, so they are worked out once
and noised again and again, by the mechanism's own steps, each time with noise of its own.

The release *as published* is tried at every b and K. The *strict* one needs public lists and draws noise for every pair
of released queries, so it is tried where noise alone lifts few queries over the threshold.

Public lists for the strict pool release, from the searched collection: what anybody can read there. Zhang et al. (2016)
expand the log's queries with frequent n-grams of general English. Here the frequent n-grams of the collection stand for
them, and the public results of such a query are those that a plain search of the collection finds. Neither looks at the
log, so that the promise of the strict release holds with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import ceil
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from aidos.core.mechanism import Finding
from aidos.core.noise import Noise
from aidos.core.progress import SILENT, Progress
from aidos.core.table import Table
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.search import search_batch
from aidos.model.text.analyser import Analyser
from aidos.rooms.publish.pool import PoolRelease
from aidos.rooms.publish.poolsteps import PoolCounts
from aidos.rooms.publish.released import CountedTables, counted_tables
from aidos.studies.shelf import Shelf, run_settings
from aidos.studies.utility.ground import WORD, Ground, result_rows
from aidos.studies.utility.plan import ORIGINAL, Job, PoolGrid, Setting, UtilityPlan
from aidos.studies.utility.releases import fresh_noise
from aidos.studies.utility.retrieval import Among, Holding, compare_retrieval, hold_out, score_retrieval

__all__ = [
    "AS_PUBLISHED",
    "STRICT",
    "FoldJob",
    "PoolGround",
    "holding",
    "pool_settings",
    "public_queries",
    "public_results",
    "run_retrieval",
    "score_fold",
]

AS_PUBLISHED, STRICT = "pool-as-published", "pool-strict"
"""What the two variants are called in results."""
QUIET = 5
"""The strict variant is tried where K is at least so many times b, and keeps clicks above so many times b."""
EVERYTHING = 10_000
"""Actions of each person that count where nothing is to be cut."""
Variant = Literal["original", "as-published", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolGround:
    """What folds share; it can be sent to another process."""

    ground: Ground
    pool: tuple[str, ...] = ()
    """Public queries."""
    results: tuple[tuple[str, str], ...] = ()
    """Public results of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldJob:
    """One fold with some variants, each at every b and K: the log as it is counts as one."""

    fold: int
    settings: tuple[tuple[Variant, tuple[Setting, ...]], ...]
    """Variants, and where each is tried."""

    @property
    def name(self) -> str:
        """What its scores are kept under; other noises and thresholds are another job."""
        tried = [
            "_".join([variant, *(f"{each.noise_scale:g}x{each.threshold}" for each in settings if each.threshold)])
            for variant, settings in self.settings
        ]
        return "-".join([f"fold{self.fold}", *tried])


def holding(plan: UtilityPlan) -> Holding:
    """How people are held out in every fold."""
    return Holding(folds=plan.folds, queries=plan.tried_queries, seed=plan.seed)


def pool_settings(grid: PoolGrid, variant: Variant) -> tuple[Setting, ...]:
    """Every b and K that a variant is tried at, the paper's among them."""
    if variant == "original":
        return (Setting(mechanism=ORIGINAL),)
    usual = (grid.usual_noise, grid.usual_threshold)
    pairs = sorted({usual, *product(grid.noise_scales, grid.thresholds)})
    if variant == "strict":
        pairs = [pair for pair in pairs if pair[1] >= QUIET * pair[0]]
    name = STRICT if variant == "strict" else AS_PUBLISHED
    return tuple(Setting(mechanism=name, noise_scale=scale, threshold=threshold) for scale, threshold in pairs)


def run_retrieval(
    ground: Ground,
    documents: EmbeddedTable | None,
    shelf: Shelf,
    *,
    workers: int = 1,
    progress: Progress = SILENT,
) -> pa.Table:
    """All folds, and each setting against the log as it is."""
    shared = PoolGround(ground=ground)
    shares: list[tuple[Variant, ...]] = [("as-published",), ("original",)]
    if documents is not None and {"object_id", "text"} <= set(documents.columns):
        pool = public_queries(documents, ground.plan.pool_size)
        shared = replace(shared, pool=pool, results=public_results(documents, pool))
        shares = [("as-published",), ("original", "strict")]
    jobs = [
        FoldJob(fold=fold, settings=tuple((variant, pool_settings(ground.pool, variant)) for variant in variants))
        for fold in range(min(ground.plan.tried_folds or ground.plan.folds, ground.plan.folds))
        for variants in shares
    ]
    found = run_settings(
        jobs,
        score_fold,
        shared,
        shelf=shelf,
        workers=workers,
        progress=progress,
        label="ranking by releases",
    )
    scores = pa.concat_tables(found.values())
    tried = {setting.name: setting for job in jobs for _, settings in job.settings for setting in settings}
    return pa.concat_tables(_compared(scores, setting) for setting in tried.values())


def score_fold(shared: PoolGround, job: FoldJob) -> pa.Table:
    """Scores of every query that is tried in a fold, for each variant and setting: fold, source, and the scores."""
    ground, parts = shared.ground, []
    how = holding(ground.plan)
    with EmbeddedEngine(threads=1, memory=ground.memory, scratch=ground.originals.directory) as engine:
        held = hold_out(ground.originals.texts(engine), job.fold, how)
        with held.training.held() as training:
            for variant, settings in job.settings:
                for setting, counted in _releases(shared, job.fold, variant, settings, training):
                    scored = score_retrieval(counted, held)
                    size = len(scored)
                    named = {"fold": pa.array([job.fold] * size), "source": pa.array([setting.name] * size)}
                    parts.append(pa.table(named | {name: scored.column(name) for name in scored.column_names}))
    return pa.concat_tables(parts)


def _releases(
    shared: PoolGround, fold: int, variant: Variant, settings: tuple[Setting, ...], training: Table
) -> Iterator[tuple[Setting, CountedTables]]:
    plan, limit = shared.ground.plan, shared.ground.pool.limit
    if variant == "original":
        whole = PoolRelease(variant="thresholded", queries_per_person=EVERYTHING, clicks_per_person=EVERYTHING)
        whole = replace(whole, transitions_per_person=EVERYTHING)
        with _counted(whole, training) as (_, counts):
            yield settings[0], CountedTables(clicks=counts.clicks.fetch(), pairs=counts.transitions.fetch())
        return
    base = PoolRelease(
        variant=variant,
        pool=shared.pool,
        click_lists=shared.results,
        queries_per_person=limit,
        clicks_per_person=limit,
        transitions_per_person=limit,
    )
    with _counted(base, training) as (steps, counts):
        for setting in settings:
            noise = fresh_noise(plan.seed, setting.name, fold)
            tables = _at(base, setting).noised(replace(steps, noise=noise), counts)
            yield setting, counted_tables(tables.tables())


@contextmanager
def _counted(release: PoolRelease, training: Table) -> Iterator[tuple[Any, PoolCounts]]:
    """The steps of a release on a log, with its true counts worked out and kept."""
    steps = release.steps(training, Noise(0))
    with steps.askings(release.queries_per_person) as asked, ExitStack() as stack:
        counts = steps.counts(asked, release.clicks_per_person, release.transitions_kept)
        held = {
            name: stack.enter_context(getattr(counts, name).held()) for name in ("queries", "clicks", "transitions")
        }
        yield steps, PoolCounts(**held)


def _at(release: PoolRelease, setting: Setting) -> PoolRelease:
    """The same b for queries, clicks and transitions, as in the paper; K is for queries alone, as there.

    Clicks and transitions of the strict variant are over public lists, zeros too: a threshold drops what is noise.
    """
    if setting.noise_scale is None or setting.threshold is None:
        return release
    scale, above_noise = setting.noise_scale, ceil(QUIET * setting.noise_scale)
    return replace(
        release,
        query_scale=scale,
        click_scale=scale,
        transition_scale=scale,
        query_threshold=setting.threshold,
        click_threshold=above_noise,
        transition_threshold=above_noise,
    )


def _compared(scores: pa.Table, setting: Setting) -> pa.Table:
    """Each measure of each ranker before and after, among all queries and among those that are still answered."""
    before = Setting(mechanism=ORIGINAL).name
    both = Finding(
        value=scores.filter(pc.is_in(scores.column("source"), pa.array([before, setting.name]))),
        about="the people of the log",
    )
    amongs: tuple[Among, ...] = ("all",) if setting.name == before else ("all", "answered")
    rows = [
        {"method": change.ranker, "measure": f"{among} {change.measure} {name}", "value": float(value)}
        for among in amongs
        for change in compare_retrieval(both, before, setting.name, among=among).value
        for name, value in asdict(change.test).items()
    ]
    own = both.value.filter(pc.equal(both.value.column("source"), pa.scalar(setting.name)))
    answered = pc.mean(own.column("answered").cast(pa.float64())).as_py()
    rows.append({"method": None, "measure": "answered", "value": answered})
    return result_rows(Job(experiment="retrieval", setting=setting), rows, kind="clicks")


LONGEST = 3
"""Words of an n-gram, at most."""
RESULTS = 10
"""Public results of a query."""


def public_queries(documents: EmbeddedTable, most: int) -> tuple[str, ...]:
    """The n-grams of up to three words that most documents have."""
    grams = " union all ".join(
        f"select number, unnest(list_transform(range(1, len(words) + {2 - length}), "
        f"lambda first: array_to_string(words[first : first + {length - 1}], ' '))) as gram from split"
        for length in range(1, LONGEST + 1)
    )
    found = documents.rows(
        f"with split as (select row_number() over () as number, regexp_extract_all(lower(text), '{WORD}') as words "
        f"from {{table}} where text is not null) select gram from ({grams}) group by gram "
        f"order by count(distinct number) desc, gram limit {most}",
        label="reading public phrases",
    )
    return tuple(str(row[0]) for row in found)


def public_results(documents: EmbeddedTable, queries: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The results of each query by query likelihood over the collection."""
    texts = documents.fetch("select object_id, text from {table} where object_id is not null and text is not null")
    index = Index.build(texts, analyser=Analyser(), columns=("object_id", "text"))
    found = search_batch(index, queries, size=RESULTS).ids()
    return tuple((query, name) for query, names in zip(queries, found, strict=True) for name in names)
