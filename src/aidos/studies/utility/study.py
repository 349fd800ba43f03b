"""The jobs that measure what a released log is still good for: five experiments, and all of them at once.

Each job says which of the plan's parameters it takes (`aidos.studies.utility.plan`); the others are as the plan has
them. The log is prepared once for all experiments of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import ITEMS, ROUNDS, ROWS, SEED
from aidos.ingest.options import HowToRead
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, RequiredInTerminal, Section, Short
from aidos.studies.study import FINDINGS, PAGE
from aidos.studies.utility.outcome import UtilityOutcome
from aidos.studies.utility.plan import EXPERIMENTS, Experiment, OfAnonymity, Tried, UtilityPlan

if TYPE_CHECKING:
    from aidos.engine.embedded import EmbeddedEngine
    from aidos.report.page import Block, Page
    from aidos.studies.utility.experiment import PreparedLog, Source

__all__ = [
    "CachingStudy",
    "MechanismsStudy",
    "OnWhat",
    "RetrievalStudy",
    "StatisticsStudy",
    "SubstitutionStudy",
    "UtilityOverview",
    "UtilityStudy",
]

USUAL = UtilityPlan()
SEARCHED = {"caching", "mechanisms", "retrieval"}
"""Experiments that need what was searched in."""
LEAD = "Statistics, caching, suggestions, ranking, and all mechanisms at equal guarantees."


@dataclass(frozen=True, slots=True, kw_only=True)
class OnWhat:
    """What is searched, and what is made where nothing is named."""

    documents: tuple[str, ...] = ()
    """The searched collection: a Parquet file with object_id and text, posts, or texts; may be repeated."""
    size: str = "small"
    """The size of the sample world, where no log is named: tiny, small, medium or a number of people."""
    seed: Annotated[int, Ge(0), SEED] = USUAL.seed
    """Of the sample world, and of all noise."""
    repeats: Annotated[int, Ge(1), ROUNDS] = USUAL.repeats
    """How often each release is simulated, with other noise."""


@dataclass(frozen=True, slots=True)
class _OnLog:
    """What every one of these jobs takes."""

    experiments: ClassVar[tuple[Experiment, ...]]
    called: ClassVar[Mapping[str, str]] = {}
    """Parameters that the plan has under another name."""

    files: tuple[str, ...] = ()
    """A search log of any known format; the sample world's if unset."""
    _: KW_ONLY
    output: Annotated[Path | None, Short("-o"), RequiredInTerminal()] = None
    """The directory for results: a tidy table and a page."""
    on_what: Annotated[OnWhat, Section("On what")] = field(default_factory=OnWhat)
    how: Annotated[HowToRead, Section("How to read the files")] = field(default_factory=HowToRead)

    def __post_init__(self) -> None:
        check_parameters(self.on_what)
        self.plan()

    def plan(self) -> UtilityPlan:
        """What is tried: everything that is not named as the plan has it."""
        own = [each.name for each in fields(self) if each.name not in {"files", "_", "output", "on_what", "how"}]
        given = {self.called.get(name, name): getattr(self, name) for name in own}
        told: dict[str, Any] = {name: value for name, value in given.items() if value not in (None, ())}
        return UtilityPlan(**told, seed=self.on_what.seed, repeats=self.on_what.repeats)

    @contextmanager
    def prepared(self, desk: Desk) -> Iterator[PreparedLog]:
        """The log, made ready for the experiments of the job, on as many cores as the engine may use."""
        from aidos.studies.utility.experiment import prepare

        with desk.engine() as engine:
            source = self._source(engine, desk)
            workers = min(engine.threads, os.cpu_count() or 1)
            memory = engine.memory if workers == 1 else ""
            plan, progress = self.plan(), desk.progress
            with prepare(source, plan, self.experiments, workers=workers, memory=memory, progress=progress) as found:
                yield found

    def _source(self, engine: EmbeddedEngine, desk: Desk) -> Source:
        from aidos.studies.utility.experiment import own_source, sample_source
        from aidos.world.size import World

        on, searched = self.on_what, not SEARCHED.isdisjoint(self.experiments)
        world = World(size=on.size, seed=on.seed)
        if not self.files:
            return sample_source(engine, world, on.documents, desk.progress, searched=searched)
        options = self.how.options(normalise="all")
        return own_source(engine, self.files, options, world, on.documents, searched=searched)


