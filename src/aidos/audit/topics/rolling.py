"""Rare topics become part of the topic above them, so that topics are as fine as the data allow.

A weight can be learned only for a topic that sets results of one list apart. Topics that do so in too few lists are
rolled up: what is about them counts for their parent, from the lowest topics upwards. Too few are fewer than 5, or than
the root of the number of lists: the more topics, the larger a weight must be to stand out among them. Right below the
root of the tree there is nowhere to go, for to be about everything says nothing: a topic there stays, however rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from aidos.audit.kernels import count_apart
from aidos.core.topictree import TopicTree

__all__ = ["LEAST_LISTS", "merge_rows", "roll_up"]

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Places = NDArray[np.int32]

LEAST_LISTS = 5
"""Lists in which a topic must set results apart, however few there are."""


def roll_up(tree: TopicTree, rows: tuple[Longs, Places, Floats], lists: Sequence[Sequence[int]]) -> Places:
    """For every topic of the tree, the topic that stands for it: itself or the nearest above that is not too rare.

    ``rows`` has the topics of each item: starts, places and shares.
    """
    least = max(LEAST_LISTS, sqrt(len(lists)))
    stands = np.arange(len(tree), dtype=np.int32)
    depths = _depths(tree)
    list_starts = np.concatenate([[0], np.cumsum([len(items) for items in lists])]).astype(np.int64)
    members = np.array([item for items in lists for item in items], dtype=np.int64)
    starts, places, shares = rows
    for depth in range(int(depths.max(initial=0)), 1, -1):
        merged = merge_rows(starts, stands[places], shares, len(tree))
        apart = np.zeros(len(tree), dtype=np.int64)
        count_apart(list_starts, members, *merged, apart)
        rare = (depths == depth) & (apart < least)
        stands = np.where(rare[stands], tree.parents[stands], stands)
    return stands


def merge_rows(starts: Longs, places: Places, shares: Floats, width: int) -> tuple[Longs, Places, Floats]:
    """The same rows where each place stands once, with the sum of its shares; places below 0 are left out."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    known = places >= 0
    keys, where = np.unique(rows[known] * width + places[known], return_inverse=True)
    sums = np.bincount(where, weights=shares[known], minlength=len(keys)).astype(np.float64)
    counts = np.bincount(keys // width, minlength=len(starts) - 1)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), (keys % width).astype(np.int32), sums


def _depths(tree: TopicTree) -> Longs:
    found = np.zeros(len(tree), dtype=np.int64)
    for place in range(1, len(tree)):
        found[place] = found[tree.parents[place]] + 1
    return found
