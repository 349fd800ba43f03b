"""What a search found: documents in order, best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from aidos.model.retrieval.index import Index

__all__ = ["HitLists", "Hits", "segment_bounds"]

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
