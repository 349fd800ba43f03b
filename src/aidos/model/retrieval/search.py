"""The best documents for a query, or for many queries on all cores.

Results are exact: those of a scorer in plain Python over every document (`tests/oracles/retrieval.py`), to 1e-9.
Candidates are the documents that hold at least one word of the query; deleted ones are never returned. Equal scores
stand in document order (by segment, then by number), whatever the order of the words, the number of threads, or the way
the documents are cut into segments.

Words of a query that no document holds change nothing and are named in `Hits.unknown`. A query without a known word,
or without any word, finds nothing: logs hold such queries, and one of them must not stop the rest.

`Hits` is what a search found: documents in order, best first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.model.retrieval.kernels.matching import search_segment, sort_hits
from aidos.model.retrieval.scorers import QueryLikelihood, Scorer
from aidos.model.retrieval.threads import Work, in_chunks, read_only
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from aidos.model.retrieval.index import Index
    from aidos.model.retrieval.part import Marks, Segment

__all__ = [
    "HitLists",
    "Hits",
    "Queries",
    "known_terms",
    "read_queries",
    "search",
    "search_batch",
    "search_queries",
    "segment_bounds",
]

CHUNK = 64
"""Queries that a thread takes at a time."""
USUAL = QueryLikelihood()
"""The scorer if none is given."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Queries:
    """Queries as numbers of the index's terms: those of query i stand from ``starts[i]`` to ``starts[i + 1]``."""

    starts: Longs
    terms: Longs
    """Only such as stand in a document; a repeated word stands here as often as it is repeated."""
    unknown: Mapping[int, tuple[str, ...]]
    """By query, where there are any."""

    def __len__(self) -> int:
        return len(self.starts) - 1


def read_queries(index: Index, queries: Sequence[str]) -> Queries:
    """Look the words of queries up. Do it once where the same queries are searched often."""
    words = Vocabulary()
    found = analyse(queries, words, analyser=index.analyser)
    numbers = known_terms(index, list(words))
    terms = numbers[found.terms]
    missing = np.flatnonzero(terms < 0)
    unknown: dict[int, dict[str, None]] = {}
    for at, query in zip(missing, np.searchsorted(found.starts, missing, side="right") - 1, strict=True):
        unknown.setdefault(int(query), {})[words.term(int(found.terms[at]))] = None
    return Queries(
        starts=found.starts - np.searchsorted(missing, found.starts),
        terms=terms[terms >= 0],
        unknown={query: tuple(names) for query, names in unknown.items()},
    )


def search(index: Index, query: str, scorer: Scorer | None = None, size: int = 10) -> Hits:
    """The best documents for one query, by query likelihood if no scorer is given."""
    words = index.analyser.terms(query)
    terms = known_terms(index, words)
    missing = tuple(dict.fromkeys(word for word, term in zip(words, terms, strict=True) if term < 0))
    terms = terms[terms >= 0]
    starts = np.array([0, len(terms)], dtype=np.int64)
    asked = Queries(starts=starts, terms=terms, unknown={0: missing} if missing else {})
    return search_queries(index, asked, scorer, size, threads=1)[0]


def search_batch(
    index: Index, queries: Sequence[str], scorer: Scorer | None = None, size: int = 10, threads: int | None = None
) -> HitLists:
    """The best documents for many queries, on as many threads as there are cores if not said otherwise."""
    return search_queries(index, read_queries(index, queries), scorer, size, threads)


def search_queries(
    index: Index, queries: Queries, scorer: Scorer | None = None, size: int = 10, threads: int | None = None
) -> HitLists:
    """The best documents for queries that have been read."""
    if size < 1:
        raise ParameterError(f"size must be at least 1, got {size}")
    room = min(size, int(segment_bounds(index)[-1]))
    hits = HitLists(
        source=index,
        places=np.empty((len(queries), room), dtype=np.int32),
        scores=np.empty((len(queries), room)),
        sizes=np.zeros(len(queries), dtype=np.int64),
        unknown=queries.unknown,
    )
    if room and len(queries.terms):
        in_chunks(_searcher(queries, scorer or USUAL, hits), len(queries), CHUNK, threads)
    return hits


