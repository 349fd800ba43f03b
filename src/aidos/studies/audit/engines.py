"""Surrogate engines and what is learned of them: topics of profiles, which list is personalised, and whose it is.

Three settings. *Every query*: results mix topics, and every list is personalised, as the paper's engine does it. *Three
in ten*: so many queries are personalised as of the paper's real accounts, and the vanilla rank counts, too. *Lists of
one topic*: each document is about one topic and no word is shared, so that there is nothing to lift over anything.
Queries are of random topics, whoever asks: people are told apart by what the engine does, not by what they ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.rooms.audit.arrays import PairArrays, TopicMaps
from aidos.rooms.audit.classification import disambiguate, log_likelihoods
from aidos.rooms.audit.inference import LearningSettings, infer_profile
from aidos.rooms.audit.shifts import look_before_learning, rank_shift, shifts_by_query, within_list_squares
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
LEARNED_FROM = 0.8
"""Share of queries that profiles are learned from where lists are to be told apart; the others are told."""
TOPICS_OF_PEOPLE = (3, 6)
"""People who are told apart have three to five topics."""
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
        """A row for each setting, world, number of topics and method: how often the personalised list was told."""
        rows: list[dict[str, Any]] = []
        for about, _, pairs in self._profiles("telling lists apart", (EVERY, SOME), 4):
            known, others = _split(pairs)
            for method, learn in LEARNERS.items():
                accuracy = disambiguate(others, learn(known)).accuracy
                rows.append({**about, "method": method, "accuracy": accuracy, "queries": len(others)})
        return pa.Table.from_pylist(rows)

    def tell_users_apart(self) -> pa.Table:
        """A row for each setting, world, method, size of the group and group."""
        rows: list[dict[str, Any]] = []
        people = max(self._asked.group_sizes)
        steps = 2 * self._asked.worlds * people
        with self._progress.task("telling people apart", total=steps, unit="people") as task:
            for setting in (EVERY, SOME):
                for number in range(self._asked.worlds):
                    stream = self._stream(5, setting, number)
                    known, others = [], []
                    for _ in range(people):
                        topics = _draw_topics(setting, int(stream.integers(*TOPICS_OF_PEOPLE)), stream)
                        first, second = _split(self._pairs(setting, number, topics, stream))
                        known.append(first)
                        others.append(second)
                        task.advance(1)
                    groups = [
                        (size, stream.choice(people, size, replace=False))
                        for size in self._asked.group_sizes
                        for _ in range(GROUPS)
                    ]
                    for method, learn in LEARNERS.items():
                        profiles = [learn(pairs) for pairs in known]
                        scores = [np.array([log_likelihoods(pairs, each) for each in profiles]) for pairs in others]
                        about = {"setting": setting, "world": number, "method": method}
                        rows += [{**about, "people": size, **_told(scores, group)} for size, group in groups]
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

    def _pairs(self, setting: str, number: int, topics: NDArray[np.int64], stream: np.random.Generator) -> PairArrays:
        kind = SETTINGS[setting]
        world, maps = self._built(kind.documents, number)
        engine = train_engine(world, topics, rate=kind.rate, rank_matters=kind.rank_matters)
        return engine.ask(maps, stream, queries=self._asked.queries)

    def _build(self, documents: WorldSettings, number: int) -> tuple[SurrogateWorld, TopicMaps]:
        sized = replace(documents, documents=self._asked.documents)
        world = build_world(sized, np.random.default_rng([self._asked.seed, 0, number]))
        return world, world.topic_maps()

    def _stream(self, purpose: int, setting: str, number: int) -> np.random.Generator:
        return np.random.default_rng([self._asked.seed, purpose, list(SETTINGS).index(setting), number])


def _draw_topics(setting: str, size: int, stream: np.random.Generator) -> NDArray[np.int64]:
    return stream.choice(SETTINGS[setting].documents.topics, size, replace=False)


def _split(pairs: PairArrays) -> tuple[PairArrays, PairArrays]:
    known = np.arange(len(pairs)) < LEARNED_FROM * len(pairs)
    return pairs.take(known), pairs.take(~known)


def _told(scores: list[Floats], group: NDArray[np.int64]) -> dict[str, float]:
    """Of the queries of a group's people the share whose asker is the likeliest; the same for people as a whole."""
    queries = [float((np.argmax(scores[person][group], axis=0) == at).mean()) for at, person in enumerate(group)]
    whole = [int(np.argmax(scores[person][group].sum(axis=1)) == at) for at, person in enumerate(group)]
    return {"query_accuracy": float(np.mean(queries)), "user_accuracy": float(np.mean(whole))}
