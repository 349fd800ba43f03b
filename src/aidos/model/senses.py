"""Senses: whether a word, in the post where it stands, is about a topic that people keep to themselves.

A word alone says little: a stroke is an illness, a way to swim and a line of a brush. What it means is told by words
beside it. Words and topics come from a taxonomy. Its topics fall into groups: the sensitive categories (health, money
and so on), and for all other topics the branches of the tree. P(g|w) is the share of group g in what is said of word w:
P(w|t) of its topics, falling with the place of w among their typical words, and 0.02 for saying nothing in particular.
Function words, and words that any text could hold, are about nothing. A post's weight of a group is the sum of P(g|w)
over its different words. The sense of a word w of post d is then, for each sensitive category c,

    s(c|w, d) = P(c|w) (a + N_c) / (sum over groups g of P(g|w) (a + N_g)  +  b),     N_g = weight of g in d without w

with a = 0.1 and b = 2: a word of one topic, with nothing else in the post about it, has 0.05 at most; 0.35 (`ABOUT`)
asks for another word that is about nothing but the same category, or for more that are less so. Other topics in the
post count against. How much a post is about a category is N_c / (1 + sum of all N_g), with all its words.

Words that no topic knows have no sense, which does not make them harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.core.taxonomy import Taxonomy
from aidos.model.text.analyser import ENGLISH, Analyser
from aidos.model.topics import default_taxonomy, typical_words
from aidos.model.topicwords import COMMON

__all__ = ["ABOUT", "PostSenses", "WordSenses"]

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

FIRST = 0.1
"""What a group has in every post, so that a word is not without any sense where it stands alone."""
NOTHING = 0.02
"""What is said of every word beside its topics: the last of a topic's words are words of other texts as well."""
PLAIN = 2.0
"""What speaks for a word being just a word."""
ABOUT = 0.35
"""From which sense on a word is about a category."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordSenses:
    """What each term of an analyser is about, before any post is seen."""

    categories: tuple[str, ...]
    """The sensitive categories: the first columns of the table."""
    numbers: Mapping[str, int]
    """Where each term stands in the table."""
    shares: Floats
    """P(g|w): a row a term, and one of zeros for terms that no topic has; a column a group."""

    @classmethod
    def of_taxonomy(cls, taxonomy: Taxonomy, analyser: Analyser) -> Self:
        """From the typical words of a taxonomy's topics."""
        topics = [topic for topic in taxonomy.walk() if topic.words]
        sensitive = [taxonomy.sensitive_category(topic.id) for topic in topics]
        branches = [taxonomy.path(topic.id)[:2][-1].id for topic in topics]
        categories = sorted(set(sensitive) - {""})
        groups = {("sensitive", name): column for column, name in enumerate(categories)}
        numbers: dict[str, int] = {}
        said: list[tuple[int, int, float]] = []
        for topic, category, branch in zip(topics, sensitive, branches, strict=True):
            column = groups.setdefault(("sensitive", category) if category else ("branch", branch), len(groups))
            shares = typical_words(topic)
            for term, share in zip(analyser.meanings(list(shares)), shares.values(), strict=True):
                if term:
                    said.append((numbers.setdefault(term, len(numbers)), column, share))
        table = np.zeros((len(numbers) + 1, len(groups)))
        for row, column, share in said:
            table[row, column] += share
        table[[numbers[word] for word in COMMON | ENGLISH if word in numbers]] = 0
        table /= table.sum(axis=1, keepdims=True) + NOTHING
        return cls(categories=tuple(categories), numbers=numbers, shares=table.astype(np.float32))

    @classmethod
    def default(cls, analyser: Analyser) -> Self:
        """From the taxonomy that comes with aidos."""
        return cls.of_taxonomy(default_taxonomy(), analyser)

    def places(self, terms: Sequence[str]) -> Longs:
        """The row of each term in the table; the last one for those that are not known."""
        unknown = len(self.numbers)
        return np.fromiter((self.numbers.get(term, unknown) for term in terms), dtype=np.int64, count=len(terms))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PostSenses:
    """What posts are about, and so what their words mean there."""

    words: WordSenses
    weights: Floats
    """N_g: a row a post, a column a group."""

    @classmethod
    def of(cls, words: WordSenses, posts: int, owners: Longs, held: Longs) -> Self:
        """From the different words of each post, by their rows in the table, and the post of each."""
        known = np.flatnonzero(held < len(words.numbers))
        weights = np.zeros((posts, words.shares.shape[1]), dtype=np.float32)
        np.add.at(weights, owners[known], words.shares[held[known]])
        return cls(words=words, weights=weights)

    def abouts(self) -> Floats:
        """How much each post is about each category."""
        found: Floats = self.weights[:, : len(self.words.categories)] / (1 + self.weights.sum(axis=1, keepdims=True))
        return found

    def senses(self, posts: Longs, words: Longs, held: NDArray[np.bool_]) -> Floats:
        """The senses of words in posts: a row a pair, a column a category; ``held`` says which stand there."""
        categories = len(self.words.categories)
        senses = np.zeros((len(words), categories), dtype=np.float32)
        some = np.flatnonzero(words < len(self.words.numbers))
        shares = self.words.shares[words[some]]
        # The word itself is no company of its own.
        company = np.maximum(self.weights[posts[some]] - shares * held[some, None], 0)
        spoken = shares * (FIRST + company)
        senses[some] = spoken[:, :categories] / (spoken.sum(axis=1, keepdims=True) + PLAIN)
        return senses