@dataclass(frozen=True, slots=True)
class _Single(_OnLog):
    """A job of one experiment."""

    def run(self, desk: Desk) -> UtilityOutcome:
        """Prepare the log, and run what is not on the shelf."""
        with self.prepared(desk) as prepared:
            found = prepared.run(self.experiments[0], keep=self.output)
        return replace(found, synthetic=not self.files, asked=desk.asked).kept()


@dataclass(frozen=True, kw_only=True)
class _AsInPaper:
    delta: float = USUAL.delta
    """Chance that the promise fails, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class _Strengths:
    epsilons: Annotated[tuple[float, ...], Commas()] = USUAL.epsilons
    """Strengths, with commas between."""


@dataclass(frozen=True, kw_only=True)
class _Varied:
    usual_epsilon: float = USUAL.usual_epsilon
    """The strength at which limits are varied."""


@dataclass(frozen=True, kw_only=True)
class _Kinds:
    kinds: Annotated[tuple[str, ...], Commas()] = ()
    """Kinds of items: keywords, queries, clicks, pairs; all that the log has if unset."""


@dataclass(frozen=True, slots=True)
class StatisticsStudy(_Single, OfAnonymity, _AsInPaper, _Varied, _Kinds):
    """How far published counts are from true ones, by strength and by limit.

    ZEALOUS and k-query anonymity over keywords, queries, clicks and pairs of a
    log: distinct and total counts, coverage and precision of the most frequent
    items, count distributions, average differences (tables 3 and 4, figures 2
    to 5 of the paper). Without a log the sample world is made. Releases are
    simulated with a seed, results are findings. What is done is kept in the
    directory and not done again.

    For example:
        aidos evaluate statistics -o results
        aidos evaluate statistics log.tsv --kinds queries,pairs -o results
        aidos evaluate statistics log.tsv --epsilons 1,10 --items-per-person 1,5,25 -o results
    """

    experiments: ClassVar = ("statistics",)

    _: KW_ONLY
    epsilons: Annotated[tuple[float, ...], Commas()] = USUAL.epsilons
    """Strengths at one item of each person, with commas between."""
    items_per_person: Annotated[tuple[Annotated[int, Ge(1), ITEMS], ...], Commas()] = USUAL.items_per_person
    """Limits on items of each person (m)."""


@dataclass(frozen=True, slots=True)
class CachingStudy(_Single, OfAnonymity, _Strengths, _Varied):
    """Which hits a cache of posting lists gets when a release fills it.

    Lists are chosen by how many people have a keyword, in the log, in
    k-anonymous and in ZEALOUS releases and in those of every other mechanism,
    divided by the documents that have it; hits are counted under the log's own
    searches (figure 6 of the paper). Where the whole index would fit into the
    memory, a tenth of it is taken.

    For example:
        aidos evaluate caching -o results
        aidos evaluate caching log.tsv --documents pages.parquet -o results
        aidos evaluate caching log.tsv --documents texts --cache-bytes 100000000 -o results
    """

    experiments: ClassVar = ("caching",)

    _: KW_ONLY
    items_per_person: Annotated[tuple[Annotated[int, Ge(1), ITEMS], ...], Commas()] = USUAL.items_per_person
    """Limits on keywords of each person (m)."""
    cache_items: Annotated[int, Ge(1), ITEMS] = USUAL.cache_items
    """The limit at which strengths are varied, as in the paper."""
    cache_bytes: Annotated[int, Ge(1), ROWS] = USUAL.cache_bytes
    """Memory for posting lists, as in the paper."""


@dataclass(frozen=True, slots=True)
class SubstitutionStudy(_Single, OfAnonymity, _AsInPaper, _Strengths):
    """Which suggestions a release still gives, against those of the log itself.

    Suggestions are learned from queries and pairs of queries, of the log, of
    k-anonymous and of ZEALOUS releases: precision, recall, MAP, NDCG and
    coverage of the best two and five (figures 7 and 8 of the paper). ZEALOUS
    publishes few pairs of a small log; where it suggests nothing, it is said
    from which size on it does. The figures need about 100,000 people (medium).

    For example:
        aidos evaluate substitution --size medium -o results
        aidos evaluate substitution log.tsv --epsilons 2,10 --ks 10,50 -o results
    """

    experiments: ClassVar = ("substitution",)

    _: KW_ONLY
    usual_epsilon: float = USUAL.usual_epsilon
    """The strength that findings are read at."""
    suggested_queries: Annotated[int, Ge(1), ROWS] = USUAL.suggested_queries
    """The most frequent queries that suggestions are made for, as in the paper."""


@dataclass(frozen=True, slots=True)
class RetrievalStudy(_Single, Tried):
    """How well results are ranked from a released log, before and after.

    A random walk over queries, clicks and transitions, and implicit feedback,
    learned from the log and from pool releases of it, tried on people who were
    held out: nDCG@10, P@5, P@10 and MAP with paired t-tests, and the sweep over
    noise and threshold (tables 4 and 5, figure 1 of the paper). The release as
    published has no guarantee; the strict one takes public phrases and results
    from the documents.

    What is not given is the paper's, scaled to the log: b and K by its queries
    against the 21,011,340 of the paper's log (at least by 0.01), q_f by the
    queries of a person against its 32.

    For example:
        aidos evaluate retrieval -o results
        aidos evaluate retrieval log.tsv --noise-scales 10,100 --thresholds 50,500 -o results
    """

    experiments: ClassVar = ("retrieval",)

    _: KW_ONLY
    noise_scales: Annotated[tuple[float, ...], Commas()] = ()
    """Noise of the pool release (b), with commas between; 10,50,100,500 scaled to the log if unset."""
    thresholds: Annotated[tuple[Annotated[int, Ge(1), ROWS], ...], Commas()] = ()
    """Counts that queries need (K); 10,100,500 scaled to the log if unset."""
    usual_noise: float | None = None
    """The noise of the tables; the paper's 10 scaled to the log if unset."""
    usual_threshold: Annotated[int | None, Ge(1), ROWS] = None
    """The threshold of the tables; the paper's 500 scaled to the log if unset."""
    pool_limit: Annotated[int | None, Ge(2), Le(10_000)] = None
    """Queries, clicks and transitions of each person that count (q_f); 100 scaled to the log if unset."""
    folds: Annotated[int, Ge(2), Le(1_000)] = USUAL.folds
    """Parts that the people are divided into."""


