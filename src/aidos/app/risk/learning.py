"""Learning the adversary's models from a corpus: a topic model, word vectors, and a card for each topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
from annotated_types import Ge

from aidos.app.risk.knowledge import CARDS, LATENT, VECTORS
from aidos.core.checks import check_parameters
from aidos.core.progress import Progress
from aidos.engine.embedded import EmbeddedTable
from aidos.engine.files import write_text
from aidos.errors import InputError
from aidos.model.latent.cards import make_cards
from aidos.model.latent.matching import match
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import train_topics
from aidos.model.sensitive import TopicSet
from aidos.model.topicfile import read_topics
from aidos.model.vectors import WordVectors, train_vectors
from aidos.model.wordlimits import WordLimits

__all__ = ["Learned", "Lesson", "learn"]

ORDERED = "select author_id, concat_ws(' ', nullif(title, ''), text) as text from {table} order by all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """How much is learned, and how."""

    latent_topics: Annotated[int, Ge(1)] = 200
    """Topics of the topic model."""
    guided: bool = False
    """Whether the first topics are drawn to the words of the sensitive topics."""
    iterations: Annotated[int, Ge(1)] = 150
    """Rounds of sampling."""
    dimensions: Annotated[int, Ge(1)] = 100
    """Numbers of a word vector."""
    epochs: Annotated[int, Ge(1)] = 5
    """Rounds over the texts for word vectors."""
    least_people: Annotated[int, Ge(1)] = 20
    """Fewest people who must use a word."""
    seed: Annotated[int, Ge(1)] = 1
    """Of both models."""
    threads: int | None = None
    """All cores where it is None; only one thread gives the same models again."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned."""

    texts: int
    words: int
    latent_topics: int
    mean_coherence: float
    matched: int
    """Sensitive topics that have a latent one."""
    unmatched: int


def learn(entries: EmbeddedTable, output: Path, lesson: Lesson, topics: Path | None, *, progress: Progress) -> Learned:
    """Learn from the entries of people, and write models and cards to a directory."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output} holds something already", hint="choose another directory")
    sensitive = TopicSet.default() if topics is None else read_topics(topics)
    read = entries.fetch(ORDERED)
    guides = [topic.words for topic in sensitive] if lesson.guided else []
    latent, vectors = _trained(read, lesson, guides, progress)
    matches = match(latent, sensitive)
    output.mkdir(parents=True, exist_ok=True, mode=0o700)
    latent.save(output / LATENT)
    vectors.save(output / VECTORS)
    cards = make_cards(latent, sensitive, matches)
    said = [*map(str, cards), *(f"note: {warning}" for warning in matches.warnings)]
    write_text(output / CARDS, "\n\n".join(said) + "\n", private=True)
    return Learned(
        texts=read.num_rows,
        words=len(latent.words),
        latent_topics=len(latent),
        mean_coherence=round(float(np.nanmean(latent.coherences)), 3),
        matched=len(matches.dimensions),
        unmatched=len(sensitive) - len(matches.dimensions),
    )


def _trained(
    read: pa.Table, lesson: Lesson, guides: Sequence[Sequence[str]], progress: Progress
) -> tuple[TopicModel, WordVectors]:
    people, limits = read["author_id"].to_pylist(), WordLimits(least_people=lesson.least_people)
    latent = train_topics(
        read["text"],
        topics=lesson.latent_topics,
        guides=guides,
        people=people,
        limits=limits,
        iterations=lesson.iterations,
        seed=lesson.seed,
        threads=lesson.threads,
        progress=progress,
    )
    vectors = train_vectors(
        read["text"],
        dimensions=lesson.dimensions,
        people=people,
        limits=limits,
        epochs=lesson.epochs,
        seed=lesson.seed,
        threads=lesson.threads,
        progress=progress,
    )
    return latent, vectors
