"""How much disk a computation will take, known before it begins: long posts hold very many pairs of words.

A post of d distinct words holds d (d - 1) / 2 pairs, each of them a query with up to k results. How many pairs are
distinct is counted for some first words, drawn evenly by the pairs they begin, and scaled up: as no word can count for
more than its pairs, the error is a few percent of them at most. A result takes eight bytes while the work goes on and a
query sixteen; what files take in the end depends on how well they pack. Measured on short, middle and long posts, the
estimate is 1.0 to 1.2 times what is there just before the end (see the tests).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aidos.errors import EngineError, ParameterError
from aidos.model.retrieval.building import read_size
from aidos.rooms.exposure.queries.kernels.rows import count_followers
from aidos.rooms.exposure.queries.settings import LARGEST, LARGEST_CHANGE, SearchExposure

if TYPE_CHECKING:
    from aidos.rooms.exposure.queries.flat import Flat

__all__ = ["ROOM_FOR_CHANGES", "USUAL_ROOM", "Estimate", "Room", "estimate", "estimate_change", "in_words"]

Longs = NDArray[np.int64]
DRAWN = 256
"""First words whose pairs are counted."""
SPILL_PER_RESULT, SPILL_PER_QUERY = 8, 16
KEPT_PER_RESULT = 6
"""Parquet packs to 2 to 6 bytes a result, in the files by query and those by member together."""
CHANGE_PER_RESULT = 28
"""Rows of a change are not packed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What is about to be written, in bytes."""

    queries: int
    results: int
    spill: int
    """There while the work goes on."""
    kept: int
    """There afterwards."""

    @property
    def bytes(self) -> int:
        """All of it: both are there just before the end."""
        return self.spill + self.kept


def estimate(flat: Flat, settings: SearchExposure) -> Estimate:
    """Queries and results of a collection, about; single words are counted exactly."""
    behind = np.arange(flat.words, dtype=np.int64)[::-1]
    most = np.minimum(flat.work, behind)
    ends = np.cumsum(most)
    queries, results = flat.words, int(np.minimum(np.diff(flat.postings[0]), settings.k).sum())
    pairs = int(ends[-1]) if len(ends) else 0
    if pairs:
        drawn = np.searchsorted(ends, (np.arange(DRAWN) + 0.5) * (pairs / DRAWN), side="right")
        counts = np.zeros(flat.words, dtype=np.int32)
        both = int(settings.semantics == "and")
        words, times = np.unique(drawn, return_counts=True)
        for word, often in zip(words.tolist(), times.tolist(), strict=True):
            found = count_followers(word, settings.k, both, flat.rows[:2], flat.postings, counts)
            share = often * pairs / DRAWN / int(most[word])
            queries, results = queries + round(share * found[0]), results + round(share * found[1])
    spill = SPILL_PER_RESULT * results + SPILL_PER_QUERY * queries
    return Estimate(queries=queries, results=results, spill=spill, kept=KEPT_PER_RESULT * results)


def estimate_change(distinct: Longs, settings: SearchExposure) -> Estimate:
    """At most what adding posts of so many distinct words writes, unless they move the best posts of many words."""
    queries = int((distinct * (distinct + 1) // 2).sum())
    results = settings.k * queries
    return Estimate(queries=queries, results=results, spill=0, kept=CHANGE_PER_RESULT * results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much may be written, and who is told how much it will be."""

    largest: str | int = LARGEST
    """A size such as 20GB."""
    remedy: str = "look at fewer words of each post with --longest-post"
    tell: Callable[[Estimate], None] | None = None

    def __post_init__(self) -> None:
        try:
            read_size(self.largest)
        except ParameterError as error:
            wrong = f"the largest spill must be a size such as 20GB, got {self.largest!r}"
            raise ParameterError(wrong, hint="write a number and MB or GB") from error

    def require(self, target: Path, expected: Estimate, *, there: int = 0) -> None:
        """Refuse what would take more than that, or more than the disk has; ``there`` bytes are written already."""
        if expected.bytes > read_size(self.largest):
            raise ParameterError(
                f"{target} would take about {in_words(expected.bytes)}, more than {in_words(read_size(self.largest))}: "
                "every pair of words in a post is a query",
                hint=f"{self.remedy}, or allow it: --largest-spill {1 + expected.bytes // 10**9}GB",
            )
        if expected.bytes > (free := shutil.disk_usage(target).free + there):
            raise EngineError(
                f"{target} would take about {in_words(expected.bytes)}, and the disk has {in_words(free)} left",
                hint=f"free some space, or {self.remedy}",
            )
        if self.tell:
            self.tell(expected)


USUAL_ROOM = Room()
ROOM_FOR_CHANGES = Room(largest=LARGEST_CHANGE, remedy="shorten the posts")


def in_words(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 10**9:,.1f} GB" if size >= 10**8 else f"{size / 10**6:,.1f} MB"
