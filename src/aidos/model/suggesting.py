"""Other ways to ask: suggestions for a query, from counted queries and pairs of queries.

A suggestion replaces the whole query by one that often followed it, or one phrase of it by one that often took its
place; suggestions are ranked by log-likelihood ratio (Jones et al. 2006). The counts may be an original log's or a
released one's: from a release nothing is used but its tables, so suggestions from it cost no privacy, and whoever
received the release can make them.

Where this differs: Jones et al. learn an order of suggestions from judgements; without judgements, the ratio is the
order. Whole queries and phrases are tested in tables of their own and ranked together. A suggestion made by a phrase
need not be a query that anybody asked. Nothing here is private when the counts are not.

How strongly one phrase, or query, calls for another is told by log-likelihood ratios. Two tables are counted from the
pairs of consecutive queries: whole queries that followed each other, and phrases that took each other's place where all
else stayed (Jones et al. 2006). In each, a pair is tested for dependence by Dunning's ratio: 2 ln L(second depends on
first) - 2 ln L(it does not), which is near chi-square with one degree of freedom where it does not. Jones et al. ask
for more than 100, since very many pairs are tested; 3.84 would be the usual 5 %.

Where this differs: Götz et al. (2012) describe phrase pairs more widely, as any phrase of a query with any of the next;
here, as with Jones et al., the rest of the query must be the same, with equally many phrases in the same order. Pairs
that follow each other less often than by chance are left out. The ratio takes rows for independent observations, which
people's queries are not, and it knows nothing of noise in the counts: it ranks, it proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.model.phrases import CodedLog, CodedPhrases, Joining, Longs, Phrases, code_log, spell

__all__ = [
    "PairStatistics",
    "Substitutes",
    "SubstitutionModel",
    "Suggesting",
    "Suggestion",
    "changed_phrases",
    "log_likelihood_ratio",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggesting:
    """What makes a suggestion."""

    least_ratio: Annotated[float, Ge(0)] = 100.0
    """Log-likelihood ratio that a pair needs, at least: 100 with Jones et al.; small logs need less."""
    joining: Joining = field(default_factory=Joining)
    """When neighbouring words are one phrase."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Another way to ask."""

    query: str
    """The whole of it."""
    score: float
    """Log-likelihood ratio of what was replaced and what took its place; larger is better."""
    replaced: str
    """The phrase, or the whole query, that was replaced."""
    by: str
    """What took its place."""


@dataclass(frozen=True, slots=True, eq=False)
class Substitutes:
    """What may take the place of what, best first."""

    ranges: Mapping[str, tuple[int, int]]
    """For each text that has substitutes, where they begin and end below."""
    texts: Sequence[str]
    """The substitutes, by falling ratio and then in the order of their letters."""
    ratios: Sequence[float]
    """Their log-likelihood ratios."""

    def best(self, text: str, most: int) -> list[tuple[float, str]]:
        """The best substitutes of a text with their ratios; none where the text is not known."""
        begin, end = self.ranges.get(text, (0, 0))
        end = min(end, begin + most)
        return list(zip(self.ratios[begin:end], self.texts[begin:end], strict=True))

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubstitutionModel:
    """Suggestions from counts."""

    phrases: Phrases
    """How queries are divided."""
    of_queries: Substitutes
    """Whole queries for whole queries."""
    of_phrases: Substitutes
    """Phrases for phrases."""

    @classmethod
    def of(cls, queries: pa.Table | None, pairs: pa.Table, suggesting: Suggesting | None = None) -> SubstitutionModel:
        """From ``user_query, count`` and ``user_query, next_query, count``; counts are whole numbers.

        Phrases are learned from the counted queries; without any, from the queries of the pairs.
        """
        asked = suggesting or Suggesting()
        log = code_log(queries, pairs)
        coded = CodedPhrases.of(log, asked.joining)
        whole = PairStatistics.of(log.left, log.right, log.times)
        parts = PairStatistics.of(*changed_phrases(log, coded))
        return cls(
            phrases=coded.phrases,
            of_queries=_ranked(whole.at_least(asked.least_ratio), log, log.starts[:-1], np.diff(log.starts)),
            of_phrases=_ranked(parts.at_least(asked.least_ratio), log, coded.firsts, coded.lengths),
        )

    def suggest(self, query: str, most: int = 5) -> tuple[Suggestion, ...]:
        """The best suggestions, best first; of equal ones first the whole query, then the first phrases.

        Every one is another query: where several replacements give the same, the strongest counts.
        """
        if most < 1:
            raise ParameterError(f"most must be at least 1, got {most}")
        parts = self.phrases.split(query)
        asked = " ".join(parts)
        found = [(-ratio, -1, text, text) for ratio, text in self.of_queries.best(asked, most)]
        for place, phrase in enumerate(parts):
            for ratio, text in self.of_phrases.best(phrase, most):
                found.append((-ratio, place, text, " ".join((*parts[:place], text, *parts[place + 1 :]))))
        chosen: dict[str, Suggestion] = {}
        for lost, place, text, made in sorted(found):
            if made not in chosen and len(chosen) < most:
                replaced = asked if place < 0 else parts[place]
                chosen[made] = Suggestion(query=made, score=-lost, replaced=replaced, by=text)
        return tuple(chosen.values())


