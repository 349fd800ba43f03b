"""How critical it truly is, in the sample world, that a query returns a member's post: 0, 1 or 2.

Two things must come together: she minds the post, and the query points at what she minds.

- How much she minds follows the world's own three levels, those by which authors delete posts later: 2 where the post
  is about the sensitive topic that afflicts her, 1 where it is about another sensitive topic in use, 0 otherwise. A
  professional's posts about the rest of her domain are her work, and 0.
- A query points at it when it gives a sensitive topic away: under the distributions that the world draws the words of
  posts from, and all topics in use equally likely, words like these come from a sensitive topic with probability 1/2 or
  more. Words that the world does not draw, and background words, say nothing either way. That afflicted people keep to
  a few of their topic's words does not matter here: who reads a query does not know who wrote the post.

The grade is the level where the query gives it away, and 0 where it does not. Neither roles nor distributions can be
seen by a ranker: it has the posts alone, and for training which of them were deleted (by chance, and seldom) and how
often words come in the anonymous community. The truth is that of a made-up society: it says that a method finds what
was put there, not that real people mind the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.model.text.analyser import Analyser
from aidos.world.names import client_texts
from aidos.world.people import ROLES, block_count, people_block
from aidos.world.posts import BACKGROUND, BORROWED, ON_TOPIC
from aidos.world.size import World
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, build_vocabulary, zipf_cumulative

__all__ = ["GRADES", "TrueCriticality", "word_distributions"]

GRADES = 2
"""The highest grade."""
REVEALING = 0.5
"""From which probability of a sensitive topic on a query gives it away."""
SLIP = 1e-6
"""The least chance of any word in a post about any topic: nothing is impossible, and two words can clash."""
CHUNK = 1 << 16
PLAIN = Analyser()

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class TrueCriticality:
    """The truth about one world's posts and the queries that return them."""

    def __init__(self, world: World, *, analyser: Analyser = PLAIN) -> None:
        """``analyser`` is that of the search: queries are given by its terms."""
        self.vocabulary = build_vocabulary(world)
        self._topics = {topic.id: number for number, topic in enumerate(self.vocabulary.topics)}
        self._afflicted = _afflicted(world, self.vocabulary)
        terms = analyser.meanings(list(self.vocabulary.words))
        self._numbers = {term: number for number, term in enumerate(dict.fromkeys(term for term in terms if term))}
        likely = np.zeros((len(self._numbers) + 1, self.vocabulary.in_use))
        drawn = word_distributions(self.vocabulary)[: self.vocabulary.in_use]
        for word, term in enumerate(terms):
            if term:
                likely[self._numbers[term]] += drawn[:, word]
        # The last row, all alike, is that of words that the world does not draw.
        self._logs: Floats = np.log(np.maximum(likely, SLIP))

    def levels(self, posts: pa.Table) -> Ints:
        """How much the author of each post (author_id, forum) minds it: 0, 1 or 2."""
        authors: list[Any] = posts["author_id"].to_pylist()
        forums: list[Any] = posts["forum"].to_pylist()
        found = np.zeros(len(authors), dtype=np.int64)
        for place, (author, forum) in enumerate(zip(authors, forums, strict=True)):
            topic = self._topics.get(forum, -1)
            if topic in self.vocabulary.sensitive:
                found[place] = GRADES if self._afflicted.get(author) == topic else 1
        return found

    def reveals(self, queries: Sequence[Sequence[str]]) -> Flags:
        """Whether each query, given by its terms, gives a sensitive topic away."""
        longest = max((len(query) for query in queries), default=0)
        numbers = np.full((len(queries), longest), len(self._numbers), dtype=np.int64)
        for place, query in enumerate(queries):
            numbers[place, : len(query)] = [self._numbers.get(term, len(self._numbers)) for term in query]
        found = np.zeros(len(queries), dtype=np.bool_)
        for start in range(0, len(queries), CHUNK):
            logs = self._logs[numbers[start : start + CHUNK]].sum(axis=1)
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            sensitive = shares[:, self.vocabulary.ordinary :].sum(axis=1)
            found[start : start + CHUNK] = sensitive >= REVEALING * shares.sum(axis=1)
        return found


def word_distributions(vocabulary: Vocabulary) -> Floats:
    """The chance of each word of the world (by column) in a post about each topic (by row), not just in passing."""
    own = np.zeros((len(vocabulary.topics), len(vocabulary.words)))
    ranks = np.diff(zipf_cumulative(WORDS_PER_TOPIC), prepend=0.0)
    np.put_along_axis(own, vocabulary.topic_words, ranks[None, :], axis=1)
    plain = np.zeros(len(vocabulary.words))
    plain[vocabulary.background] = np.diff(zipf_cumulative(len(vocabulary.background)), prepend=0.0)
    ordinary, sensitive = own[: vocabulary.ordinary], own[vocabulary.ordinary : vocabulary.in_use]
    second = (1 - BORROWED) * ordinary.mean(axis=0) + BORROWED * sensitive.mean(axis=0)
    mixed: Floats = BACKGROUND * plain + (1 - BACKGROUND) * (ON_TOPIC * own + (1 - ON_TOPIC) * second)
    return mixed


def _afflicted(world: World, vocabulary: Vocabulary) -> dict[str, int]:
    """The topic that afflicts a member, by pseudonym."""
    found: dict[str, int] = {}
    for block in range(block_count(world)):
        people = people_block(world, vocabulary, block)
        mine = people.roles == ROLES.index("afflicted")
        names = map(str, client_texts(people.numbers[mine]).to_pylist())
        found |= dict(zip(names, people.role_topics[mine].tolist(), strict=True))
    return found
