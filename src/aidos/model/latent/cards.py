"""A card for each latent topic, for people to read: its telling words, how well they hang together, what it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aidos.model.latent.matching import Matches, fits
from aidos.model.latent.model import Salient, TopicModel
from aidos.model.sensitive import SALIENT, SensitiveTopic, TopicSet

__all__ = ["TopicCard", "candidates", "make_card", "make_cards"]


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


def make_card(model: TopicModel, topic: int, topics: TopicSet, matches: Matches, *, words: int = SALIENT) -> TopicCard:
    """The card of one latent topic."""
    return make_cards(model, topics, matches, words=words, only=(topic,))[0]


def make_cards(
    model: TopicModel, topics: TopicSet, matches: Matches, *, words: int = SALIENT, only: tuple[int, ...] | None = None
) -> list[TopicCard]:
    """The cards of all latent topics, or of some."""
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
        for topic in (range(len(model)) if only is None else only)
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
