"""Surrogate engines and what is learned of them: topics of profiles, which list is personalised, and whose it is.

Three settings. *Every query*: results mix topics, and every list is personalised, as the paper's engine does it. *Three
in ten*: so many queries are personalised as of the paper's real accounts, and the vanilla rank counts, too. *Lists of
one topic*: each document is about one topic and no word is shared, so that there is nothing to lift over anything.
Queries are of random topics, whoever asks: people are told apart by what the engine does, not by what they ask.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.core.resultpairs import Result
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.classification import disambiguate, log_likelihoods
from aidos.rooms.audit.inference import LearningSettings, infer_profile
from aidos.rooms.audit.shifts import look_before_learning, rank_shift, shifts_by_query, within_list_squares
from aidos.rooms.audit.topics.latent import LatentTopics
from aidos.studies.audit.plan import AuditExperiment
from aidos.studies.audit.sampled import LEARNERS
from aidos.studies.audit.surrogate import SurrogateWorld, WorldSettings, build_world, train_engine

__all__ = [
    "EVERY",
    "METHODS",
    "SETTINGS",
    "SINGLE",
    "SOME",
    "Engines",
    "Setting",
    "regress_topics",
    "weights_without_switch",
]

Floats = NDArray[np.float64]
EVERY, SOME, SINGLE = "every query", "three in ten", "lists of one topic"
SWEPT = 5
"""Topics of the profiles for which it is tried how many topics to describe results by."""
GROUPS = 40
"""Groups of each size that are drawn from the people of an engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A kind of engine and of documents."""

    documents: WorldSettings
    rate: float
    rank_matters: bool = False


SETTINGS: dict[str, Setting] = {
    EVERY: Setting(documents=WorldSettings(), rate=1.0),
    SOME: Setting(documents=WorldSettings(), rate=0.3, rank_matters=True),
    SINGLE: Setting(documents=WorldSettings(topics_per_document=0.02, shared_by=1), rate=1.0),
}
CERTAIN = 1e9
"""Personalised queries in the prior of the rate that leave the switch no doubt."""


def regress_topics(pairs: PairArrays) -> Floats:
    """For each topic alone, ranks gained for one more unit of it within a list, by least squares."""
    variation = within_list_squares(pairs)
    shifts: Floats = shifts_by_query(pairs).sum(axis=0)
    return np.divide(shifts, variation, out=np.zeros_like(shifts), where=variation > 1e-9)


def weights_without_switch(pairs: PairArrays, settings: LearningSettings | None = None) -> Floats:
    """Weights of the model where every query is personalised (rho = 1)."""
    certain = replace(settings or LearningSettings(), personalised_before=CERTAIN, vanilla_before=1 / CERTAIN)
    return infer_profile(pairs, certain).weights


METHODS: dict[str, Callable[[PairArrays], Floats]] = {
    **{name: lambda pairs, learn=learn: learn(pairs).weights for name, learn in LEARNERS.items()},  # type: ignore[misc]
    "rank shift": rank_shift,
    "no switch": weights_without_switch,
    "regression": regress_topics,
}
"""What gives each topic a number."""


class Engines:
    """All surrogate engines of an experiment, made when they are first needed."""

    def __init__(self, asked: AuditExperiment, progress: Progress = SILENT) -> None:
        self._asked, self._progress = asked, progress
        self._built = cache(self._build)

    def rank_topics(self) -> pa.Table:
        """A row for each setting, world, number of topics and method: where the true topics stand."""
        rows: list[dict[str, Any]] = []
        for about, topics, pairs in self._profiles("learning topics", tuple(SETTINGS), 3):
            seen = look_before_learning(pairs)
            about |= {"mixing": seen.mixing, "warned": bool(seen.warnings)}
            for method, score in METHODS.items():
                order = np.argsort(-score(pairs), kind="stable")
                ranks = np.sort(np.flatnonzero(np.isin(order, topics)) + 1)
                rows.append({**about, "method": method, "ranks": ranks.tolist()})
        return pa.Table.from_pylist(rows)

    def tell_lists_apart(self) -> pa.Table:
        """A row for each setting, world, number of topics, split and method: how often the right list was told."""
        rows: list[dict[str, Any]] = []
        for about, _, pairs in self._profiles("telling lists apart", (EVERY, SOME), 4):
            for share in self._asked.learned_from:
                rows += [{**about, **row} for row in _lists_told(pairs, share)]
        return pa.Table.from_pylist(rows)

    def sweep_topics(self) -> pa.Table:
        """A row for each setting, world, number of topics that describe results, and method: the same."""
        rows: list[dict[str, Any]] = []
        numbers, worlds = self._asked.described_by, self._asked.worlds
        with self._progress.task("trying numbers of topics", total=worlds * len(numbers), unit="models") as task:
            for number in range(worlds):
                texts = [Result(title=text) for text in self._built(SETTINGS[EVERY].documents, number)[0].texts()]
                for described in numbers:
                    maps = LatentTopics(described, seed=self._asked.seed + 1).describe(texts, ()).maps
                    for setting in (EVERY, SOME):
                        stream = self._stream(8, setting, number)
                        topics = _draw_topics(setting, SWEPT, stream)
                        pairs = self._pairs(setting, number, topics, stream, maps)
                        about = {"setting": setting, "world": number, "described_by": described}
                        rows += [{**about, **row} for row in _lists_told(pairs, self._asked.learned_from[0])]
                    task.advance(1)
        return pa.Table.from_pylist(rows)

    def time_profiles(self) -> pa.Table:
        """A row for each world, number of topics and method: processor seconds until the profile is learned."""
        rows: list[dict[str, Any]] = []
        warm = True
        for about, _, pairs in self._profiles("timing by topics", (EVERY,), 9):
            known, _ = _split(pairs, self._asked.learned_from[0])
            for method, learn in LEARNERS.items():
                if warm:
                    learn(known.take(np.arange(len(known)) < 20))
                started = time.process_time()
                learn(known)
                rows.append({**about, "method": method, "seconds": time.process_time() - started})
            warm = False
        return pa.Table.from_pylist(rows)

    def tell_users_apart(self) -> pa.Table:
        """A row for each setting, world, number of topics, method, size of the group and group."""
        rows: list[dict[str, Any]] = []
        people = max(self._asked.group_sizes)
        kinds = [(setting, size) for setting in (EVERY, SOME) for size in self._asked.group_topics]
        steps = len(kinds) * self._asked.worlds * people
        with self._progress.task("telling people apart", total=steps, unit="people") as task:
            for setting, size in kinds:
                for number in range(self._asked.worlds):
                    stream = np.random.default_rng([*self._seeds(5, setting, number), size])
                    known, others = [], []
                    for _ in range(people):
                        topics = _draw_topics(setting, size, stream)
                        pairs = self._pairs(setting, number, topics, stream)
                        first, second = _split(pairs, self._asked.learned_from[0])
                        known.append(first)
                        others.append(second)
                        task.advance(1)
                    groups = [
                        (among, stream.choice(people, among, replace=False))
                        for among in self._asked.group_sizes
                        for _ in range(GROUPS)
                    ]
                    for method, learn in LEARNERS.items():
                        profiles = [learn(pairs) for pairs in known]
                        scores = [np.array([log_likelihoods(pairs, each) for each in profiles]) for pairs in others]
                        about = {"setting": setting, "world": number, "topics": size, "method": method}
                        rows += [{**about, "people": among, **_told(scores, group)} for among, group in groups]
        return pa.Table.from_pylist(rows)

    def _profiles(
        self, label: str, settings: tuple[str, ...], purpose: int
    ) -> Iterator[tuple[dict[str, Any], NDArray[np.int64], PairArrays]]:
        """Pairs of every setting, world and number of topics."""
        sizes, worlds = self._asked.profile_sizes, self._asked.worlds
        with self._progress.task(label, total=len(settings) * worlds * len(sizes), unit="profiles") as task:
            for setting in settings:
                for number in range(worlds):
                    stream = self._stream(purpose, setting, number)
                    for size in sizes:
                        topics = _draw_topics(setting, size, stream)
                        about: dict[str, Any] = {"setting": setting, "world": number, "topics": size}
                        yield about, topics, self._pairs(setting, number, topics, stream)
                        task.advance(1)

    def _pairs(
        self,
        setting: str,
        number: int,
        topics: NDArray[np.int64],
        stream: np.random.Generator,
        maps: TopicMaps | None = None,
    ) -> PairArrays:
        """What an account asks; results are described by the topics of the engine's documents, or by others."""
        kind = SETTINGS[setting]
        world, own = self._built(kind.documents, number)
        engine = train_engine(world, topics, rate=kind.rate, rank_matters=kind.rank_matters)
        return engine.ask(maps or own, stream, queries=self._asked.queries)

    def _build(self, documents: WorldSettings, number: int) -> tuple[SurrogateWorld, TopicMaps]:
        sized = replace(documents, documents=self._asked.documents)
        world = build_world(sized, np.random.default_rng([self._asked.seed, 0, number]))
        return world, world.topic_maps()

    def _stream(self, purpose: int, setting: str, number: int) -> np.random.Generator:
        return np.random.default_rng(self._seeds(purpose, setting, number))

    def _seeds(self, purpose: int, setting: str, number: int) -> list[int]:
        return [self._asked.seed, purpose, list(SETTINGS).index(setting), number]


