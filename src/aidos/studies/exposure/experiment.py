"""The thesis' experiment on critical queries, where the truth is known: the posts of the sample world.

The open community's exposure is computed, rows are drawn and described, a ranker is learned from weak signals (deleted
posts, words of the anonymous community) by cross-validation over members, and every member's list is measured by the
world's true criticality (see below), beside every single feature and beside the raw signals, which are no rankers in
use: for a word that the anonymous community never said they are silent.

The learner never sees the truth; members it is measured on are not among those it was taught by, and what it needs to
be tuned it takes from the members it is taught by. Results are findings about a made-up society.

How critical it truly is, in the sample world, that a query returns a member's post: 0, 1 or 2. Two things must come
together: she minds the post, and the query points at what she minds.

- How much she minds follows the world's own three levels, those by which authors delete posts later: 2 where the post
  is about the sensitive topic that afflicts her, 1 where it is about another sensitive topic in use, 0 otherwise. A
  professional's posts about the rest of her domain are her work, and 0.
- A query points at it when it gives a sensitive topic away: under the distributions that the world draws the words of
  posts from, and all topics in use equally likely, words like these come from a sensitive topic with probability 1/2 or
  more. Words that the world does not draw, and background words, say nothing either way. That afflicted people keep to
  a few of their topic's words does not matter here: who reads a query does not know who wrote the post.

The grade is the level where the query gives it away, and 0 where it does not. Neither roles nor distributions can be
seen by a ranker: it has the posts alone, and for training which of them were deleted (by chance, and seldom) and how
often words come in the anonymous community. The truth is that of a made-up society: it says that a method finds what
was put there, not that real people mind the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from aidos.rooms.exposure.critical.senses import sensitivity_order
from aidos.rooms.exposure.critical.teaching import Rows, Signals, Teaching, user_scores
from aidos.rooms.exposure.queries.compute import compute
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure
from aidos.rooms.exposure.queries.store import ExposureStore
from aidos.studies.exposure.comparison import Graded, Scored, compare
from aidos.studies.exposure.study import KEPT, LEARNED, NOTE, SENSITIVITY, ExposureOutcome
from aidos.studies.shelf import Shelf, fingerprint
from aidos.world.people import ROLES, block_count, people_block
from aidos.world.posts import BACKGROUND, BORROWED, ON_TOPIC, post_blocks
from aidos.world.prose import client_texts
from aidos.world.size import World
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, build_vocabulary, zipf_cumulative

__all__ = [
    "GRADES",
    "ExposureExperiment",
    "TrueCriticality",
    "sample_community",
    "sample_experiment",
    "true_grades",
    "word_distributions",
]

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
        SENSITIVITY: Scored(kind="model", scores=sensitivity_order(store, rows.exposures)),
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


GRADES = 2
"""The highest grade."""
REVEALING = 0.5
"""From which probability of a sensitive topic on a query gives it away."""
SLIP = 1e-6
"""The least chance of any word in a post about any topic: nothing is impossible, and two words can clash."""
CHUNK = 1 << 16
PLAIN = Analyser()

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class TrueCriticality:
    """The truth about one world's posts and the queries that return them."""

    def __init__(self, world: World, *, analyser: Analyser = PLAIN) -> None:
        """``analyser`` is that of the search: queries are given by its terms."""
        self.vocabulary = build_vocabulary(world)
        self._topics = {topic.id: number for number, topic in enumerate(self.vocabulary.topics)}
        self._afflicted = _afflicted(world, self.vocabulary)
        terms = analyser.meanings(list(self.vocabulary.words))
        self._numbers = {term: number for number, term in enumerate(dict.fromkeys(term for term in terms if term))}
        likely = np.zeros((len(self._numbers) + 1, self.vocabulary.in_use))
        drawn = word_distributions(self.vocabulary)[: self.vocabulary.in_use]
        for word, term in enumerate(terms):
            if term:
                likely[self._numbers[term]] += drawn[:, word]
        # The last row, all alike, is that of words that the world does not draw.
        self._logs: Floats = np.log(np.maximum(likely, SLIP))

    def levels(self, posts: pa.Table) -> Ints:
        """How much the author of each post (author_id, forum) minds it: 0, 1 or 2."""
        authors: list[Any] = posts["author_id"].to_pylist()
        forums: list[Any] = posts["forum"].to_pylist()
        found = np.zeros(len(authors), dtype=np.int64)
        for place, (author, forum) in enumerate(zip(authors, forums, strict=True)):
            topic = self._topics.get(forum, -1)
            if topic in self.vocabulary.sensitive:
                found[place] = GRADES if self._afflicted.get(author) == topic else 1
        return found

    def reveals(self, queries: Sequence[Sequence[str]]) -> Flags:
        """Whether each query, given by its terms, gives a sensitive topic away."""
        longest = max((len(query) for query in queries), default=0)
        numbers = np.full((len(queries), longest), len(self._numbers), dtype=np.int64)
        for place, query in enumerate(queries):
            numbers[place, : len(query)] = [self._numbers.get(term, len(self._numbers)) for term in query]
        found = np.zeros(len(queries), dtype=np.bool_)
        for start in range(0, len(queries), CHUNK):
            logs = self._logs[numbers[start : start + CHUNK]].sum(axis=1)
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            sensitive = shares[:, self.vocabulary.ordinary :].sum(axis=1)
            found[start : start + CHUNK] = sensitive >= REVEALING * shares.sum(axis=1)
        return found


def word_distributions(vocabulary: Vocabulary) -> Floats:
    """The chance of each word of the world (by column) in a post about each topic (by row), not just in passing."""
    own = np.zeros((len(vocabulary.topics), len(vocabulary.words)))
    ranks = np.diff(zipf_cumulative(WORDS_PER_TOPIC), prepend=0.0)
    np.put_along_axis(own, vocabulary.topic_words, ranks[None, :], axis=1)
    plain = np.zeros(len(vocabulary.words))
    plain[vocabulary.background] = np.diff(zipf_cumulative(len(vocabulary.background)), prepend=0.0)
    ordinary, sensitive = own[: vocabulary.ordinary], own[vocabulary.ordinary : vocabulary.in_use]
    second = (1 - BORROWED) * ordinary.mean(axis=0) + BORROWED * sensitive.mean(axis=0)
    mixed: Floats = BACKGROUND * plain + (1 - BACKGROUND) * (ON_TOPIC * own + (1 - ON_TOPIC) * second)
    return mixed


def _afflicted(world: World, vocabulary: Vocabulary) -> dict[str, int]:
    """The topic that afflicts a member, by pseudonym."""
    found: dict[str, int] = {}
    for block in range(block_count(world)):
        people = people_block(world, vocabulary, block)
        mine = people.roles == ROLES.index("afflicted")
        names = map(str, client_texts(people.numbers[mine]).to_pylist())
        found |= dict(zip(names, people.role_topics[mine].tolist(), strict=True))
    return found
