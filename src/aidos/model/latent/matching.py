"""Which latent topic of a model is which sensitive topic.

A latent topic takes part in a word by P(topic | word): its share of the corpus times P(word | topic), over all topics.
A sensitive topic's *fit* to a latent one is the mean part in its words, by their weights, where words that the model
does not know count nothing: the chance that a word drawn from the sensitive topic is known and came from the latent
one. The fits of one sensitive topic sum to at most 1, and the best one is the match. Its fit is the *confidence*: it is
low when few of the words are known, when they are scattered, and when two latent topics share them; above one half no
other can be as good.

Below `LEAST` a topic is unmatched, and measures that need it should refuse. On made-up worlds of 5,000 people all
twelve topics that people there write about are matched rightly, with 0.4 and more, while topics that nobody there
writes about stay below 0.3, unless a broader topic beside them is written about. Other corpora differ: look at the
cards, and correct what is wrong. A correction counts in full.

There is a card for each latent topic, for people to read: its telling words, how well they hang together, what it may
be.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.model.latent.model import Salient, TopicModel
from aidos.model.sensitive import SALIENT, SensitiveTopic, TopicSet

__all__ = ["LEAST", "Match", "Matches", "TopicCard", "candidates", "fits", "make_cards", "match"]

Floats = NDArray[np.float64]
LEAST = 0.3
"""The least confidence that makes a match."""
CLOSE = 0.5
"""A second latent topic with more than this part of the best one's fit is worth a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sensitive topic and the latent one that it was found in."""

    topic: str
    """The name of the sensitive topic."""
    latent: int | None
    """The number of the latent topic; None where none fits."""
    confidence: Annotated[float, Ge(0), Le(1)]
    """The fit of the best latent topic, even where it is too low; 1 where somebody said so."""
    coverage: Annotated[float, Ge(0), Le(1)]
    """The share of the topic's words, by weight, that the model knows."""
    second: Annotated[float, Ge(0), Le(1)]
    """The fit of the next best latent topic."""
    corrected: bool = False
    """Whether somebody said so."""

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def reason(self) -> str:
        """Why there is no match; empty where there is one."""
        if self.latent is not None:
            return ""
        if self.corrected:
            return f"{self.topic} was said to have no latent topic"
        if self.coverage == 0:
            return f"the model knows no word of {self.topic}"
        return f"no latent topic fits {self.topic}: the best has {self.confidence:.2f} of its words"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What was found for every topic of a set, in its order."""

    found: tuple[Match, ...]

    @property
    def dimensions(self) -> dict[str, int]:
        """The latent topic of every sensitive topic that has one."""
        return {match.topic: match.latent for match in self.found if match.latent is not None}

    def latent(self, topic: str) -> int:
        """The latent topic of a sensitive one; ParameterError with the reason where there is none."""
        for match in self.found:
            if match.topic == topic and match.latent is not None:
                return match.latent
            if match.topic == topic:
                raise ParameterError(match.reason, hint=f"train on texts about it, or correct it: {topic}=NUMBER")
        raise ParameterError(f"topic {topic!r} was not matched", hint="match a set of topics that has it")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where to look twice: latent topics that stand for several sensitive ones, and near seconds."""
        users: dict[int, list[str]] = defaultdict(list)
        for topic, latent in self.dimensions.items():
            users[latent].append(topic)
        shared = [
            f"latent topic {latent} stands for {len(topics)} topics, which it cannot tell apart: {', '.join(topics)}"
            for latent, topics in users.items()
            if len(topics) > 1
        ]
        split = [
            f"a second latent topic fits {match.topic} nearly as well ({match.second:.2f} and {match.confidence:.2f})"
            for match in self.found
            if match.latent is not None and not match.corrected and match.second > CLOSE * match.confidence
        ]
        return (*shared, *split)


def match(
    model: TopicModel, topics: TopicSet, *, corrections: Mapping[str, int | None] | None = None, least: float = LEAST
) -> Matches:
    """The latent topic of each sensitive one; ``corrections`` say it by name, None for topics that have none."""
    if not 0 <= least <= 1:
        raise ParameterError(f"least must be from 0 to 1, got {least}")
    said = dict(corrections or {})
    for name, latent in said.items():
        topics.find(name)
        if latent is not None and not 0 <= latent < len(model):
            raise ParameterError(
                f"{name} cannot be latent topic {latent}", hint=f"they are numbered from 0 to {len(model) - 1}"
            )
    found, coverages = _fits(model, topics)
    return Matches(
        found=tuple(
            _match(topic, fit, coverage, said, least)
            for topic, fit, coverage in zip(topics.names, found, coverages.tolist(), strict=True)
        )
    )


