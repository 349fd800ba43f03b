"""Which posting lists to keep in memory, and how often a searched keyword finds its list there.

A search engine that holds only some of its posting lists in memory wants those that are asked for often and are short.
After Baeza-Yates (2004), in the form of Götz et al. (2012): a keyword's score is how often it is asked, divided by the
number of documents that have it; lists are taken by falling score until the memory is full. Lists are cut at a length.
Frequencies may come from a log or from a release; the workload that is paid in hits is always the searchers' own.

Where this differs: the paper does not say what happens when the next list no longer fits; here it is passed over, and
shorter ones behind it still get in. A greedy choice is not the best there is, which would be a knapsack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError

__all__ = ["CacheLimits", "choose_lists", "hit_probability"]

GIGABYTE = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """How much memory there is, and what a list takes of it."""

    memory_bytes: Annotated[int, Ge(1)] = GIGABYTE
    """Memory for posting lists."""
    posting_bytes: Annotated[int, Ge(1)] = 8
    """Of one document in a list."""
    longest_list: Annotated[int, Ge(1)] = 200_000
    """Documents of a list that are kept; what is longer is cut."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def sizes(self, documents: ArrayLike) -> NDArray[np.int64]:
        """Bytes of each list, by the number of documents that have the keyword."""
        lengths = np.minimum(np.asarray(documents, np.int64), self.longest_list)
        found: NDArray[np.int64] = lengths * self.posting_bytes
        return found


def choose_lists(frequencies: ArrayLike, documents: ArrayLike, limits: CacheLimits) -> NDArray[np.bool_]:
    """Which lists are kept: by falling frequency / documents, passing over those that no longer fit.

    Keywords that no document has, and those that are not asked for, have no list to keep. Equal scores are taken in the
    order in which the keywords are given.
    """
    asked, having = np.asarray(frequencies, np.float64), np.asarray(documents, np.int64)
    if asked.shape != having.shape or asked.ndim != 1:
        raise ParameterError("every keyword needs one frequency and one number of documents")
    if not np.isfinite(asked).all() or (having < 0).any():
        raise ParameterError("frequencies must be finite, and numbers of documents not negative")
    useful = np.flatnonzero((asked > 0) & (having > 0))
    left = useful[np.argsort(-asked[useful] / having[useful], kind="stable")]
    sizes, room = limits.sizes(having), limits.memory_bytes
    kept = np.zeros(len(asked), np.bool_)
    while len(left := left[sizes[left] <= room]):
        filled = np.cumsum(sizes[left])
        fitting = int(np.searchsorted(filled, room, side="right"))
        kept[left[:fitting]] = True
        room -= int(filled[fitting - 1])
        left = left[fitting:]
    return kept


def hit_probability(kept: NDArray[np.bool_], workload: ArrayLike) -> float:
    """The share of a workload, keywords with how often each is searched, whose lists are in memory."""
    searched: NDArray[Any] = np.asarray(workload, np.float64)
    if searched.shape != kept.shape or (searched < 0).any():
        raise ParameterError("a workload has a number, not negative, for each keyword")
    total = float(searched.sum())
    return float(searched[kept].sum()) / total if total > 0 else float("nan")
