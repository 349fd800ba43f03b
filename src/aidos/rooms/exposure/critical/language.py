"""How expected a query or a post is from a member, and a query from a post: language models by array.

A member's language is that of all her posts, mixed with the language of the community (Dirichlet smoothing, thesis,
section 5.4):

    P(w|u) = (count of w in her posts + mu P(w|C)) / (words of her posts + mu),      mu = words of the average member

User surprisal of a query is -ln P(q|u) divided by the words of q; document surprisal is -ln P(d|u) divided by the
words of d. Both are per word: otherwise queries of two words would always surprise more than those of one, and long
posts more than short ones. Her language includes the post in question, as in the thesis.

**Deviation.** The thesis also lists a proximity ln P(q|u), which is the user surprisal with the other sign: a linear
ranker cannot tell them apart, and the weight would be split between them at random. Proximity here is ln P(q|d) per
word, the likelihood of the query in the post that is returned, smoothed by words of the average post. It still says how
near the neighbour is, and nothing else says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.exposure.critical.community import Community, Ints, Longs, Material

__all__ = ["Language"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """What a member's language and the community's say of the words of queries, and of her posts."""

    background: Floats
    """P(w|C) of each word of the queries."""
    unexpected: Floats
    """-ln P(w|u) of each word of the queries, and 0 behind, where there is no word."""
    surprisals: Floats
    """-ln P(d|u) per word, of each post; 0 for a post without words."""
    smoothing: float
    """Words of the average post, which the community's language adds to a post."""

    @classmethod
    def of(cls, store: Community, material: Material) -> Self:
        """Of one member."""
        reference = store.reference
        tokens = max(reference.tokens, 1)
        smoothing = max(tokens / max(store.facts.members, 1), 1.0)

        def unexpected(words: Ints) -> tuple[Floats, Floats]:
            # Words that are newer than the reference count as if they stood in it once, as in its search.
            background = np.maximum(store.counts_of(words), 1) / tokens
            likely = (_counts(material, words) + smoothing * background) / (material.said_counts.sum() + smoothing)
            return background, -np.log(likely)

        background, asked = unexpected(material.terms)
        held, inverse = np.unique((material.keys & 0xFFFFFFFF) - 1, return_inverse=True)
        _, written = unexpected(held.astype(np.int32))
        summed = np.bincount(
            material.keys >> 32, weights=written[inverse] * material.frequencies, minlength=len(material.posts)
        )
        return cls(
            background=background,
            unexpected=np.append(asked, 0.0),
            surprisals=summed / np.maximum(material.lengths, 1),
            smoothing=max(reference.mean_length, 1.0),
        )

    def query_surprisals(self, first: Longs, second: Longs) -> Floats:
        """-ln P(q|u) per word of queries, given by the places of their words (see `Material.term_places`)."""
        surprisals: Floats = (self.unexpected[first] + self.unexpected[second]) / self._sizes(second)
        return surprisals

    def proximities(self, material: Material, posts: Longs, first: Longs, second: Longs) -> Floats:
        """Ln P(q|d) per word of each row, given by the places of its post and words."""
        lengths = material.lengths[posts] + self.smoothing
        total = np.zeros(len(posts))
        for places in (first, second):
            there = np.flatnonzero(places < len(material.terms))
            words, background = material.terms[places[there]], self.background[places[there]]
            counts = material.frequencies_of(posts[there], words)
            total[there] += np.log((counts + self.smoothing * background) / lengths[there])
        return total / self._sizes(second)

    def _sizes(self, second: Longs) -> Longs:
        """Words of each query."""
        return np.where(second < len(self.background), 2, 1)


def _counts(material: Material, words: Ints) -> Longs:
    """How often the member used each word."""
    if not len(material.said):
        return np.zeros(len(words), dtype=np.int64)
    found = np.minimum(np.searchsorted(material.said, words), len(material.said) - 1)
    return np.where(material.said[found] == words, material.said_counts[found], 0)