def fits(model: TopicModel, topics: TopicSet) -> Floats:
    """The fit of every sensitive topic, a row each, to every latent one."""
    return _fits(model, topics)[0]


def _parts(model: TopicModel) -> Floats:
    """P(topic | word), a row a word."""
    joint = model.phi.T.astype(np.float64) * model.shares.astype(np.float64)
    total = joint.sum(axis=1, keepdims=True)
    parts: Floats = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    return parts


def _fits(model: TopicModel, topics: TopicSet) -> tuple[Floats, Floats]:
    """The fits, and how much of each topic is known."""
    parts = _parts(model)
    found, coverages = np.zeros((len(topics), len(model))), np.zeros(len(topics))
    for row, topic in enumerate(topics):
        terms = topic.analysed(model.analyser)
        numbers = model.numbers(list(terms))
        known = numbers >= 0
        if known.any():
            weights = np.array(list(terms.values()), dtype=np.float64)
            weights /= weights.sum()
            found[row] = weights[known] @ parts[numbers[known]]
            coverages[row] = weights[known].sum()
    # Sums of shares may pass 1 by a rounding.
    return np.minimum(found, 1.0), np.minimum(coverages, 1.0)


def _match(topic: str, fit: Floats, coverage: float, said: Mapping[str, int | None], least: float) -> Match:
    best = int(np.argmax(fit))
    confidence = float(fit[best])
    second = float(np.delete(fit, best).max(initial=0.0))
    if topic in said:
        return Match(topic=topic, latent=said[topic], confidence=1.0, coverage=coverage, second=second, corrected=True)
    latent = best if confidence >= least and confidence > 0 else None
    return Match(topic=topic, latent=latent, confidence=confidence, coverage=coverage, second=second)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCard:
    """What is known about a latent topic."""

    number: int
    """The topic's number in its model."""
    words: tuple[Salient, ...]
    """Its telling words, the most telling first."""
    share: float
    """Its share of the corpus that the model was trained on."""
    coherence: float
    """How far its words stand together in texts, from -1 to 1; not a number where that is not known."""
    nearest: str
    """The sensitive topic that fits it best."""
    fit: float
    """How well, from 0 to 1."""
    stands_for: tuple[str, ...] = ()
    """The sensitive topics that were matched to it."""

    def __str__(self) -> str:
        """A few lines of text."""
        coherence = "not known" if math.isnan(self.coherence) else f"{self.coherence:.2f}"
        matched = f"stands for {', '.join(self.stands_for)}" if self.stands_for else "stands for no sensitive topic"
        return "\n".join(
            (
                f"topic {self.number}: {100 * self.share:.1f} % of the corpus, coherence {coherence}",
                f"  {' '.join(found.form for found in self.words)}",
                f"  {matched}; nearest is {self.nearest} ({self.fit:.2f})",
            )
        )


def make_cards(model: TopicModel, topics: TopicSet, matches: Matches, *, words: int = SALIENT) -> list[TopicCard]:
    """The cards of all latent topics."""
    fit = fits(model, topics)
    nearest = fit.argmax(axis=0)
    return [
        TopicCard(
            number=topic,
            words=model.salient(topic, words),
            share=float(model.shares[topic]),
            coherence=float(model.coherences[topic]),
            nearest=topics.names[nearest[topic]],
            fit=float(fit[nearest[topic], topic]),
            stands_for=tuple(name for name, latent in matches.dimensions.items() if latent == topic),
        )
        for topic in range(len(model))
    ]


def candidates(model: TopicModel, *, words: int = SALIENT) -> TopicSet:
    """The latent topics as topics to be judged: with their telling words, and not sensitive so far.

    Candidate i is latent topic i, so that its name and place make a correction for `match`.
    """
    width = len(str(len(model) - 1))
    return TopicSet(topics=tuple(_candidate(model, topic, words, width) for topic in range(len(model))))


def _candidate(model: TopicModel, topic: int, words: int, width: int) -> SensitiveTopic:
    telling = model.salient(topic, words)
    return SensitiveTopic(
        name=f"topic-{topic:0{width}d}",
        words=tuple(found.form for found in telling),
        weights=tuple(found.probability for found in telling),
        sensitive=0.0,
    )
