"""Pairs of rows of one member of which the targets say that one is more critical: what a pairwise ranker learns from.

A member with a million rows has more pairs than there is time for, and would drown out everybody else. So many are
drawn from each member, uniformly among the pairs whose targets differ; members with fewer give all they have. What is
drawn from one member depends on the seed and on her own rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pairs", "draw_pairs"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Pairs of rows, one at each place; those of one member stand together."""

    members: Longs
    """The place of the member among ``names``."""
    better: Longs
    """The row with the larger target."""
    worse: Longs
    """The other row."""
    names: Longs
    """The members that have pairs, rising."""

    def __len__(self) -> int:
        return len(self.better)


def draw_pairs(groups: Sequence[int] | Longs, targets: Floats, *, most: int, seed: int) -> Pairs:
    """At most so many pairs of each group; rows whose target is not known (NaN) are in none."""
    owners = np.asarray(groups, dtype=np.int64)
    known = np.flatnonzero(np.isfinite(targets))
    order = known[np.argsort(owners[known], kind="stable")]
    names, starts = np.unique(owners[order], return_index=True)
    kept, better, worse = [], [], []
    for name, rows in zip(names.tolist(), np.split(order, starts[1:]), strict=False):
        low, high = _draw(targets[rows], most, np.random.default_rng([seed, name & 0xFFFFFFFF]))
        if len(low):
            kept.append(name)
            better.append(rows[high])
            worse.append(rows[low])
    nothing = np.zeros(0, dtype=np.int64)
    return Pairs(
        members=np.repeat(np.arange(len(kept), dtype=np.int64), [len(rows) for rows in better]),
        better=np.concatenate([nothing, *better]),
        worse=np.concatenate([nothing, *worse]),
        names=np.array(kept, dtype=np.int64),
    )


def _draw(targets: Floats, most: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """Places with the smaller and with the larger target of each pair."""
    order = np.argsort(targets, kind="stable")
    values = targets[order]
    begin, end = np.searchsorted(values, values, side="left"), np.searchsorted(values, values, side="right")
    partners = len(values) - (end - begin)
    if int(partners.sum()) <= 2 * most:  # every pair is counted from both its sides
        low, high = np.triu_indices(len(values), k=1)
        differ = values[low] < values[high]
        return order[low[differ]], order[high[differ]]
    # Uniform over the pairs that differ: a row by how many partners it has, then one of those.
    bounds = np.cumsum(partners)
    drawn = rng.integers(bounds[-1], size=4 * most)
    one = np.searchsorted(bounds, drawn, side="right")
    other = drawn - (bounds[one] - partners[one])
    other += np.where(other >= begin[one], (end - begin)[one], 0)
    low, high = np.minimum(one, other), np.maximum(one, other)
    _, first = np.unique(low * len(values) + high, return_index=True)
    chosen = np.sort(first)[:most]
    return order[low[chosen]], order[high[chosen]]
