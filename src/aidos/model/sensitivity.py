"""Topical sensitivity: how far a word, and so a query, points to topics that people keep to themselves.

By the thesis (section 5.6) a query's sensitivity is the sum over its words w and all topics t of P(w|t) times the
sensitivity of t. It knows nothing about who is found by the query or about the post that is returned; in the thesis it
correlates with judged relevance (Pearson 0.44 for queries alone, 0.32 with the post in view).

Topics, words and sensitivities come from any topic model. The default is the taxonomy that comes with aidos, where
P(w|t) falls with the place of w among the typical words of t (Zipf), and topics of a sensitive branch count 1, all
others 0. Values are scaled so that the most sensitive word has 1: words are within [0, 1], a query of n words within
[0, n]. Words that no topic knows have 0.

It does not promise to know a language: a word that is missing from the topics is not therefore harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.taxonomy import Taxonomy, Topic
from aidos.errors import ParameterError
from aidos.model.text.analyser import Analyser
from aidos.model.topics import default_taxonomy, typical_words

__all__ = ["TopicalSensitivity", "topic_sensitivities"]

Floats = NDArray[np.float64]

UNEVEN = 1e-6
"""How far the words of a topic may be from summing to 1, or less where words were left out."""
PLAIN = Analyser()


class TopicalSensitivity:
    """Sensitivity of words and queries under one topic model; it does not change once made."""

    def __init__(
        self,
        words: Sequence[str],
        matrix: Floats,
        sensitivities: Sequence[float],
        *,
        categories: Sequence[str] = (),
        analyser: Analyser = PLAIN,
    ) -> None:
        """Distinct words; P(w|t), a row a topic and a column a word; the sensitivity of each topic, from 0 to 1.

        ``categories`` names what each topic is about, for explanations. Words that the analyser takes for the same
        term are one: their probabilities are added. What is looked up later is a term, not a word.
        """
        given, levels = np.asarray(matrix, dtype=np.float64), np.asarray(sensitivities, dtype=np.float64)
        _check(words, given, levels, categories)
        terms = analyser.meanings([word.lower() for word in words])
        self._numbers = {term: number for number, term in enumerate(dict.fromkeys(term for term in terms if term))}
        counting = np.flatnonzero(levels > 0)  # topics of no sensitivity add nothing
        parts = given[counting] * levels[counting, None]
        self._by_topic: Floats = np.zeros((len(counting), len(self._numbers)))
        for column, term in enumerate(terms):
            if term:
                self._by_topic[:, self._numbers[term]] += parts[:, column]
        self._topics = tuple(categories[topic] for topic in counting.tolist()) if categories else ()
        found = self._by_topic.sum(axis=0)
        largest = float(found.max(initial=0.0))
        # The last place stands for every word that is not known.
        self._values: Floats = np.append(found / largest if largest > 0 else found, 0.0)

    @classmethod
    def of_taxonomy(
        cls, taxonomy: Taxonomy, *, sensitivities: Mapping[str, float] | None = None, analyser: Analyser = PLAIN
    ) -> Self:
        """From the typical words of a taxonomy's topics; for ``sensitivities`` see `topic_sensitivities`."""
        levels = topic_sensitivities(taxonomy, sensitivities)
        topics = [topic for topic in taxonomy.walk() if topic.words]
        shares = [typical_words(topic) for topic in topics]
        words = list(dict.fromkeys(word for own in shares for word in own))
        numbers = {word: number for number, word in enumerate(words)}
        matrix = np.zeros((len(topics), len(words)))
        for row, own in enumerate(shares):
            matrix[row, [numbers[word] for word in own]] = list(own.values())
        return cls(
            words,
            matrix,
            [levels[topic.id] for topic in topics],
            categories=[taxonomy.sensitive_category(topic.id) or topic.id for topic in topics],
            analyser=analyser,
        )

    @classmethod
    def default(cls, *, sensitivities: Mapping[str, float] | None = None, analyser: Analyser = PLAIN) -> Self:
        """From the taxonomy that comes with aidos."""
        return cls.of_taxonomy(default_taxonomy(), sensitivities=sensitivities, analyser=analyser)

    def __len__(self) -> int:
        """How many terms are known."""
        return len(self._numbers)

    def words(self, words: Sequence[str]) -> Floats:
        """The sensitivity of each word, as the analyser writes it; 0 for words that no topic knows."""
        known = self._numbers
        places = np.fromiter((known.get(word, -1) for word in words), dtype=np.int64, count=len(words))
        found: Floats = self._values[places]
        return found

    def queries(self, queries: Sequence[Sequence[str]]) -> Floats:
        """The sensitivity of each query, given by its words: the sum of theirs, and 0 where there are none."""
        lengths = np.fromiter((len(query) for query in queries), dtype=np.int64, count=len(queries))
        values = self.words([word for query in queries for word in query])
        owners = np.repeat(np.arange(len(lengths)), lengths)
        return np.bincount(owners, weights=values, minlength=len(lengths)).astype(np.float64)

    def categories(self, word: str) -> tuple[str, ...]:
        """What the word may give away: the sensitive categories it points to, that with the largest part first."""
        number = self._numbers.get(word)
        if number is None or not self._topics:
            return ()
        parts: dict[str, float] = {}
        for row in np.flatnonzero(self._by_topic[:, number]).tolist():
            name = self._topics[row]
            parts[name] = parts.get(name, 0.0) + float(self._by_topic[row, number])
        return tuple(sorted(parts, key=lambda name: (-parts[name], name)))


