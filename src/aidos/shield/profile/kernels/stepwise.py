"""GreedyIL: leaves pruned one by one, the least loss of information first.

A prune changes the losses of its siblings and no others, or makes the parent a leaf. So the heap holds families, each
by its best leaf: a prune costs one pass over the siblings and one push. Entries carry the version of their family, and
those of older versions are passed over.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.shield.profile.kernels.trees import SeedArrays, SeedRisks, content, measure_risk

__all__ = ["GRID", "prune_by_loss"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

GRID = 1e12
"""Losses are compared to so many parts of 1, so that rounding decides no tie."""


@njit(cache=True, nogil=True)
def _best_leaf(
    parent: int,
    seed: SeedArrays,
    risks: SeedRisks,
    masses: Floats,
    rests: Floats,
    shown: Ints,
    alive: Flags,
) -> tuple[float, float, int]:
    """The child to prune first among those that are leaves: least loss on the grid, then the largest drop of risk."""
    best, least, most = -1, np.inf, -np.inf
    shadow = content(masses[parent], rests[parent])
    child, end = parent + 1, parent + seed.sizes[parent]
    while child < end:
        if alive[child] and shown[child] == 0:
            loss = content(masses[child], rests[child]) + shadow
            loss -= content(masses[parent] + masses[child], rests[parent] + rests[child])
            loss = np.rint(loss * GRID)
            drop = risks.costs[child] - risks.hidden[child]
            if loss < least or (loss == least and drop > most):
                best, least, most = child, loss, drop
        child += seed.sizes[child]
    if risks.paper and shown[parent] == 1:
        most -= risks.costs[parent]
    return least, most, best


@njit(cache=True, nogil=True)
def prune_by_loss(seed: SeedArrays, risks: SeedRisks) -> Ints:
    """The leaves pruned, in order, until the risk is allowed or only the root is left."""
    size = len(seed.parents)
    masses, rests = seed.masses.copy(), seed.rests.copy()
    shown, versions = np.zeros(size, np.int32), np.zeros(size, np.int64)
    alive = np.ones(size, np.bool_)
    risk = measure_risk(seed.parents, risks, alive)[0]
    for node in range(1, size):
        shown[seed.parents[node]] += 1
    heap = [(0.0, 0.0, 0, 0, 0) for _ in range(0)]  # An empty list of this type.
    for node in range(size):
        loss, drop, leaf = _best_leaf(node, seed, risks, masses, rests, shown, alive)
        if leaf >= 0:
            heapq.heappush(heap, (loss, -drop, leaf, node, 0))
    steps, taken = np.empty(size, np.int32), 0
    while risk > risks.allowed and len(heap) > 0:
        _, rise, leaf, parent, version = heapq.heappop(heap)
        if version != versions[parent]:
            continue
        alive[leaf] = False
        steps[taken] = leaf
        taken += 1
        risk += rise
        masses[parent] += masses[leaf]
        rests[parent] += rests[leaf]
        shown[parent] -= 1
        versions[parent] += 1
        # Without children the parent is a leaf itself, and its own family has one more.
        family = parent if shown[parent] > 0 else int(seed.parents[parent])
        if family >= 0:
            versions[family] += 1
            loss, drop, leaf = _best_leaf(family, seed, risks, masses, rests, shown, alive)
            if leaf >= 0:
                heapq.heappush(heap, (loss, -drop, leaf, family, int(versions[family])))
    return steps[:taken].copy()
