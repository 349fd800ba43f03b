"""A search service that personalises, and what it answered: the truth of an audit.

The vanilla ranking is query likelihood with Dirichlet smoothing over the world's documents. Each account has a hidden
profile of topic weights and a hidden switch rate. When the switch is on, the first results are reordered by profile
and vanilla rank together; when it is off, by rank alone; noise is added both times. The service keeps
all documents in memory, and it is small: it serves the sample, not searchers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aidos.world.columns import Column, append, column, take, texts
from aidos.world.documents import document_blocks, document_count, make_documents
from aidos.world.prose import Prose, digit_texts
from aidos.world.size import World
from aidos.world.streams import BLOCK, Flags, Floats, Ints, fresh_stream
from aidos.world.vocabulary import Vocabulary, build_vocabulary

__all__ = [
    "DEPTH",
    "PULL",
    "Account",
    "Audit",
    "SearchIndex",
    "account_audit",
    "account_count",
    "account_names",
    "account_stream",
    "answer_query",
    "build_index",
    "draw_account",
    "draw_query",
    "query_count",
    "query_names",
    "result_blocks",
]

DEPTH = 20
"""Results in a list; the vanilla and the personalised list hold the same ones."""
PULL = 4.0
"""Ranks that a document wholly about a topic of weight 1 can rise."""
NOISE = 0.8
"""With this much, counting who rose finds most topics of a profile, but not all."""
PROFILE_TOPICS = (2, 6)
LOWEST_RATE, HIGHEST_RATE = 0.3, 0.7
ON_PROFILE = 0.5
QUERY_WORDS = (2, 4)
TYPICAL = 24


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """Postings of all documents, by word."""

    starts: Ints
    """Where each word's postings begin, and where the last ends."""
    documents: Ints
    counts: Ints
    lengths: Ints
    topics: Ints
    second_topics: Ints
    shares: Floats

    @property
    def mean_length(self) -> float:
        """The smoothing parameter of the ranking."""
        return float(self.lengths.mean())

    def scores(self, words: Sequence[int]) -> Floats:
        """Log likelihood of the words under every document."""
        mu = self.mean_length
        total = np.full(len(self.lengths), 0.0)
        for word in words:
            mine = slice(self.starts[word], self.starts[word + 1])
            share = self.counts[mine].sum() / self.lengths.sum()
            if share:
                total += np.log(mu * share / (self.lengths + mu))
                total[self.documents[mine]] += np.log1p(self.counts[mine] / (mu * share))
        return total

    def best(self, words: Sequence[int], depth: int) -> Ints:
        """The documents of the highest scores, equal ones by number."""
        scores = self.scores(words)
        depth = min(depth, len(scores))
        threshold = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        candidates = np.flatnonzero(scores >= threshold)
        ordered: Ints = candidates[np.argsort(-scores[candidates], kind="stable")][:depth]
        return ordered


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody whom the service knows."""

    weights: Floats
    """The profile: a weight for every topic."""
    liked: Ints
    """Topics that have a weight, the sensitive one last."""
    rate: float
    """How often the service personalises."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What one account asked, what it was shown, and what the service hides."""

    account: int
    weights: Floats
    """The profile: a weight for every topic."""
    rate: float
    """How often the service personalises."""
    switched: Flags
    queries: tuple[tuple[int, ...], ...]
    vanilla: tuple[Ints, ...]
    personalised: tuple[Ints, ...]


