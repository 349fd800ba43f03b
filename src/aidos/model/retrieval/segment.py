"""The postings of one batch of documents: who contains which term how often, as plain arrays.

An index is a list of segments. Arrays may be memory-mapped; nobody writes to them except for the marks of deletion.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Collection", "Segment"]

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """Postings by term: those of term t stand from starts[t] to starts[t + 1], by document."""

    starts: Longs
    """One more than there are terms in the segment; terms beyond are not in it."""
    documents: Ints
    """Number of the document within the segment, rising within a term."""
    frequencies: Ints
    """How often the term stands in it, at least 1."""
    lengths: Ints
    """Terms of each document, deleted ones included."""
    deleted: Marks
    """Documents that are gone."""
    longest: int = field(init=False)
    """Terms of the longest document."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "longest", int(self.lengths.max(initial=0)))

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collection:
    """What a scorer may know of all documents that are not deleted, of all segments together."""

    documents: int
    tokens: int
    """Sum of the lengths."""
    term_counts: Longs
    """How often each term stands in the collection."""
    document_counts: Longs
    """In how many documents each term stands."""

    @property
    def mean_length(self) -> float:
        """Terms of the average document."""
        return self.tokens / self.documents if self.documents else 0.0
