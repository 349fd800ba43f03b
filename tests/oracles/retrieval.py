"""The scorers written out: plain Python over the text of every document, slow on purpose.

This is the oracle of `search`. It shares no code with the compiled path: it counts for itself, and takes the formulas
as they stand in `scorers`, word by word, where the fast path takes them apart.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from aidos.model.retrieval.scorers import BM25, JelinekMercer, QueryLikelihood, Scorer

__all__ = ["score_all"]


class _Corpus:
    """Documents that are there, and what there is to know of all of them."""

    def __init__(self, documents: Sequence[Sequence[str] | None]) -> None:
        self.documents = [None if terms is None else Counter(terms) for terms in documents]
        there = [terms for terms in self.documents if terms is not None]
        self.number = len(there)
        self.counts = Counter[str]()
        for terms in there:
            self.counts.update(terms)
        self.found = Counter(word for terms in there for word in terms)
        self.tokens = self.counts.total()
        self.mean_length = self.tokens / self.number if self.number else 0.0

    def share(self, word: str) -> float:
        """P(w|C)."""
        return self.counts[word] / self.tokens


def score_all(
    documents: Sequence[Sequence[str] | None], query: Sequence[str], scorer: Scorer
) -> list[tuple[int, float]]:
    """Number and score of every document that is a candidate, best first; None stands for a deleted document."""
    corpus = _Corpus(documents)
    words = [word for word in query if corpus.counts[word]]
    scored = []
    for number, terms in enumerate(corpus.documents):
        if terms is not None and any(word in terms for word in words):
            score = math.fsum(_part(scorer, corpus, terms, word) for word in words)
            if score > 0 or not (isinstance(scorer, QueryLikelihood) and scorer.matching_only):
                scored.append((number, score))
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))


def _part(scorer: Scorer, corpus: _Corpus, terms: Counter[str], word: str) -> float:
    often, length = terms[word], terms.total()
    match scorer:
        case QueryLikelihood(matching_only=matching_only):
            mu = corpus.mean_length if scorer.mu is None else scorer.mu
            if not matching_only:
                return math.log((often + mu * corpus.share(word)) / (length + mu))
            return often and max(0.0, math.log(1 + often / (mu * corpus.share(word))) + math.log(mu / (length + mu)))
        case JelinekMercer(weight=weight, matching_only=matching_only):
            mixed = (1 - weight) * often / length + weight * corpus.share(word)
            return math.log(mixed / (weight * corpus.share(word))) if matching_only else math.log(mixed)
        case BM25(k1=k1, b=b):
            found = corpus.found[word]
            idf = math.log(1 + (corpus.number - found + 0.5) / (found + 0.5))
            norm = k1 * (1 - b + b * length / corpus.mean_length)
            return often and idf * often / (often + norm)
        case _:
            raise TypeError(f"{type(scorer).__name__} has no plain version")
