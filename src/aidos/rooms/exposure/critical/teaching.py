"""What a ranker of exposing queries is taught from: rows of many members, their features, and weak targets.

From each member with enough queries at most so many are drawn at random, among whole matches that pass cleaning
(thesis, section 5.5); members with fewer than 30 are left out, since such lists need no ranking. The drawing depends on
the seed and the member alone.

Targets are the linear combination of two weak signals: was the post deleted later, and do people say these words
rather without their name. Both are noisy, and most members have nothing to
hide: their queries differ by noise alone, which would drown what is to be learned. So targets are turned into grades: 0
up to ``harmless``, 1 from ``critical`` on, 2 from 1 on, and none in between, where the signals say nothing clear. A
deletion weighs less than the community: it tips the balance where words are doubtful, and does not teach against plain
words.

Nothing here knows the truth that rankers are measured by (`aidos.studies.exposure.experiment`). But the weights and
bounds were settled with that of worlds 7 and 11 in view, so claims are to be checked on others.

The weak signals, where nobody was asked (thesis, sections 5.4.3 and 5.6):

    user score        1 where the post was deleted later, 0 where it was not; unknown posts have none (NaN)
    community score   (P_anon(q) - P_open(q)) / (P_anon(q) + P_open(q)), from the words of an anonymous and of an open
                      community: from -1, said only under one's name, to 1, said only without it
    sensitivity       of the topics that the words of the query point to: the alternative for who has neither

and linear combinations of them. The probability of a query is the product over its words, as a language model has it,
so that the score of two words is tanh((r(a) + r(b)) / 2) with r(w) = ln(P_anon(w) / P_open(w)).

Word counts are smoothed by adding the same probability to both communities, that of ``pseudo_count`` occurrences in the
smaller of them. A word that neither knows then scores 0, and one seen once or twice hardly leaves 0; adding one to
every count instead would call every unseen word anonymous whenever the anonymous community is the smaller.

Deletions come from the operator. There is no public data set of them, so nothing here claims that they carry the signal
that they carried in the thesis. People delete posts for many reasons, and such targets are noisy by design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, ParameterError
from aidos.model.sensitivity import TopicalSensitivity
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Texts, Vocabulary
from aidos.rooms.exposure.critical.categories import Lexicon
from aidos.rooms.exposure.critical.cleaning import clean_member
from aidos.rooms.exposure.critical.community import Community
from aidos.rooms.exposure.critical.features import FEATURES, MemberFeatures, WordSensitivity
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.store import ExposureStore

__all__ = [
    "PSEUDO_COUNT",
    "Rows",
    "Signals",
    "Teaching",
    "combine",
    "community_scores",
    "count_words",
    "log_ratios",
    "sensitivity_scores",
    "texts_of",
    "user_scores",
]

Floats = NDArray[np.float64]

PSEUDO_COUNT = 1.0
"""Occurrences in the smaller community that are added to both."""


def user_scores(store: Community, exposures: Exposures, deletions: Mapping[str, bool]) -> Floats:
    """Of each row, from post ids and whether the post was deleted; NaN for posts that are not listed."""
    posts, rows = np.unique(exposures.posts, return_inverse=True)
    ids = map(str, store.posts(posts).column("post_id").to_pylist()) if len(posts) else ()
    marks = {True: 1.0, False: 0.0, None: np.nan}
    known = np.array([marks[deletions.get(each)] for each in ids], dtype=np.float64)
    scores: Floats = known[rows]
    return scores


def count_words(texts: Texts, analyser: Analyser) -> dict[str, int]:
    """How often each term stands in the texts of a community; the analyser must be that of the search."""
    vocabulary = Vocabulary()
    found = analyse(texts, vocabulary, analyser=analyser)
    counts = np.bincount(found.terms, minlength=len(vocabulary))
    return dict(zip(vocabulary.terms(np.arange(len(vocabulary))), counts.tolist(), strict=True))


def log_ratios(
    words: Sequence[str],
    anonymous_counts: Mapping[str, int],
    open_counts: Mapping[str, int],
    *,
    pseudo_count: float = PSEUDO_COUNT,
) -> Floats:
    """r(w) = ln(P_anon(w) / P_open(w)) of words, smoothed; 0 for words that neither community knows."""
    totals = [sum(anonymous_counts.values()), sum(open_counts.values())]
    if not pseudo_count > 0:
        raise ParameterError(f"pseudo_count must be greater than 0, got {pseudo_count}")
    if not min(totals):
        raise InputError(
            "a community without words says nothing about how people talk in it",
            hint="give posts of the anonymous and of the open community",
        )
    added = pseudo_count / min(totals)
    logs = [
        np.log(np.array([counts.get(word, 0) for word in words], dtype=np.float64) / total + added)
        for counts, total in zip((anonymous_counts, open_counts), totals, strict=True)
    ]
    ratios: Floats = logs[0] - logs[1]
    return ratios


def community_scores(
    store: Community,
    exposures: Exposures,
    anonymous_counts: Mapping[str, int],
    open_counts: Mapping[str, int],
    *,
    pseudo_count: float = PSEUDO_COUNT,
) -> Floats:
    """Of the query of each row, from word counts of the two communities (see `count_words`)."""
    words, first, second = _words(store, exposures)
    ratios = np.append(log_ratios(words, anonymous_counts, open_counts, pseudo_count=pseudo_count), 0.0)
    scores: Floats = np.tanh((ratios[first] + ratios[second]) / 2)
    return scores


def sensitivity_scores(store: Community, exposures: Exposures, sensitivity: WordSensitivity) -> Floats:
    """Topical sensitivity of the query of each row: the sum of that of its words."""
    words, first, second = _words(store, exposures)
    values = np.append(sensitivity.words(words), 0.0)
    scores: Floats = values[first] + values[second]
    return scores


def combine(*parts: tuple[float, Floats]) -> Floats:
    """The sum of weighted scores; NaN wherever one of them is, since what is unknown cannot be taught."""
    if not parts:
        raise ParameterError("no scores are given", hint="give pairs of a weight and scores")
    if len({len(scores) for _, scores in parts}) > 1:
        raise ParameterError("the scores are of different lengths", hint="give one score a row in each")
    if not all(np.isfinite(weight) for weight, _ in parts):
        raise ParameterError("the weights of scores must be finite")
    total: Floats = np.sum([weight * scores for weight, scores in parts], axis=0)
    return total


def _words(store: Community, exposures: Exposures) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The words of the queries, each once, and where the two of each row stand; behind them where there is none."""
    numbers = np.unique(np.concatenate([exposures.first, exposures.second]))
    numbers = numbers[numbers != NO_WORD]
    places = [
        np.where(column == NO_WORD, len(numbers), np.searchsorted(numbers, column))
        for column in (exposures.first, exposures.second)
    ]
    return store.words(numbers), places[0], places[1]


