"""Exposure by columns: which post is returned for which query, at which rank, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_WORD", "Exposures"]

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
