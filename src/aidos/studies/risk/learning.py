"""What the adversary learns beforehand: a topic model and word vectors from a background corpus.

The thesis trained both on Quora and on news (section 6.5.1.4), not on the profiles that were judged. In the sample
world the background is everything that anybody can read there: the documents of its search service, which are about
all topics, and the posts of both communities. Without documents the topics that only professionals write about would
be too rare to be learned, and breadth of interest could not be seen.

Learning takes one thread, so that the same seed gives the same models again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Annotated

import pyarrow as pa
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.progress import SILENT, Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.errors import InputError
from aidos.model.latent.matching import match
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import train_topics
from aidos.model.sensitive import Domains, TopicSet
from aidos.model.text.vocabulary import Texts
from aidos.model.vectors import WordVectors, train_vectors
from aidos.rooms.risk.knowledge import RiskModels
from aidos.studies.risk.shelf import Shelf
from aidos.world.documents import document_blocks
from aidos.world.posts import post_blocks
from aidos.world.size import World

__all__ = ["Learning", "readable_texts", "table_texts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """How models are learned."""

    latent_topics: Annotated[int, Ge(2)] = 120
    """Topics of the topic model: about as many as the background is about."""
    iterations: Annotated[int, Ge(1)] = 100
    """Rounds of sampling."""
    dimensions: Annotated[int, Ge(2)] = 100
    """Numbers of a word vector."""
    epochs: Annotated[int, Ge(1)] = 5
    """Rounds over the texts for word vectors."""
    domains: Domains = "fields"
    """How sensitive topics are grouped: by the six fields of the thesis, or by branches of the taxonomy."""
    seed: Annotated[int, Ge(1)] = 1
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
