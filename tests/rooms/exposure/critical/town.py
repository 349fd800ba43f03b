"""A small community in memory, searched the slow and plain way."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import exp, log

import numpy as np
import pyarrow as pa

from aidos.model.retrieval.scorers import Collection
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.records import NO_WORD, Exposures
from aidos.rooms.exposure.queries.settings import SearchExposure

COLUMNS = {
    "members": np.int32,
    "posts": np.int32,
    "first": np.int32,
    "second": np.int32,
    "ranks": np.int16,
    "whole": np.bool_,
    "certain": np.bool_,
    "documents": np.int32,
    "evenness": np.uint8,
}


def rows_of(*rows):
    """Exposures from tuples in the order of the columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    return Exposures(
        **{name: np.array(column, dtype=kind) for (name, kind), column in zip(COLUMNS.items(), columns, strict=True)}
    )


@dataclass
class Facts:
    members: int


class Town:
    """Posts as pairs of a member's number and a text."""

    def __init__(self, posts, analyser="words", k=3):
        self.settings = SearchExposure(analyser=analyser, k=k)
        self.written = list(posts)
        self.bags = [Counter(Analyser.parse(analyser).terms(text)) for _, text in self.written]
        documents = Counter(word for bag in self.bags for word in bag)
        counts = sum(self.bags, Counter())
        self.spelled = sorted(documents, key=lambda word: (documents[word], word))
        self.numbers = {word: number for number, word in enumerate(self.spelled)}
        self.facts = Facts(members=len({member for member, _ in self.written}))
        self.reference = Collection(
            documents=len(self.bags),
            tokens=sum(counts.values()),
            term_counts=np.array([counts[word] for word in self.spelled], dtype=np.int64),
            document_counts=np.array([documents[word] for word in self.spelled], dtype=np.int64),
        )

    def posts(self, numbers):
        numbers = list(numbers)
        return pa.table(
            {
                "post_id": [f"p{number}" for number in numbers],
                "text": pa.array([self.written[number][1] for number in numbers], type=pa.string()),
            }
        )

    def posts_of(self, member):
        return np.array([at for at, (author, _) in enumerate(self.written) if author == member], dtype=np.int32)

    def terms_of(self, posts):
        rows = [[(self.numbers[word], count) for word, count in self.bags[post].items()] for post in posts]
        starts = np.cumsum([0, *map(len, rows)])
        words = np.array([word for row in rows for word, _ in row], dtype=np.int32)
        return starts.astype(np.int64), words, np.array([count for row in rows for _, count in row], dtype=np.int32)

    def words(self, numbers):
        return [self.spelled[number] for number in numbers]

    def word_numbers(self, words):
        return np.array([self.numbers.get(word, -1) for word in words], dtype=np.int32)

    def counts_of(self, words):
        return self.reference.term_counts[words]

    def exposures(self, member=None):
        """Every triple, by brute force."""
        pairs = {pair for bag in self.bags for pair in combinations(sorted(map(self.numbers.get, bag)), 2)}
        queries = [(word,) for word in range(len(self.spelled))] + sorted(pairs)
        found = sorted(row for query in queries for row in self._results(query))
        return rows_of(*(row for row in found if member is None or row[0] == member))

    def _results(self, query):
        words = [self.spelled[number] for number in query]
        whole = [all(word in bag for word in words) for bag in self.bags]
        scores = {at: self._score(words, bag) for at, bag in enumerate(self.bags) if any(word in bag for word in words)}
        best = sorted(scores, key=lambda at: (-scores[at], at))[: self.settings.k]
        total = sum(exp(scores[at]) for at in best)
        shares = [exp(scores[at]) / total for at in best]
        entropy = -sum(share * log(share) for share in shares) / log(len(best)) if len(best) > 1 else 0.0
        for place, at in enumerate(best, start=1):
            second = query[1] if len(query) == 2 else NO_WORD
            row = (self.written[at][0], at, query[0], second, place, whole[at], True, sum(whole), round(100 * entropy))
            yield row

    def _score(self, words, bag):
        mean = self.reference.mean_length
        shares = [self.reference.term_counts[self.numbers[word]] / self.reference.tokens for word in words]
        return sum(
            log((bag[word] + mean * share) / (bag.total() + mean)) for word, share in zip(words, shares, strict=True)
        )
