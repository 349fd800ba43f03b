"""What the adversary is taken to know: the models and topics that come along, or those of files.

A directory of models, as `aidos risk train` writes it, has a topic model and word vectors. Without one there is the
topic model that comes with aidos, and no word vectors: measures in the space w2v then say what they lack.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aidos.core.jsontext import parse_json
from aidos.engine.files import write_text
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.model.latent.matching import Matches, match
from aidos.model.latent.model import TopicModel
from aidos.model.sensitive import TopicSet, read_topics, write_topics
from aidos.model.text.analyser import Analyser
from aidos.model.vectors import WordVectors
from aidos.rooms.risk.knowledge import RiskModels
from aidos.rooms.risk.measures import MEASURES, RiskMeasure, TopicalRisk, find_measure

__all__ = [
    "CARDS",
    "LATENT",
    "VECTORS",
    "Knowledge",
    "choose_measures",
    "choose_topics",
    "keep_models",
    "kept_models",
    "load_knowledge",
]

LATENT = "topics.npz"
VECTORS = "vectors.npz"
CARDS = "cards.txt"
TOPICS = "topics.tsv"
MATCHING = "matching.json"
ALL = "all"
DAMAGED = "rank the posts again into a new directory"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knowledge:
    """Models and topics, and how they belong together."""

    latent: TopicModel
    topics: TopicSet
    matches: Matches
    vectors: WordVectors | None = None
    shipped: bool = field(default=False)
    """Whether the topic model is the one that comes with aidos."""

    def models(self) -> RiskModels:
        """As the measures take it."""
        dimensions = self.matches.dimensions
        return RiskModels(topics=self.topics, latent=self.latent, dimensions=dimensions, vectors=self.vectors)

    def analyser(self, measures: Sequence[RiskMeasure]) -> Analyser:
        """How entries have to be read for these measures."""
        spaces = {measure.space for measure in measures if isinstance(measure, TopicalRisk)}
        return self.vectors.analyser if self.vectors and "lda" not in spaces else self.latent.analyser


def load_knowledge(
    model: Path | None = None, topics: Path | None = None, vectors: Path | None = None, corrections: Sequence[str] = ()
) -> Knowledge:
    """The knowledge of files, and what comes with aidos where none are named; corrections are ``topic=NUMBER``."""
    if model is not None and not (model / LATENT).is_file():
        raise InputError(f"there is no topic model in {model}", hint="name a directory that `aidos risk train` wrote")
    latent = TopicModel.default() if model is None else TopicModel.load(model / LATENT)
    known = TopicSet.default() if topics is None else read_topics(topics)
    found = WordVectors.load(vectors) if vectors is not None else None
    if found is None and model is not None and (model / VECTORS).is_file():
        found = WordVectors.load(model / VECTORS)
    matches = match(latent, known, corrections=dict(map(_correction, corrections)))
    return Knowledge(latent=latent, topics=known, matches=matches, vectors=found, shipped=model is None)


def choose_measures(names: Sequence[str], knowledge: Knowledge) -> tuple[RiskMeasure, ...]:
    """The measures of these names; ``all`` are all of the thesis for which there are models."""
    if ALL not in names:
        return tuple(dict.fromkeys(find_measure(name) for name in names))
    return tuple(
        measure
        for measure in MEASURES.values()
        if knowledge.vectors is not None or not (isinstance(measure, TopicalRisk) and measure.space == "w2v")
    )


def choose_topics(names: Sequence[str], knowledge: Knowledge, measures: Sequence[RiskMeasure]) -> tuple[str, ...]:
    """The topics of these names; without names all that the models know."""
    for name in names:
        knowledge.topics.find(name)
    if names:
        return tuple(dict.fromkeys(names))
    known = set(knowledge.topics.names)
    spaces = {measure.space for measure in measures if isinstance(measure, TopicalRisk)}
    if "lda" in spaces:
        known &= set(knowledge.matches.dimensions)
    if "w2v" in spaces and knowledge.vectors is not None:
        reading, vectors = knowledge.vectors.analyser, knowledge.vectors
        known &= {
            topic.name for topic in knowledge.topics if (vectors.numbers(list(topic.analysed(reading))) >= 0).any()
        }
    return tuple(name for name in knowledge.topics.names if name in known)


def keep_models(models: RiskModels, directory: Path) -> None:
    """Put models into a directory, so that ranks can be asked for later with what they were made with."""
    directory.mkdir(mode=0o700)
    write_topics(models.topics, directory / TOPICS)
    (directory / TOPICS).chmod(0o600)
    write_text(directory / MATCHING, json.dumps(dict(models.dimensions or {}), indent=1) + "\n", private=True)
    if models.latent is not None:
        models.latent.save(directory / LATENT)
    if models.vectors is not None:
        models.vectors.save(directory / VECTORS)


def kept_models(directory: Path) -> RiskModels:
    """The models that `keep_models` put there."""
    try:
        said: Mapping[str, int] = parse_json(read_text(directory / MATCHING))
        dimensions = {str(topic): int(latent) for topic, latent in said.items()}
    except (InputError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{directory} does not hold the models of a ranking", hint=DAMAGED) from error
    latent, vectors = directory / LATENT, directory / VECTORS
    return RiskModels(
        topics=read_topics(directory / TOPICS),
        latent=TopicModel.load(latent) if latent.is_file() else None,
        dimensions=dimensions,
        vectors=WordVectors.load(vectors) if vectors.is_file() else None,
    )


def _correction(text: str) -> tuple[str, int | None]:
    topic, equals, number = (part.strip() for part in text.partition("="))
    if not equals or not topic or not (number.isdigit() or number == "none"):
        raise ParameterError(
            "--match takes TOPIC=NUMBER, or TOPIC=none", hint="for example --match debt=17; numbers stand in cards.txt"
        )
    return topic, None if number == "none" else int(number)
