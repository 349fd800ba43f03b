"""The thesis' experiment on critical queries, where the truth is known: the posts of the sample world.

The open community's exposure is computed, rows are drawn and described, a ranker is learned from weak signals (deleted
posts, words of the anonymous community) by cross-validation over members, and every member's list is measured by the
world's true criticality (see `truth`), beside every single feature and beside the raw signals, which are no rankers in
use: for a word that the anonymous community never said they are silent.

The learner never sees the truth; members it is measured on are not among those it was taught by, and what it needs to
be tuned it takes from the members it is taught by. Results are findings about a made-up society.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedEngine
from aidos.engine.scratch import scratch_directory
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.critical.learner import train
from aidos.rooms.exposure.critical.model import CriticalityModel
from aidos.rooms.exposure.critical.teaching import Rows, Signals, Teaching, user_scores
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.comparison import Graded, Scored, compare
from aidos.studies.exposure.study import KEPT, LEARNED, NOTE, ExposureOutcome
from aidos.studies.exposure.truth import TrueCriticality
from aidos.studies.shelf import Shelf, fingerprint
from aidos.world.posts import post_blocks
from aidos.world.size import World

__all__ = ["ExposureExperiment", "sample_community", "sample_experiment", "true_grades"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposureExperiment:
    """What is tried."""

    settings: SearchExposure = field(default_factory=SearchExposure)
    """How the community's search behaves."""
    teaching: Teaching = field(default_factory=Teaching)
    """How rows are drawn and what they are taught by."""
    folds: Annotated[int, Ge(2)] = 10
    """Parts of the members; each is ranked by what was learned from the others."""
    cost: Annotated[float, Gt(0)] | None = 10.0
    """How much the learner minds wrong pairs; the signals of other worlds chose 10. None tunes it in each fold."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the folds and of the learner."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def ranked(self, rows: Rows, targets: Floats, *, progress: Progress = SILENT) -> Floats:
        """The score of each row by a ranker that was not taught by its member."""
        members = rows.exposures.members
        names = np.random.default_rng([self.seed, 7]).permutation(np.unique(members))
        scores = np.empty(len(rows))
        with progress.task("learning to rank", total=self.folds, unit="folds") as task:
            for part in np.array_split(names, self.folds):
                mine = np.isin(members, part)
                given = members[~mine].astype(np.int64), rows.matrix[~mine], targets[~mine]
                learned = train(*given, seed=self.seed, cost=self.cost, folds=2)
                scores[mine] = learned.model.score(rows.matrix[mine])
                task.advance(1)
        return scores


def sample_community(world: World) -> tuple[pa.Table, pa.Table]:
    """The posts of a world's open community, and those of its anonymous sister."""
    posts = pa.concat_tables(post_blocks(world))
    open_, anonymous = (
        posts.filter(pc.equal(posts["community"], pa.scalar(name))).drop_columns(["community"])
        for name in ("open", "anonymous")
    )
    return open_, anonymous


def sample_experiment(  # noqa: PLR0913 (what, with what beside, and where and how it is worked out)
    world: World,
    experiment: ExposureExperiment | None = None,
    *,
    models: Mapping[str, CriticalityModel] | None = None,
    output: Path | None = None,
    memory: str = "2GB",
    threads: int | None = None,
    progress: Progress = SILENT,
) -> ExposureOutcome:
    """Run it on a world; ``models`` are measured as well, by name. Exposure sets go on where they were cut off."""
    asked, beside = experiment or ExposureExperiment(), models or {}
    told = {name: model.to_json() for name, model in beside.items()}
    shelf = Shelf(output, fingerprint([asdict(world), asdict(asked), told]))

    def measured() -> pa.Table:
        with ExitStack() as stack:
            directory = output or stack.enter_context(scratch_directory())
            posts, anonymous = sample_community(world)
            engine = stack.enter_context(EmbeddedEngine(memory=memory, threads=threads))
            target = directory / "exposure"
            compute(engine.table(posts), asked.settings, target, memory=memory, threads=threads, progress=progress)
            community = _Community(
                world=world,
                store=ExposureStore.open(target),
                posts=posts,
                signals=Signals.of(posts, anonymous, Analyser.parse(asked.settings.analyser)),
            )
            return _measured(asked, community, beside, progress).rows[KEPT]

    return replace(ExposureOutcome.from_rows(shelf.table(KEPT, measured)), output=output)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Community:
    """The open community of a world, and what is known about it."""

    world: World
    store: ExposureStore
    posts: pa.Table
    signals: Signals


def _measured(
    asked: ExposureExperiment, community: _Community, models: Mapping[str, CriticalityModel], progress: Progress
) -> ExposureOutcome:
    world, store, signals = community.world, community.store, community.signals
    rows = asked.teaching.rows(store, progress=progress)
    targets = asked.teaching.targets(store, rows.exposures, signals)
    rankers = {
        LEARNED: Scored(kind="learned", scores=asked.ranked(rows, targets, progress=progress)),
        **{name: Scored(kind="model", scores=model.score(rows.matrix)) for name, model in models.items()},
        "community_score": Scored(
            kind="signal", scores=asked.teaching.community_scores(store, rows.exposures, signals)
        ),
        "user_score": Scored(kind="signal", scores=user_scores(store, rows.exposures, signals.deletions)),
    }
    truth = TrueCriticality(world, analyser=Analyser.parse(asked.settings.analyser))
    about = f"The sample world of {world.people} people (seed {world.seed}), by its true criticality. {NOTE}"
    grades = true_grades(store, community.posts, rows.exposures, truth)
    return compare(rows, Graded(grades=grades, about=about), rankers, progress=progress)


def true_grades(store: ExposureStore, posts: pa.Table, exposures: Exposures, truth: TrueCriticality) -> Floats:
    """How critical each row truly is; the posts are those that the store was computed from."""
    ids: list[Any] = posts["post_id"].to_pylist()
    levels = dict(zip(ids, truth.levels(posts).tolist(), strict=True))
    numbers, row = np.unique(exposures.posts, return_inverse=True)
    by_post = np.array([levels[name] for name in store.posts(numbers)["post_id"].to_pylist()], dtype=np.float64)
    pairs = np.stack([exposures.first, exposures.second], axis=1)
    queries, query = np.unique(pairs, axis=0, return_inverse=True)
    words = np.unique(queries[queries != NO_WORD])
    spelled = dict(zip(words.tolist(), store.words(words), strict=True))
    revealing = truth.reveals([[spelled[word] for word in pair if word != NO_WORD] for pair in queries.tolist()])
    grades: Floats = by_post[row] * revealing[query.reshape(-1)]
    return grades
