"""Exposure written out: every query asked of every post, in plain Python, slow on purpose.

This is the oracle of `compute` and of everything that keeps its result current. It shares no code with the compiled
path: it counts for itself, takes the formulas as they stand in `aidos.model.retrieval.scorers`, and adds scores as
whole numbers of 2^-40, to which every part is rounded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import TypeAlias

from aidos.model.retrieval.scorers import BM25, JelinekMercer, QueryLikelihood, Scorer, parse_scorer
from aidos.model.text.analyser import Analyser
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["BruteAnswer", "BrutePost", "all_answers", "answer_of"]

GRAIN = 2**40


@dataclass(frozen=True, slots=True, kw_only=True)
class BrutePost:
    """A post, with the title in the text."""

    post_id: str
    author_id: str
    timestamp: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BruteAnswer:
    """What a query returns, best first."""

    documents: int
    """Posts that hold all words of the query."""
    evenness: int
    certain: int
    """So many results, from the first, are returned however ties fall."""
    posts: tuple[str, ...]
    """Ids."""
    whole: tuple[bool, ...]
    scores: tuple[float, ...]
    """Without what all posts get."""


_Row: TypeAlias = tuple[BrutePost, Counter[str]]


class _Language:
    """What a scorer knows of the posts that statistics are taken from; words it does not know count once."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.number = len(rows)
        self._counts = Counter(word for row in rows for word in row)
        self._found = Counter(word for row in rows for word in set(row))
        self.tokens = self._counts.total()
        self.mean_length = self.tokens / self.number if self.number else 0.0

    def count(self, word: str) -> int:
        return self._counts[word] or 1

    def found(self, word: str) -> int:
        return self._found[word] or 1


def all_answers(
    posts: Sequence[BrutePost], settings: SearchExposure, *, reference: Sequence[BrutePost] | None = None
) -> dict[tuple[str, ...], BruteAnswer]:
    """The results of all single words, and of all pairs that some post holds together, words by text.

    ``reference`` are the posts that statistics are taken from, if not from those that are searched.
    """
    rows = _rows(posts, settings)
    held = {pair for row in rows for pair in combinations(sorted(set(row)), 2)}
    asked = sorted({(word,) for row in rows for word in row} | held)
    language = _Language(rows if reference is None else _rows(reference, settings))
    ordered = _by_ties(list(zip(posts, map(Counter, rows), strict=True)), settings)
    return {query: _answer(query, ordered, language, settings) for query in asked}


def answer_of(
    query: Sequence[str],
    posts: Sequence[BrutePost],
    settings: SearchExposure,
    *,
    reference: Sequence[BrutePost] | None = None,
) -> BruteAnswer:
    """The results of one query of distinct words, also of a pair that no post holds together."""
    rows = _rows(posts, settings)
    language = _Language(rows if reference is None else _rows(reference, settings))
    ordered = _by_ties(list(zip(posts, map(Counter, rows), strict=True)), settings)
    return _answer(tuple(query), ordered, language, settings)


def _rows(posts: Sequence[BrutePost], settings: SearchExposure) -> list[list[str]]:
    analyser = Analyser.parse(settings.analyser)
    return [analyser.terms(post.text)[: settings.longest_post] for post in posts]


def _by_ties(
    rows: list[tuple[BrutePost, Counter[str]]], settings: SearchExposure
) -> list[tuple[BrutePost, Counter[str]]]:
    by_id = sorted(rows, key=lambda row: row[0].post_id)
    if settings.ties == "id":
        return by_id
    return sorted(by_id, key=lambda row: row[0].timestamp, reverse=settings.ties == "newest")


def _answer(query: tuple[str, ...], ordered: list[_Row], language: _Language, settings: SearchExposure) -> BruteAnswer:
    scorer = parse_scorer(settings.scorer)
    enough = all if settings.semantics == "and" else any
    hits = []
    for post, row in ordered:
        if enough(word in row for word in query):
            score = _score(scorer, language, row, query)
            if score > 0 or not (isinstance(scorer, QueryLikelihood) and scorer.matching_only):
                hits.append((score, post.post_id, all(word in row for word in query)))
    hits.sort(key=lambda hit: -hit[0])
    first, behind = hits[: settings.k], hits[settings.k : settings.k + 1]
    return BruteAnswer(
        documents=sum(all(word in row for word in query) for _, row in ordered),
        evenness=_evenness([score / GRAIN for score, _, _ in first]),
        certain=sum(not behind or score > behind[0][0] for score, _, _ in first),
        posts=tuple(name for _, name, _ in first),
        whole=tuple(whole for _, _, whole in first),
        scores=tuple(score / GRAIN for score, _, _ in first),
    )


def _score(scorer: Scorer, language: _Language, row: Counter[str], query: tuple[str, ...]) -> int:
    """In units of 2^-40."""
    total = sum(_matches(scorer, language, row, query))
    if isinstance(scorer, QueryLikelihood) and not scorer.matching_only:
        total += round(len(query) * _length_part(scorer, language, row.total()) * GRAIN)
    return total


def _matches(scorer: Scorer, language: _Language, row: Counter[str], query: tuple[str, ...]) -> Iterator[int]:
    part = _length_part(scorer, language, row.total())
    for word in query:
        often = row[word]
        if not often:
            continue
        match scorer:
            case QueryLikelihood():
                mu = language.mean_length if scorer.mu is None else scorer.mu
                gain = math.log1p(often * (language.tokens / (mu * language.count(word))))
                least, gain = (0, gain + part) if scorer.matching_only else (1, gain)
            case JelinekMercer():
                least, gain = 1, math.log1p(often * (language.tokens / language.count(word)) * part)
            case BM25():
                found = language.found(word)
                rate = math.log1p((language.number - found + 0.5) / (found + 0.5))
                least, gain = 1, rate * (often / (often + part))
            case _:
                raise TypeError(f"{type(scorer).__name__} has no plain version")
        yield max(least, round(gain * GRAIN))


def _length_part(scorer: Scorer, language: _Language, length: int) -> float:
    match scorer:
        case QueryLikelihood(mu=mu):
            return -math.log1p(length / (language.mean_length if mu is None else mu))
        case JelinekMercer(weight=weight):
            return (1 - weight) / (weight * max(length, 1))
        case BM25(k1=k1, b=b):
            return k1 * (1 - b + b * length / language.mean_length)
        case _:
            raise TypeError(f"{type(scorer).__name__} has no plain version")


def _evenness(scores: Sequence[float]) -> int:
    if len(scores) < 2:
        return 0
    weights = [math.exp(score - scores[0]) for score in scores]
    shares = [weight / math.fsum(weights) for weight in weights]
    entropy = -math.fsum(share * math.log(share) for share in shares if share)
    return math.floor(100 * entropy / math.log(len(scores)) + 0.5)