def _searcher(queries: Queries, scorer: Scorer, hits: HitLists) -> Work:
    """What a thread has to do: fill the rows of some queries from all segments, with sums of its own."""
    segments, collection, bounds = hits.source.segments, hits.source.collection, segment_bounds(hits.source)
    postings = [_postings(segment) for segment in segments]
    owners = np.repeat(np.arange(len(queries)), np.diff(queries.starts))
    # Rare words first: what they find is hard to beat, so that most of what comes later is turned away at once.
    terms = queries.terms[np.lexsort((collection.document_counts[queries.terms], owners))]
    rates = scorer.rates(collection, terms)
    constants = np.bincount(owners, _on_grid(scorer.constants(collection, terms)), len(queries)).astype(np.float64)
    longest = max(segment.longest for segment in segments)
    length_parts = _length_parts(scorer, collection.mean_length, max(8, longest.bit_length()))

    def prepare() -> Callable[[int, int], None]:
        largest = max(map(len, segments))
        sums, touched = np.zeros(largest), np.empty(largest + 1, dtype=np.int32)

        def fill(begin: int, end: int) -> None:
            rows = (hits.scores[begin:end], hits.places[begin:end], hits.sizes[begin:end])
            asked = (queries.starts[begin : end + 1], terms, rates)
            for arrays, first in zip(postings, bounds.tolist(), strict=False):
                search_segment(arrays, first, asked, length_parts, scorer.form, sums, touched, rows)
            sort_hits(*rows, constants[begin:end])

        return fill

    return prepare


@lru_cache(maxsize=16)
def _length_parts(scorer: Scorer, mean_length: float, bits: int) -> Floats:
    """By length rather than by document: small, quickly made, and right for as long as the mean stays."""
    return scorer.length_parts(mean_length, np.arange(1 << bits, dtype=np.int64))


def _on_grid(values: Floats) -> Floats:
    """Rounded so that sums are exact in any order, as `kernels.matching` does with everything else."""
    return np.asarray(np.round(np.ldexp(values, 40)) * 2.0**-40, dtype=np.float64)


def known_terms(index: Index, words: Sequence[str]) -> Longs:
    """Numbers of terms that stand in a document; -1 for all others."""
    terms = index.vocabulary.ids(words).astype(np.int64)
    counts = index.collection.term_counts
    there = (terms >= 0) & (terms < len(counts))
    there[there] = counts[terms[there]] > 0
    return np.where(there, terms, -1)


def _postings(segment: Segment) -> tuple[Longs, Ints, Ints, Ints, Marks]:
    return (
        read_only(segment.starts),
        read_only(segment.documents),
        read_only(segment.frequencies),
        read_only(segment.lengths),
        read_only(segment.deleted),
    )


Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """Documents in order, best first."""

    source: Index = field(repr=False)
    """Where they were found."""
    places: Ints
    """Numbers of the documents, counted through all segments."""
    scores: Floats
    unknown: tuple[str, ...] = ()
    """Words of the query that stand in no document."""

    def __len__(self) -> int:
        return len(self.places)

    # Looked up when asked for, since most uses of a batch never do; a slotted class could not remember it.
    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Names of the documents. Ask before you change the index: a merge renumbers."""
        return tuple(_names(self.source, self.places))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HitLists(Sequence[Hits]):
    """What a batch of queries found: arrays, read as a sequence of `Hits`."""

    source: Index = field(repr=False)
    """Where they were found."""
    places: Ints
    """One row a query; the first ``sizes`` of a row count."""
    scores: Floats
    sizes: Longs
    unknown: Mapping[int, tuple[str, ...]]
    """By query, where there are any."""

    def __len__(self) -> int:
        return len(self.sizes)

    @overload
    def __getitem__(self, query: int) -> Hits: ...

    @overload
    def __getitem__(self, query: slice) -> list[Hits]: ...

    def __getitem__(self, query: int | slice) -> Hits | list[Hits]:
        if isinstance(query, slice):
            return [self[one] for one in range(*query.indices(len(self)))]
        number = range(len(self))[query]
        size = self.sizes[number]
        places, scores = self.places[number, :size], self.scores[number, :size]
        return Hits(source=self.source, places=places, scores=scores, unknown=self.unknown.get(number, ()))

    def __iter__(self) -> Iterator[Hits]:
        return (self[query] for query in range(len(self)))

    def ids(self) -> list[tuple[str, ...]]:
        """Names of the documents of every query: faster than asking one after the other."""
        names = _names(self.source, self.places[np.arange(self.places.shape[1]) < self.sizes[:, None]])
        ends = np.cumsum(self.sizes).tolist()
        return [tuple(names[begin:end]) for begin, end in pairwise([0, *ends])]


def segment_bounds(index: Index) -> Longs:
    """Where the documents of each segment begin when all are counted through, and their number."""
    return np.cumsum([0, *(len(segment) for segment in index.segments)], dtype=np.int64)


def _names(index: Index, places: Ints) -> list[str]:
    bounds = segment_bounds(index)
    if len(bounds) == 2:
        return index.names(0, places)
    segments = np.searchsorted(bounds, places, side="right") - 1
    names = np.empty(len(places), dtype=object)
    for segment in np.unique(segments).tolist():
        here = segments == segment
        names[here] = index.names(segment, (places[here] - bounds[segment]).astype(np.int32))
    found: list[str] = names.tolist()
    return found
