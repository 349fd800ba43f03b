"""What the study of risk measures tries: which measures, which of their parameters are varied, and what is learned.

The adversary learns a topic model and word vectors beforehand, from a background corpus. The thesis trained both on
Quora and on news (section 6.5.1.4), not on the profiles that were judged. In the sample world the background is
everything that anybody can read there: the documents of its search service, which are about all topics, and the posts
of both communities. Without documents the topics that only professionals write about would be too rare to be learned,
and breadth of interest could not be seen. Learning takes one thread, so that the same seed gives the same models again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Annotated

import pyarrow as pa
from annotated_types import Ge, Gt, Le

from aidos.core.checks import check_parameters
from aidos.core.limits import ROUNDS, SEED
from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError, ParameterError
from aidos.model.latent.matching import match
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import train_topics
from aidos.model.sensitive import Domains, TopicSet
from aidos.model.text.vocabulary import Texts
from aidos.model.vectors import WordVectors, train_vectors
from aidos.rooms.risk.jobs.options import Rounds
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measures import KEYWORDS, OURS, RiskMeasure, TopicalRisk, find_measure
from aidos.studies.risk.profiles import ProfileSampling
from aidos.studies.shelf import Shelf
from aidos.world.documents import document_blocks
from aidos.world.posts import post_blocks
from aidos.world.size import World

__all__ = ["Learning", "RiskExperiment", "Varied", "label", "readable_texts", "table_texts"]

Varied = tuple[RiskMeasure, tuple[str, float] | None]
"""A measure, and which parameter was varied to which value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning(Rounds):
    """How models are learned."""

    latent_topics: Annotated[int, Ge(2), Le(10_000)] = 120
    """Topics of the topic model: about as many as the background is about."""
    iterations: Annotated[int, Ge(1), ROUNDS] = 100
    dimensions: Annotated[int, Ge(2), Le(10_000)] = 100
    domains: Domains = "fields"
    """How sensitive topics are grouped: by the six fields of the thesis, or by branches of the taxonomy."""
    seed: Annotated[int, Ge(1), SEED] = 1
    """Of both models."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def models(self, texts: Texts, shelf: Shelf, *, progress: Progress = SILENT) -> RiskModels:
        """Learn from texts, or take what is on the shelf."""
        latent = shelf.model(
            "topics",
            TopicModel,
            lambda: train_topics(
                texts, topics=self.latent_topics, iterations=self.iterations, seed=self.seed, progress=progress
            ),
        )
        vectors = shelf.model(
            "vectors",
            WordVectors,
            lambda: train_vectors(
                texts, dimensions=self.dimensions, epochs=self.epochs, seed=self.seed, progress=progress
            ),
        )
        topics = TopicSet.default(domains=self.domains)
        return RiskModels(topics=topics, latent=latent, dimensions=match(latent, topics).dimensions, vectors=vectors)


def readable_texts(world: World) -> Texts:
    """What anybody can read in a world: posts and documents."""
    tables = chain(post_blocks(world), document_blocks(world))
    return pa.chunked_array([chunk for table in tables for chunk in table["text"].chunks])


def table_texts(entries: EmbeddedTable | pa.Table) -> Texts:
    """The texts of posts, or the queries of a log."""
    held = list(entries.column_names if isinstance(entries, pa.Table) else entries.columns)
    for name in ("text", "user_query"):
        if name in held:
            return (
                entries[name] if isinstance(entries, pa.Table) else entries.fetch(f"select {name} from {{table}}")[name]
            )
    raise InputError("entries need author_id and text, or client_id and user_query")


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskExperiment:
    """What is tried."""

    measures: tuple[str, ...] = tuple(OURS)
    """Measures by name, with parameters if they are not the usual ones."""
    breadths: tuple[Annotated[float, Gt(0), Le(1)], ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    """Shares of a domain that are tried in measures with D (k); empty to vary nothing."""
    recurrings: tuple[Annotated[int, Ge(1)], ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    """Numbers of time buckets that are tried in measures with T (m); empty to vary nothing."""
    sampling: ProfileSampling | None = None
    """How profiles are drawn; everybody counts if unset. Where judges chose, only judged profiles count anyway."""
    learning: Learning = field(default_factory=Learning)
    """How models are learned where none are given."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if not self.measures:
            raise ParameterError("RiskExperiment: give at least one measure")
        self.groups()

    def groups(self) -> dict[str, list[Varied]]:
        """Measures that share work, by the name of what they share; first as they are, then varied."""
        found: dict[str, list[Varied]] = {}
        for measure in dict.fromkeys(map(find_measure, self.measures)):
            words = "keywords" if measure.name in KEYWORDS else "baselines"
            name = measure.space if isinstance(measure, TopicalRisk) else words
            found.setdefault(name, []).append((measure, None))
        for group in found.values():
            group += [one for measure, _ in list(group) for one in self._varied(measure)]
        return found

    def _varied(self, measure: RiskMeasure) -> list[Varied]:
        if not isinstance(measure, TopicalRisk) or label(measure) != measure.name:
            return []
        breadths = self.breadths if measure.domain else ()
        recurrings = self.recurrings if measure.time else ()
        return [
            *((replace(measure, breadth=value), ("breadth", value)) for value in breadths),
            *((replace(measure, recurring=value), ("recurring", float(value))) for value in recurrings),
        ]


def label(measure: RiskMeasure) -> str:
    """The name of a measure, with its parameters only where they are not the usual ones."""
    return measure.name if OURS.get(measure.name) == measure else str(measure)