LOOKED_AT = 3
"""So many times the rows that are wanted are drawn before cleaning, which leaves some out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Rows of members, those of one member together, and their features."""

    exposures: Exposures
    matrix: Floats
    """A row each, a column a feature."""

    def __len__(self) -> int:
        return len(self.exposures)

    def by_member(self) -> list[NDArray[np.int64]]:
        """The places of each member's rows."""
        _, starts = np.unique(self.exposures.members, return_index=True)
        return np.split(np.arange(len(self)), starts[1:]) if len(self) else []


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signals:
    """What an operator may know beside the posts."""

    deletions: Mapping[str, bool]
    """By post id, whether it was deleted later; posts that are not listed are left out."""
    anonymous_counts: Mapping[str, int]
    """How often each word stands in an anonymous community."""
    open_counts: Mapping[str, int]
    """How often each word stands in an open one."""

    @classmethod
    def of(cls, posts: pa.Table, anonymous: pa.Table, analyser: Analyser) -> Self:
        """From posts with the column deleted_later, and posts of an anonymous community (text and title)."""
        if "deleted_later" not in posts.column_names:
            raise InputError("posts do not say which of them were deleted", hint="add the column deleted_later")
        ids: list[Any] = posts["post_id"].to_pylist()
        marks: list[Any] = posts["deleted_later"].to_pylist()
        return cls(
            deletions={name: bool(mark) for name, mark in zip(ids, marks, strict=True) if mark is not None},
            anonymous_counts=count_words(texts_of(anonymous), analyser),
            open_counts=count_words(texts_of(posts), analyser),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Teaching:
    """How rows are drawn and signals become targets."""

    queries_per_member: Annotated[int, Ge(2)] = 200
    """Rows that are drawn from a member at most."""
    least_queries: Annotated[int, Ge(2)] = 30
    """Members with fewer are left out."""
    user_weight: Annotated[float, Ge(0)] = 0.3
    """What a deleted post adds to the target."""
    community_weight: Annotated[float, Ge(0)] = 1.0
    """What the community score, from -1 to 1, is multiplied by."""
    pseudo_count: Annotated[float, Gt(0)] = 10.0
    """Occurrences added to each word in both communities: rare words say little."""
    harmless: float = 0.1
    """Targets up to here are grade 0."""
    critical: Annotated[float, Le(1)] = 0.5
    """Targets from here on are grade 1, and from 1 on grade 2."""
    seed: Annotated[int, Ge(0)] = 0
    """Of the drawing."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.harmless < self.critical:
            raise ParameterError(f"Teaching: harmless is {self.harmless}, not below critical, {self.critical}")
        if self.least_queries > self.queries_per_member:
            raise ParameterError(f"Teaching: least_queries is {self.least_queries}, more than queries_per_member")

    def rows(self, store: ExposureStore, *, progress: Progress = SILENT) -> Rows:
        """Rows of every member with enough queries, and their features."""
        analyser = Analyser.parse(store.settings.analyser)
        lexicon, sensitivity = Lexicon.default(), TopicalSensitivity.default(analyser=analyser)
        drawn, matrices = [], [np.zeros((0, len(FEATURES)))]
        members = store.state.members
        with progress.task("describing queries", total=members, unit="members") as task:
            for number in range(members):
                chosen = self._drawn(store.member(number), number)
                if len(chosen) >= self.least_queries:
                    features = MemberFeatures.of(store, chosen, lexicon=lexicon, sensitivity=sensitivity)
                    kept = np.flatnonzero(clean_member(store, chosen, features.material).kept)
                    if len(kept) >= self.least_queries:
                        drawn.append(chosen.take(np.sort(kept[: self.queries_per_member])))
                        matrices.append(features.matrix(drawn[-1]))
                task.advance(1)
        if not drawn:
            raise InputError(
                f"no member is found by {self.least_queries} queries", hint="give more posts, or lower least_queries"
            )
        return Rows(exposures=Exposures.concatenate(drawn), matrix=np.concatenate(matrices))

    def targets(self, store: ExposureStore, exposures: Exposures, signals: Signals) -> Floats:
        """The grade that the signals give each row, NaN where they say nothing clear."""
        signal = combine(
            (self.user_weight, user_scores(store, exposures, signals.deletions)),
            (self.community_weight, self.community_scores(store, exposures, signals)),
        )
        grades = np.full(len(signal), np.nan)
        grades[signal <= self.harmless] = 0.0
        grades[signal >= self.critical] = 1.0
        grades[signal >= max(1.0, self.critical)] = 2.0
        return grades

    def community_scores(self, store: ExposureStore, exposures: Exposures, signals: Signals) -> Floats:
        """How much rather the words of each query are said without a name."""
        counts = signals.anonymous_counts, signals.open_counts
        return community_scores(store, exposures, *counts, pseudo_count=self.pseudo_count)

    def _drawn(self, exposures: Exposures, member: int) -> Exposures:
        """Whole matches in random order, some more than are wanted."""
        whole = np.flatnonzero(exposures.whole)
        order = np.random.default_rng([self.seed, member]).permutation(len(whole))
        return exposures.take(whole[order[: LOOKED_AT * self.queries_per_member]])


def texts_of(posts: pa.Table) -> pa.Array[Any]:
    """Titles and texts together, as the search reads them."""
    texts: Any = posts["text"]
    texts = texts.cast(pa.large_string()).fill_null("")
    if "title" in posts.column_names:
        join: Any = pc.binary_join_element_wise
        titles: Any = posts["title"]
        texts = join(titles.cast(pa.large_string()).fill_null(""), texts, pa.scalar(" ", pa.large_string()))
    joined: pa.Array[Any] = pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], pa.large_string())
    return joined
