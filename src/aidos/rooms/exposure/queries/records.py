"""Exposure by columns: which post is returned for which query, at which rank, and how sure that is.

Result lists of many queries stand by columns, too, one list behind the other, each with one result more than is shown.
The list of query i stands from ``starts[i]`` to ``starts[i + 1]``, best first. The one behind the first k is kept: it
decides which of the first are there however ties fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_TERM", "NO_WORD", "Exposures", "Lists", "Singles"]

NO_WORD = -1
"""Stands for the second word of a query that has one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exposures:
    """Triples of member, post and query, one at each place of the columns."""

    members: NDArray[np.int32]
    """The number of the member who wrote the post."""
    posts: NDArray[np.int32]
    """The number of the post."""
    first: NDArray[np.int32]
    """The word of the query, or that of its two words with the smaller number."""
    second: NDArray[np.int32]
    """The other word; NO_WORD where there is none."""
    ranks: NDArray[np.int16]
    """Where the post stands among the results, counted from 1."""
    whole: NDArray[np.bool_]
    """Whether the post holds all words of the query; a partial match otherwise."""
    certain: NDArray[np.bool_]
    """Whether it is among the first k however ties fall; otherwise it depends on how ties are broken."""
    documents: NDArray[np.int32]
    """How many posts hold all words of the query (its selectivity)."""
    evenness: NDArray[np.uint8]
    """Entropy of the softmax of the scores of the results, in per cent of its largest value; 0 for a single result."""

    def __len__(self) -> int:
        return len(self.posts)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All of several (at least one), in order."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def take(self, places: NDArray[Any]) -> Self:
        """Those at some places, or where a mask is true."""
        return type(self)(**{field.name: getattr(self, field.name)[places] for field in fields(self)})


Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Marks = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

NO_TERM = -1
"""Stands for the other word of a query that has one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Singles:
    """The k + 1 best posts of some words, one list behind the other."""

    starts: Longs
    scores: Floats
    orders: Longs
    posts: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lists:
    """The k + 1 best posts of some queries, one list behind the other."""

    ones: Ints
    """A word of each query."""
    others: Ints
    """The other, NO_TERM for none."""
    documents: Ints
    """How many posts hold all words."""
    certain: Bytes
    """So many of the first k are there however ties fall."""
    evenness: Bytes
    starts: Longs
    scores: Floats
    """Without what all posts get."""
    orders: Longs
    posts: Ints
    whole: Marks
    """Whether the post holds all words."""

    def __len__(self) -> int:
        return len(self.ones)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All of several (at least one), in order."""
        joined: dict[str, Any] = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "starts"
        }
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(**joined, starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def take(self, places: NDArray[Any]) -> Lists:
        """Some of the lists, in the order asked."""
        sizes = np.diff(self.starts)[places]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        inside = np.arange(starts[-1]) + np.repeat(self.starts[:-1][places] - starts[:-1], sizes)
        queries = {name: getattr(self, name)[places] for name in ("ones", "others", "documents", "certain", "evenness")}
        results = {name: getattr(self, name)[inside] for name in ("scores", "orders", "posts", "whole")}
        return Lists(**queries, **results, starts=starts)

    @classmethod
    def empty(cls) -> Self:
        """No queries."""
        return cls(
            ones=np.zeros(0, np.int32),
            others=np.zeros(0, np.int32),
            documents=np.zeros(0, np.int32),
            certain=np.zeros(0, np.uint8),
            evenness=np.zeros(0, np.uint8),
            starts=np.zeros(1, np.int64),
            scores=np.zeros(0),
            orders=np.zeros(0, np.int64),
            posts=np.zeros(0, np.int32),
            whole=np.zeros(0, np.bool_),
        )