def _draw_topics(setting: str, size: int, stream: np.random.Generator) -> NDArray[np.int64]:
    return stream.choice(SETTINGS[setting].documents.topics, size, replace=False)


def _lists_told(pairs: PairArrays, share: float) -> Iterator[dict[str, Any]]:
    """How often the personalised list was told after learning from a share of the queries, by method."""
    known, others = _split(pairs, share)
    for method, learn in LEARNERS.items():
        accuracy = disambiguate(others, learn(known)).accuracy
        yield {"method": method, "learned_from": share, "accuracy": accuracy, "queries": len(others)}


def _split(pairs: PairArrays, share: float) -> tuple[PairArrays, PairArrays]:
    """Queries come in random order, so that the first are as good as any."""
    known = np.arange(len(pairs)) < share * len(pairs)
    return pairs.take(known), pairs.take(~known)


def _told(scores: list[Floats], group: NDArray[np.int64]) -> dict[str, float]:
    """Of the queries of a group's people the share whose asker is the likeliest; the same for people as a whole."""
    queries = [float((np.argmax(scores[person][group], axis=0) == at).mean()) for at, person in enumerate(group)]
    whole = [int(np.argmax(scores[person][group].sum(axis=1)) == at) for at, person in enumerate(group)]
    return {"query_accuracy": float(np.mean(queries)), "user_accuracy": float(np.mean(whole))}