def account_count(world: World) -> int:
    """How many accounts are audited."""
    return int(np.clip(world.people // 500, 4, 20))


def query_count(world: World) -> int:
    """How many queries each account asks."""
    return int(np.clip(world.people // 50, 40, 200))


def build_index(world: World, vocabulary: Vocabulary) -> SearchIndex:
    """Index titles and texts of all documents."""
    prose = Prose(vocabulary)
    blocks = range(-(-document_count(world, vocabulary) // BLOCK))
    made = [make_documents(world, vocabulary, prose, block) for block in blocks]
    words = np.concatenate([part for one in made for part in (one.titles.words, one.bodies.words)])
    owners = np.concatenate([one.numbers[part.owners] for one in made for part in (one.titles, one.bodies)])
    number = document_count(world, vocabulary)
    pairs, counts = np.unique(words * number + owners, return_counts=True)
    return SearchIndex(
        starts=np.searchsorted(pairs, np.arange(len(vocabulary.words) + 1) * number),
        documents=pairs % number,
        counts=counts,
        lengths=np.bincount(owners, minlength=number),
        topics=np.concatenate([one.topics for one in made]),
        second_topics=np.concatenate([one.second_topics for one in made]),
        shares=np.concatenate([one.shares for one in made]),
    )


def account_stream(world: World, account: int) -> np.random.Generator:
    """The stream of an account: first its profile is drawn from it, then what it asks."""
    return fresh_stream(world.seed, "results", account)


def draw_account(vocabulary: Vocabulary, stream: np.random.Generator) -> Account:
    """Some ordinary topics and a sensitive one, with their weights, and a switch rate."""
    liked = stream.choice(vocabulary.ordinary, int(stream.integers(*PROFILE_TOPICS)), replace=False)
    liked = np.append(liked, stream.integers(vocabulary.ordinary, vocabulary.in_use))
    weights = np.zeros(len(vocabulary.topics))
    weights[liked] = stream.uniform(0.5, 1.5, len(liked))
    return Account(weights, liked, float(stream.uniform(LOWEST_RATE, HIGHEST_RATE)))


def draw_query(vocabulary: Vocabulary, liked: Ints, stream: np.random.Generator) -> tuple[int, ...]:
    """Words of a topic, one of the profile's or any; they are numbers in the vocabulary."""
    on_profile = stream.random() < ON_PROFILE
    topic = int(stream.choice(liked)) if on_profile else int(stream.integers(vocabulary.in_use))
    typical = vocabulary.topic_words[topic, :TYPICAL]
    return tuple(stream.choice(typical, int(stream.integers(*QUERY_WORDS)), replace=False).tolist())


def answer_query(
    index: SearchIndex, words: Sequence[int], weights: Floats | None, stream: np.random.Generator
) -> tuple[Ints, Ints]:
    """The vanilla ranking, and what is shown to somebody of whom these weights are known; None where the switch is off.

    The second differs from the first by noise even where nothing is known.
    """
    shown = index.best(words, DEPTH)
    appeal = -np.arange(len(shown), dtype=np.float64) + NOISE * stream.gumbel(size=len(shown))
    if weights is not None:
        appeal += PULL * _match(index, weights, shown)
    return shown, shown[np.argsort(-appeal, kind="stable")]


def account_audit(world: World, vocabulary: Vocabulary, index: SearchIndex, account: int) -> Audit:
    """All queries of one account, asked with and without being known."""
    stream = account_stream(world, account)
    known = draw_account(vocabulary, stream)
    switched = stream.random(query_count(world)) < known.rate
    queries, vanilla, personalised = [], [], []
    for on in switched.tolist():
        queries.append(draw_query(vocabulary, known.liked, stream))
        shown, reordered = answer_query(index, queries[-1], known.weights if on else None, stream)
        vanilla.append(shown)
        personalised.append(reordered)
    return Audit(account, known.weights, known.rate, switched, tuple(queries), tuple(vanilla), tuple(personalised))


def result_blocks(world: World) -> Iterator[pa.Table]:
    """Pairs of result lists, an account at a time; without the truth."""
    vocabulary = build_vocabulary(world)
    index = build_index(world, vocabulary)
    columns = ("object_id", "title", "snippet")
    blocks = [table.select(list(columns)) for table in document_blocks(world)]
    shown = {name: append(*(chunk for block in blocks for chunk in block[name].chunks)) for name in columns}
    for account in range(account_count(world)):
        yield _table(vocabulary, account_audit(world, vocabulary, index, account), shown)


def account_names(accounts: Ints) -> Column:
    """Accounts by name."""
    return digit_texts("account", (accounts + 1, 2))


def query_names(accounts: Ints, queries: Ints) -> Column:
    """Queries of accounts by name."""
    return digit_texts("account", (accounts + 1, 2), "q", (queries + 1, 4))


def _match(index: SearchIndex, weights: Floats, documents: Ints) -> Floats:
    shares = index.shares[documents]
    matched: Floats = shares * weights[index.topics[documents]]
    return matched + (1 - shares) * weights[index.second_topics[documents]]


def _table(vocabulary: Vocabulary, audit: Audit, documents: Mapping[str, Column]) -> pa.Table:
    lists = [ranking for pair in zip(audit.vanilla, audit.personalised, strict=True) for ranking in pair]
    lengths = np.array([len(ranking) for ranking in lists])
    which = np.repeat(np.arange(len(lists)), lengths)
    accounts = np.full(len(which), audit.account)
    asked = texts([" ".join(vocabulary.words[word] for word in words) for words in audit.queries])
    places = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shown = np.concatenate(lists)
    return pa.table(
        {
            "client_id": account_names(accounts),
            "query_id": query_names(accounts, which // 2),
            "user_query": take(asked, which // 2),
            "ranking": take(texts(("vanilla", "personalised")), which % 2),
            "position": column((places + 1).astype(np.int32)),
            **{name: take(texts_of, shown) for name, texts_of in documents.items()},
        }
    )
