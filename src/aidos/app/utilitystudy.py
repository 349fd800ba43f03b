"""The utility experiments from the command line: a log, or the sample world, in; tidy results and a page out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aidos.account.lineage import fingerprint_files
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedEngine, EmbeddedTable
from aidos.engine.files import replace_when_done, write_text
from aidos.errors import InputError
from aidos.ingest.history.reading import read_history
from aidos.ingest.options import ReadOptions
from aidos.ingest.reading import read_files
from aidos.ingest.sources import find_sources
from aidos.report.page import render
from aidos.studies.shelf import Shelf
from aidos.studies.utility.experiment import PreparedLog, Source, prepare
from aidos.studies.utility.originals import UnsuitedLogError
from aidos.studies.utility.outcome import Outcome
from aidos.studies.utility.overviewpage import UtilityOverview, overview_page
from aidos.studies.utility.page import UtilityStudy, utility_page
from aidos.studies.utility.plan import EXPERIMENTS, Experiment, UtilityPlan
from aidos.world.documents import document_blocks
from aidos.world.size import World
from aidos.world.write import write_sample

__all__ = ["UtilityData", "run_every_utility", "run_utility", "write_utility"]

RESULTS, PAGE = "results.parquet", "report.html"
TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityData:
    """What an experiment is run on."""

    files: Sequence[str] = ()
    """Of a search log; the sample world's where there are none."""
    documents: Sequence[str] = ()
    """Of the searched collection; the sample world's where neither they nor a log are named."""
    size: str = "small"
    """Of the sample world."""
    world_seed: int = 7
    """Of the sample world."""
    options: ReadOptions = field(default_factory=ReadOptions)
    """How the log is read."""

    @property
    def is_synthetic(self) -> bool:
        """Whether nobody's searches are in it."""
        return not self.files

    def open(self, engine: EmbeddedEngine, progress: Progress, *, with_documents: bool) -> Source:
        """Read what is named, make what is not."""
        world = World(size=self.size, seed=self.world_seed)
        documents = self._documents(engine, world) if with_documents else None
        if not self.files:
            made = f"The sample world of {world.people:,} people (seed {world.seed})"
            return Source(
                log=_sample_log(engine, world, progress),
                about=made,
                fingerprint=f"{self.size} {self.world_seed} {_named(self.documents)}",
                documents=documents,
            )
        log = read_files(engine, self.files, self.options).table
        paths = [source.path for source in find_sources(self.files)[0]]
        return Source(
            log=log,
            about=f"A search log of {len(paths)} file{'s' if len(paths) > 1 else ''}",
            fingerprint=f"{fingerprint_files(paths)} {self.size} {self.world_seed} {_named(self.documents)}",
            documents=documents,
        )

    def _documents(self, engine: EmbeddedEngine, world: World) -> EmbeddedTable | None:
        """None for a log of somebody's own without documents: those of the sample world have nothing to do with it."""
        if self.documents:
            return _read_documents(engine, self.documents)
        if self.files:
            return None
        return engine.table(pa.concat_tables(document_blocks(world)).select(["object_id", TEXT]))


def run_utility(
    experiment: Experiment,
    data: UtilityData,
    plan: UtilityPlan,
    output: Path,
    *,
    engine: EmbeddedEngine,
    progress: Progress,
) -> Outcome:
    """Run an experiment on as many cores as the engine may use, keeping what is done in the directory."""
    with _prepared((experiment,), data, plan, engine, progress) as prepared:
        return prepared.run(experiment, keep=output)


def run_every_utility(
    data: UtilityData, plan: UtilityPlan, output: Path, command: str, *, engine: EmbeddedEngine, progress: Progress
) -> UtilityOverview:
    """Run all experiments that the log allows, each in a directory of its own with its page, the log prepared once."""
    outcomes: list[Outcome] = []
    left_out: dict[str, str] = {}
    with _prepared(EXPERIMENTS, data, plan, engine, progress) as prepared:
        mark = sha256(f"{prepared.source.fingerprint} {plan.seed} {plan.kinds}".encode()).hexdigest()
        Shelf(output, mark)
        for experiment in EXPERIMENTS:
            keep = output / experiment
            try:
                outcome = prepared.run(experiment, keep=keep)
            except UnsuitedLogError as error:
                left_out[experiment] = error.message
                continue
            write_utility(keep, outcome, command=command, synthetic=data.is_synthetic)
            outcomes.append(outcome)
    found = UtilityOverview(outcomes=tuple(outcomes), left_out=left_out, command=command, synthetic=data.is_synthetic)
    write_text(output / PAGE, render(overview_page(found)), private=not data.is_synthetic)
    return found


def write_utility(output: Path, outcome: Outcome, *, command: str, synthetic: bool) -> None:
    """All results in one tidy table, and the page; private where they are about people."""
    with replace_when_done(output / RESULTS, private=not synthetic) as partial:
        pq.write_table(outcome.results, partial)
    page = utility_page(UtilityStudy(outcome=outcome, command=command, synthetic=synthetic))
    write_text(output / PAGE, render(page), private=not synthetic)


@contextmanager
def _prepared(
    experiments: Sequence[Experiment],
    data: UtilityData,
    plan: UtilityPlan,
    engine: EmbeddedEngine,
    progress: Progress,
) -> Iterator[PreparedLog]:
    searched = not {"caching", "mechanisms", "retrieval"}.isdisjoint(experiments)
    source = data.open(engine, progress, with_documents=searched)
    workers = min(engine.threads, os.cpu_count() or 1)
    memory = engine.memory if workers == 1 else ""
    with prepare(source, plan, experiments, workers=workers, memory=memory, progress=progress) as prepared:
        yield prepared


def _sample_log(engine: EmbeddedEngine, world: World, progress: Progress) -> EmbeddedTable:
    path = engine.scratch / "sample.parquet"
    write_sample("log", world, path, progress)
    return engine.parquet(path)


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
