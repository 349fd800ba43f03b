"""What LTP is to beat: rank shift, the model without the switch, and a regression for each topic.

Rank shift of topic k is the sum over queries and items of (vanilla rank - personalised rank) (theta_dk - mean of the
list): how far items of the topic rose. Since the shifts of a list sum to 0, the mean of the list drops out. On data
where most lists are personalised it is nearly as good as LTP, and it costs one pass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.inference import LearningSettings, infer_profile
from aidos.rooms.audit.kernels import topic_shifts

__all__ = ["rank_shift", "regress_topics", "shifts_by_query", "weights_without_switch", "within_list_squares"]

Floats = NDArray[np.float64]
CERTAIN = 1e9
"""Personalised queries in the prior of the rate that leave the switch no doubt."""


def shifts_by_query(pairs: PairArrays) -> Floats:
    """How far items of each topic rose in each query: queries by topics."""
    found = np.empty((len(pairs), pairs.topic_count))
    moves = (pairs.ranks - pairs.positions).astype(np.float64)
    maps = pairs.maps
    topic_shifts(pairs.starts, pairs.items, moves, maps.starts, maps.topics, maps.shares, found)
    return found


def within_list_squares(pairs: PairArrays) -> Floats:
    """Sum over queries and items of (theta_dk - mean of the list)^2, for each topic."""
    maps, ones = pairs.maps, np.ones(len(pairs.items))
    totals = np.empty((len(pairs), pairs.topic_count))
    topic_shifts(pairs.starts, pairs.items, ones, maps.starts, maps.topics, maps.shares, totals)
    squares = np.bincount(
        maps.topics,
        weights=np.repeat(np.bincount(pairs.items, minlength=len(maps)), np.diff(maps.starts)) * maps.shares**2.0,
        minlength=pairs.topic_count,
    )
    found: Floats = squares - (totals**2 / np.maximum(pairs.lengths, 1)[:, None]).sum(axis=0)
    return np.maximum(found, 0.0)


def rank_shift(pairs: PairArrays) -> Floats:
    """Rank shift of each topic over the root of its variation within lists; 0 where it has none."""
    variation = np.sqrt(within_list_squares(pairs))
    shifts: Floats = shifts_by_query(pairs).sum(axis=0)
    return np.divide(shifts, variation, out=np.zeros_like(shifts), where=variation > 1e-9)


def regress_topics(pairs: PairArrays) -> Floats:
    """For each topic alone, ranks gained for one more unit of it within a list, by least squares."""
    variation = within_list_squares(pairs)
    shifts: Floats = shifts_by_query(pairs).sum(axis=0)
    return np.divide(shifts, variation, out=np.zeros_like(shifts), where=variation > 1e-9)


def weights_without_switch(pairs: PairArrays, settings: LearningSettings | None = None) -> Floats:
    """Weights of the model where every query is personalised (rho = 1)."""
    certain = replace(settings or LearningSettings(), personalised_before=CERTAIN, vanilla_before=1 / CERTAIN)
    return infer_profile(pairs, certain).weights