def _ranked(found: PairStatistics, log: CodedLog, firsts: Longs, lengths: Longs) -> Substitutes:
    """The pairs in words, in the order in which they are suggested."""
    kinds, place = np.unique(np.concatenate([found.first, found.second]), return_inverse=True)
    texts = spell(log, firsts[kinds], lengths[kinds])
    # Numbers differ from log to log, so the order of the texts decides between equals.
    alphabetic = np.empty(len(kinds), dtype=np.int64)
    alphabetic[pc.sort_indices(pa.array(texts, pa.large_string())).to_numpy()] = np.arange(len(kinds))
    first, second = np.split(place, 2)
    order = np.lexsort((alphabetic[second], -found.ratio, first))
    first, second = first[order], second[order]
    begins = np.flatnonzero(np.diff(first, prepend=-1))
    ends = np.flatnonzero(np.diff(first, append=-1)) + 1
    named = [texts[kind] for kind in first[begins].tolist()]
    return Substitutes(
        dict(zip(named, zip(begins.tolist(), ends.tolist(), strict=True), strict=True)),
        [texts[kind] for kind in second.tolist()],
        found.ratio[order].tolist(),
    )


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairStatistics:
    """Pairs that follow each other more often than by chance, each once, by the first and then the second."""

    first: Longs
    """What was replaced."""
    second: Longs
    """What took its place."""
    times: Longs
    """How often."""
    ratio: Floats
    """Log-likelihood ratio; larger is stronger."""

    @classmethod
    def of(cls, first: Longs, second: Longs, times: Longs) -> PairStatistics:
        """Add up the rows of each pair and test it against all of them."""
        size = 1 + max(int(first.max(initial=-1)), int(second.max(initial=-1)))
        weights = times.astype(np.float64)
        total = float(weights.sum())
        rows, columns = (np.bincount(side, weights=weights, minlength=size) for side in (first, second))
        keys, both = _added_up(first * max(size, 1) + second, weights)
        first, second = np.divmod(keys, max(size, 1))
        attracted = both * total > rows[first] * columns[second]
        first, second, both = first[attracted], second[attracted], both[attracted]
        return cls(
            first=first,
            second=second,
            times=both.astype(np.int64),
            ratio=log_likelihood_ratio(both, rows[first], columns[second], total),
        )

    def at_least(self, ratio: float) -> PairStatistics:
        """The pairs that reach a ratio."""
        kept = self.ratio >= ratio
        return PairStatistics(
            first=self.first[kept], second=self.second[kept], times=self.times[kept], ratio=self.ratio[kept]
        )


def log_likelihood_ratio(both: ArrayLike, first: ArrayLike, second: ArrayLike, total: float) -> Floats:
    """Dunning's ratio of pairs: how often together, each at its place, and how many pairs there are in all."""
    cell, row, column = (np.asarray(counts, dtype=np.float64) for counts in (both, first, second))
    cells = (
        (cell, row, column),
        (row - cell, row, total - column),
        (column - cell, total - row, column),
        (total - row - column + cell, total - row, total - column),
    )
    parts = [seen * np.log(np.where(seen > 0, seen * total, 1) / np.where(seen > 0, r * c, 1)) for seen, r, c in cells]
    found: Floats = np.maximum(2 * np.sum(parts, axis=0), 0.0)
    return found


def changed_phrases(log: CodedLog, phrases: CodedPhrases) -> tuple[Longs, Longs, Longs]:
    """Of the pairs of queries that differ in one phrase: that phrase, the one in its place, and how often."""
    begin, sizes = phrases.starts[:-1], np.diff(phrases.starts)
    rows = np.flatnonzero(sizes[log.left] == sizes[log.right])
    left, right, size = begin[log.left[rows]], begin[log.right[rows]], sizes[log.left[rows]]
    changes = np.zeros(len(rows), dtype=np.int64)
    changed = np.zeros(len(rows), dtype=np.int64)
    still = np.arange(len(rows))
    for place in range(int(size.max(initial=0))):
        # Rows drop out when they end or when a second phrase differs, so that long queries cost little.
        still = still[(size[still] > place) & (changes[still] < 2)]
        differs = still[phrases.numbers[left[still] + place] != phrases.numbers[right[still] + place]]
        changes[differs] += 1
        changed[differs] = place
    one = np.flatnonzero(changes == 1)
    here = phrases.numbers[left[one] + changed[one]]
    there = phrases.numbers[right[one] + changed[one]]
    return here, there, log.times[rows[one]]


def _added_up(keys: Longs, weights: Floats) -> tuple[Longs, Floats]:
    """Distinct keys in order, and the sum of the weights of each."""
    order = np.argsort(keys)
    keys, weights = keys[order], weights[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.zeros(0, np.int64)
    return keys[begins], np.add.reduceat(weights, begins) if len(keys) else weights