@dataclass(frozen=True, slots=True)
class MechanismsStudy(_Single, _Strengths, _Kinds):
    """Compare every mechanism at equal guarantees.

    Items, coverage and distances of counts of every mechanism over keywords,
    queries, clicks and pairs, with the cache and the suggestions that they
    allow; at the same epsilon and delta, for one person added or removed and
    for one person replaced.

    For example:
        aidos evaluate mechanisms -o results
        aidos evaluate mechanisms log.tsv --epsilons 1,3 --delta 1e-7 -o results
    """

    experiments: ClassVar = ("mechanisms",)
    called: ClassVar = {name: f"equal_{name}" for name in ("epsilons", "delta", "items_per_person")}

    _: KW_ONLY
    epsilons: Annotated[tuple[float, ...], Commas()] = USUAL.equal_epsilons
    delta: float = USUAL.equal_delta
    """Chance that the promise fails."""
    items_per_person: Annotated[int, Ge(1), ITEMS] = USUAL.equal_items_per_person
    """Items of each person that count."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class UtilityOverview(Finding):
    """Every experiment that a log allows."""

    about: str = "the people of the log"
    outcomes: tuple[UtilityOutcome, ...]
    """Of the experiments that were run; each has a page in the directory of its name."""
    left_out: Mapping[str, str]
    """Those that the log does not allow, and why."""
    synthetic: bool = True
    output: Path | None = None
    asked: str = ""

    def facts(self) -> Mapping[str, object]:
        """Every experiment."""
        outcomes = {each.experiment: each.for_machines() for each in self.outcomes}
        return {"output": str(self.output or ""), "experiments": outcomes, "left_out": dict(self.left_out)}

    def blocks(self) -> Sequence[Block]:
        """What the papers found and what was found here, by experiment."""
        return tuple(each.claims_table(each.title()) for each in self.outcomes)

    def remarks(self) -> Sequence[str]:
        """What is left out, what to know about the numbers, where to read on, and whose they are."""
        told = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        kinds = {kind: why for each in self.outcomes for kind, why in each.basis.left_out.items()}
        told += [f"{kind} are left out: {why}" for kind, why in kinds.items()]
        told += [words for each in self.outcomes for words in each.known()]
        if self.output is not None:
            told.append(f"{self.output / PAGE} has every table and chart")
        return (*told, *(() if self.synthetic else (FINDINGS,)))

    def page(self) -> Page:
        """One page that leads to the others."""
        from aidos.report.page import Chapter, Code, Page
        from aidos.studies.utility.page import overview_chapters

        again = Chapter(title="The same again", blocks=(Code(text=self.asked, language="command"),))
        return Page(
            title="What a released log is still good for",
            lead=f"{self.outcomes[0].basis.about}. {LEAD}",
            chapters=(*overview_chapters(self), *([again] if self.asked else ())),
            source=None if self.synthetic else self,
        )


@dataclass(frozen=True, slots=True)
class UtilityStudy(_OnLog, _Kinds):
    """What a release of a log would still be good for: all experiments at once.

    Statistics, caching, substitution, retrieval and mechanisms with their usual
    grids, each in a directory of its own with its page, and a page over all.
    The log is prepared once. What a log does not allow is left out, with the
    reason. Each directory can be gone on with by the experiment's own command.

    For example:
        aidos evaluate utility --size 2000 -o results
        aidos evaluate utility log.tsv --documents pages.parquet -o results
    """

    experiments: ClassVar = EXPERIMENTS

    _: KW_ONLY

    def run(self, desk: Desk) -> UtilityOverview:
        """Run all experiments that the log allows."""
        from aidos.engine.files import write_text
        from aidos.report.page import render
        from aidos.studies.shelf import Shelf, fingerprint
        from aidos.studies.utility.originals import UnsuitedLogError

        outcomes: list[UtilityOutcome] = []
        left_out: dict[str, str] = {}
        synthetic = not self.files
        with self.prepared(desk) as prepared:
            plan = prepared.ground.plan
            Shelf(self.output, fingerprint(f"{prepared.source.fingerprint} {plan.seed} {plan.kinds}"))
            for experiment in EXPERIMENTS:
                try:
                    found = prepared.run(experiment, keep=self.output and self.output / experiment)
                except UnsuitedLogError as error:
                    left_out[experiment] = error.message
                    continue
                outcomes.append(replace(found, synthetic=synthetic, asked=desk.asked).kept())
        overview = UtilityOverview(
            outcomes=tuple(outcomes), left_out=left_out, synthetic=synthetic, output=self.output, asked=desk.asked
        )
        if self.output is not None:
            write_text(self.output / PAGE, render(overview.page()), private=not synthetic)
        return overview
