"""Latent topics, learned from titles and snippets of the results themselves (LDA).

They need no taxonomy and read any language whose words stand apart, but they have no name: a topic is called by its
most telling words. Learned anew they come in another order, so that two audits can be compared only with the topics of
one of them: keep the ``model`` of the first and give it to the second. Small shares are dropped, for a snippet
is about few topics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aidos.core.resultpairs import Result
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.model.latent.model import TopicModel
from aidos.model.latent.training import train_topics
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.model.wordlimits import WordLimits
from aidos.rooms.audit.arrays import TopicMaps
from aidos.rooms.audit.topics.space import AuditTopic, DescribedItems, TopicSpace

__all__ = ["LatentTopics", "learn_topics", "name_topics"]

LEAST_SHARE = 0.05
"""Smaller shares of a topic in an item are dropped."""
LIMITS = WordLimits(least_texts=3)
"""Results are fewer than posts, so that a word counts as common sooner."""
NAME_WORDS, WORDS = 3, 10
"""Words that a topic is called by, and words that are shown of it."""
AT_ONCE = 20_000
"""Items whose topics are inferred at a time: rows of all topics do not fit into memory for millions."""


class LatentTopics:
    """Topics learned from the texts of results, or those of a model that was learned before."""

    def __init__(self, number: int = 50, seed: int = 1, model: TopicModel | None = None) -> None:
        """``model`` may be that of an earlier audit; ``number`` and ``seed`` then change nothing."""
        if number < 2:
            raise ParameterError(f"at least 2 topics are needed, got {number}")
        self.number = number
        self.seed = seed
        self.model = model
        """What the topics are; None until `describe` has learned it."""

    def describe(self, items: Sequence[Result], lists: Sequence[Sequence[int]]) -> DescribedItems:  # noqa: ARG002
        """The topics of the items, learned from them first where no model was given."""
        texts = [item.text for item in items]
        source = "learned before"
        if self.model is None:
            self.model = learn_topics(texts, self.number, self.seed)
            source = f"learned from {len(items):,} results"
        maps = _infer(self.model, texts)
        without = int((np.diff(maps.starts) == 0).sum())
        if without == len(items):
            raise InputError("no result has a word that the topics know", hint="learn topics from these results")
        note = f"{without:,} of {len(items):,} results are about no topic that is known"
        return DescribedItems(
            space=TopicSpace(kind="latent", topics=name_topics(self.model), source=source),
            maps=maps,
            notes=(note,) if without else (),
        )


def learn_topics(texts: Sequence[str], number: int, seed: int) -> TopicModel:
    """Topics of the texts of results; InputError where too few have any."""
    told = sum(bool(text) for text in texts)
    if told < number:
        raise InputError(
            f"{told:,} results with text are too few to learn {number} topics from",
            hint="learn fewer topics, or use those of a taxonomy",
        )
    try:
        return train_topics(texts, topics=number, limits=LIMITS, seed=seed, note="results of an audit")
    except MissingExtraError as error:
        raise MissingExtraError("learning topics", extra="audit") from error


def name_topics(model: TopicModel) -> tuple[AuditTopic, ...]:
    """The topics of a model, called by their most telling words."""
    found = []
    for number in range(len(model)):
        words = tuple(word.form for word in model.salient(number, WORDS))
        name = ", ".join(words[:NAME_WORDS]) or f"topic {number + 1}"
        found.append(AuditTopic(id=f"latent-{number + 1}", name=name, words=words))
    return tuple(found)


def _infer(model: TopicModel, texts: Sequence[str]) -> TopicMaps:
    vocabulary = Vocabulary()
    read = analyse(texts, vocabulary, analyser=model.analyser)
    words = model.numbers(vocabulary.terms(np.arange(len(vocabulary))))[read.terms]
    once = np.ones(len(words), dtype=np.int32)
    counts, topics, shares = [], [], []
    for begin in range(0, len(texts), AT_ONCE):
        starts = read.starts[begin : begin + AT_ONCE + 1]
        found = model.infer(starts, words, once)
        rows, columns = np.nonzero(found >= LEAST_SHARE)
        counts.append(np.bincount(rows, minlength=len(found)))
        topics.append(columns.astype(np.int32))
        shares.append(found[rows, columns])
    return TopicMaps(
        starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        topics=np.concatenate(topics),
        shares=np.concatenate(shares),
        topic_count=len(model),
    )