def topic_sensitivities(taxonomy: Taxonomy, given: Mapping[str, float] | None = None) -> dict[str, float]:
    """The sensitivity of every topic: 1 in sensitive branches and 0 elsewhere, unless another number is given.

    A number is given for a topic's id, which holds for everything below it, or for a category. The nearest id on the
    way up to the root goes before the category; a name that is both an id and a category is taken as both.
    """
    asked = dict(given or {})
    categories = {topic.sensitive for topic in taxonomy.topics.values() if topic.sensitive}
    if unknown := sorted(set(asked) - set(taxonomy.topics) - categories):
        raise ParameterError(
            f"{len(unknown)} names are neither topics nor sensitive categories, the first is {unknown[0]!r}",
            hint=f"categories are {', '.join(sorted(categories))}",
        )
    if wrong := sorted(name for name, value in asked.items() if not 0 <= value <= 1):
        raise ParameterError(f"sensitivity must be from 0 to 1; that of {wrong[0]!r} is not")

    def level(topic: Topic) -> float:
        own = next((asked[step.id] for step in reversed(taxonomy.path(topic.id)) if step.id in asked), None)
        category = taxonomy.sensitive_category(topic.id)
        return float(own if own is not None else asked.get(category, 1.0 if category else 0.0))

    return {topic.id: level(topic) for topic in taxonomy.walk()}


def _check(words: Sequence[str], matrix: Floats, sensitivities: Floats, categories: Sequence[str]) -> None:
    """Refuse a topic model that is none, with everything that is wrong with it."""
    problems = []
    if matrix.shape != (len(sensitivities), len(words)):
        problems.append(
            f"the matrix is {' by '.join(map(str, matrix.shape))}, "
            f"but there are {len(sensitivities)} topics and {len(words)} words"
        )
    elif not (np.isfinite(matrix).all() and (matrix >= 0).all() and (matrix.sum(axis=1) <= 1 + UNEVEN).all()):
        problems.append("the words of a topic must have probabilities that are not negative and sum to at most 1")
    if len(set(words)) != len(words):
        problems.append("words must differ")
    if not ((sensitivities >= 0) & (sensitivities <= 1)).all():
        problems.append("sensitivities must be from 0 to 1")
    if categories and len(categories) != len(sensitivities):
        problems.append(f"there are {len(categories)} categories for {len(sensitivities)} topics")
    if problems:
        raise ParameterError(f"TopicalSensitivity: {'; '.join(problems)}")
