"""An index made by hand, of words that are given: what searching needs and no more."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from aidos.model.retrieval.part import Segment
from aidos.model.retrieval.scorers import Collection
from aidos.model.text.analyser import Analyser
from aidos.model.text.vocabulary import Vocabulary


class MadeIndex:
    """Documents as lists of words, cut into segments; deleted ones by number."""

    def __init__(self, documents, cuts=(), deleted=()):
        self.documents, self.deleted, self.analyser = documents, set(deleted), Analyser()
        self.vocabulary = Vocabulary(list(dict.fromkeys(word for words in documents for word in words)))
        bounds = [0, *sorted(cuts), len(documents)]
        self.pieces = list(pairwise(bounds))
        self.segments = [self.segment(begin, end) for begin, end in self.pieces]
        self.forwards = [self.forward(begin, end) for begin, end in self.pieces]
        self.collection = self.count()

    def segment(self, begin, end):
        rows = [Counter(self.vocabulary.find(word) for word in words) for words in self.documents[begin:end]]
        postings = sorted((term, at, often) for at, row in enumerate(rows) for term, often in row.items())
        terms = max((term for term, _, _ in postings), default=-1) + 1
        return Segment(
            starts=np.searchsorted([term for term, _, _ in postings], np.arange(terms + 1)).astype(np.int64),
            documents=np.array([at for _, at, _ in postings], dtype=np.int32),
            frequencies=np.array([often for _, _, often in postings], dtype=np.int32),
            lengths=np.array([len(words) for words in self.documents[begin:end]], dtype=np.int32),
            deleted=np.array([at in self.deleted for at in range(begin, end)], dtype=bool),
        )

    def forward(self, begin, end):
        rows = [Counter(self.vocabulary.find(word) for word in words) for words in self.documents[begin:end]]
        return SimpleNamespace(
            starts=np.cumsum([0, *map(len, rows)], dtype=np.int64),
            terms=np.array([term for row in rows for term in row], dtype=np.int32),
            frequencies=np.array([often for row in rows for often in row.values()], dtype=np.int32),
        )

    def count(self):
        there = [words for at, words in enumerate(self.documents) if at not in self.deleted]
        counts = Counter(word for words in there for word in words)
        found = Counter(word for words in there for word in set(words))
        return Collection(
            documents=len(there),
            tokens=counts.total(),
            term_counts=np.array([counts[word] for word in self.vocabulary], dtype=np.int64),
            document_counts=np.array([found[word] for word in self.vocabulary], dtype=np.int64),
        )

    def names(self, segment, numbers):
        return [f"d{self.pieces[segment][0] + number}" for number in numbers]

    def left(self):
        """Words of each document, None where it is deleted."""
        return [None if at in self.deleted else words for at, words in enumerate(self.documents)]
