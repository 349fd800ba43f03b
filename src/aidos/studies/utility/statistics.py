"""How far a published histogram is from the true one: the statistics of Götz et al. (2012), figures 2 to 5.

Items are numbered by how many people have them, the most frequent first, so that the top j are the items below j. All
measures are plain functions of two arrays: the true numbers of people, and the published numbers with 0 for items that
were not published.

    coverage            of the j most frequent items, the share that was published
    l1                  mean over the top j of |p - q|, p and q being shares of the true and the published total
    kl                  the divergence, in nats, of the true shares within the top j from the published ones
    difference          mean |difference| of counts over all items of the log, once both totals are the same
    rms                 its root-mean-square
    total_variation     half the sum of |p - q| over all items

The paper does not say what becomes of an unpublished item in the divergence, which would be infinite: here it counts as
half a person. These are numbers about true data: findings, not for release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.errors import ParameterError

__all__ = ["Compared", "Measured", "count_distribution", "spacing"]

Floats = NDArray[np.float64]
HALF_A_PERSON = 0.5
GROWTH = 1.5
"""How much wider each range of counts is than the one before."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One number."""

    measure: str
    value: float
    top: int | None = None
    """Of the so many most frequent items; None where it is about all."""


class Compared:
    """A published histogram beside the true one; both by number of the item."""

    def __init__(self, true: ArrayLike, published: ArrayLike) -> None:
        """``true`` falls, and is above 0; ``published`` is 0 where nothing was published."""
        self.true, self.published = np.asarray(true, np.float64), np.asarray(published, np.float64)
        if self.true.shape != self.published.shape or self.true.ndim != 1 or not len(self.true):
            raise ParameterError("a comparison needs items, and two numbers for each")
        if (np.diff(self.true) > 0).any() or self.true[-1] <= 0:
            raise ParameterError("items are numbered by falling true counts, which are above 0")
        self._shares = self.true / self.true.sum()
        total = float(self.published.sum())
        self._published_shares = self.published / total if total > 0 else np.zeros_like(self.published)

    @property
    def distinct(self) -> int:
        """Items that were published."""
        return int(np.count_nonzero(self.published))

    @property
    def total(self) -> float:
        """The sum of published counts."""
        return float(self.published.sum())

    def coverage(self, top: int) -> float:
        """Of the top items, the share that was published."""
        return float(np.count_nonzero(self.published[:top])) / min(top, len(self.true))

    def l1(self, top: int) -> float:
        """Mean |p - q| over the top items."""
        return float(np.abs(self._shares[:top] - self._published_shares[:top]).mean())

    def kl(self, top: int) -> float:
        """The divergence of the true shares within the top items from the published ones."""
        true, published = self.true[:top], np.maximum(self.published[:top], HALF_A_PERSON)
        p, q = true / true.sum(), published / published.sum()
        return float(np.sum(p * np.log(p / q)))

    def scaled_differences(self) -> Floats:
        """True counts less published ones, with the published ones scaled so that both sums are the same."""
        found: Floats = self.true - self._published_shares * self.true.sum()
        return found

    def total_variation(self) -> float:
        """Half the sum of |p - q|, between 0 and 1; 1 where nothing was published."""
        return float(np.abs(self._shares - self._published_shares).sum()) / 2 if self.distinct else 1.0

    def measured(self, tops: Sequence[int], *, has_counts: bool) -> Iterator[Measured]:
        """Every measure; those of counts only where counts were published, and tops that there are."""
        yield Measured("distinct", float(self.distinct))
        fitting = [top for top in tops if top <= len(self.true)] or [len(self.true)]
        for top in fitting:
            yield Measured("coverage", self.coverage(top), top)
            yield Measured("missing", min(top, len(self.true)) * (1 - self.coverage(top)), top)
        if not has_counts:
            return
        yield Measured("total", self.total)
        yield Measured("total_variation", self.total_variation())
        if self.distinct:  # nothing cannot be scaled up to anything
            off = self.scaled_differences()
            yield Measured("difference", float(np.abs(off).mean()))
            yield Measured("rms", float(np.sqrt(np.mean(off**2))))
        for top in fitting:
            yield Measured("l1", self.l1(top), top)
            yield Measured("kl", self.kl(top), top)


def spacing(largest: int) -> NDArray[np.int64]:
    """The beginnings of ranges of counts, whole numbers that grow by half, from 1 to beyond the largest."""
    edges = [1]
    while edges[-1] <= largest:
        edges.append(max(edges[-1] + 1, int(edges[-1] * GROWTH)))
    return np.array(edges, np.int64)


def count_distribution(counts: ArrayLike) -> list[tuple[int, float]]:
    """How many items have each count: the beginning of each range, and items for each count in it.

    Ranges widen with the count, as on logarithmic axes every one should; those without items are left out.
    """
    positive = np.asarray(counts, np.float64)
    positive = positive[positive >= 1]
    if not len(positive):
        return []
    edges = spacing(int(positive.max()))
    found, _ = np.histogram(positive, bins=edges)
    return [
        (int(start), float(items) / float(width))
        for start, items, width in zip(edges[:-1], found, np.diff(edges), strict=True)
        if items
    ]
