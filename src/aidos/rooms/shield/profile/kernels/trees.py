"""Walks over trees in depth-first order, and the two numbers of a pruned seed: its discrimination and its risk.

A pruned seed is a row of flags, which topics are alive. Every topic has a mass (preference) and a rest (prior) of its
own; those of pruned topics count at the lowest living topic above them, which is all that pruning does to utility.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = ["SeedArrays", "SeedRisks", "content", "gather_paths", "measure_power", "measure_risk", "own_hosts"]
__all__ += ["spread_costs", "sum_upwards"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]


class SeedArrays(NamedTuple):
    """A seed profile, a row a topic, depth first."""

    parents: Ints
    sizes: Ints
    masses: Floats
    """Preference located at the topic itself: that of a leaf, and of what a session hid below an inner topic."""
    rests: Floats
    """Pr(t) less that of its children in the seed."""
    priors: Floats
    totals: Floats
    """Preference at and below the topic."""
    anchor: int
    """The lowest common ancestor of all preference."""


class SeedRisks(NamedTuple):
    """What the topics of a seed give away, in one of the two forms of risk."""

    costs: Floats
    """Risk of the topic when it is a leaf of what is shown."""
    hidden: Floats
    """What the topic adds to its parent's risk when it is hidden and the parent shown."""
    outside: Floats
    """What children add that are held but not in the seed."""
    fixed: Flags
    """Topics whose risk is their cost whatever is below."""
    paper: bool
    """Whether a topic without shown children has its cost instead of what hidden children add."""
    allowed: float
    """Risk of the root, at most."""


@njit(cache=True, nogil=True)
def sum_upwards(parents: Ints, values: Floats) -> Floats:
    """For every topic the sum of values at and below it."""
    total = values.copy()
    for place in range(len(parents) - 1, 0, -1):
        total[parents[place]] += total[place]
    return total


@njit(cache=True, nogil=True)
def spread_costs(parents: Ints, supports: Floats, weights: Floats) -> Floats:
    """cost(t) bottom-up: a sensitive topic's weight, elsewhere what its children cost by their share of it."""
    costs = np.zeros(len(parents))
    for place in range(len(parents) - 1, -1, -1):
        if weights[place] > 0:
            costs[place] = weights[place]
        if place > 0:
            costs[parents[place]] += costs[place] * supports[place] / supports[parents[place]]
    return costs


@njit(cache=True, nogil=True)
def gather_paths(parents: Ints, places: Ints) -> Ints:
    """These places and all above them, sorted."""
    kept = set()
    for at in range(len(places)):
        place = np.int64(places[at])
        while place >= 0 and place not in kept:
            kept.add(place)
            place = np.int64(parents[place])
    found = np.empty(len(kept), np.int32)
    for number, place in enumerate(kept):
        found[number] = place
    found.sort()
    return found


@njit(cache=True, nogil=True)
def content(mass: float, prior: float) -> float:
    """What an atom tells, dp = p ln(p / prior); nothing for no preference."""
    return mass * np.log(mass / prior) if mass > 0 else 0.0


@njit(cache=True, nogil=True)
def own_hosts(parents: Ints, alive: Flags) -> Ints:
    """For every topic the lowest living one at or above it; the root always lives."""
    hosts = np.zeros(len(parents), np.int32)
    for node in range(1, len(parents)):
        hosts[node] = node if alive[node] and hosts[parents[node]] == parents[node] else hosts[parents[node]]
    return hosts


@njit(cache=True, nogil=True)
def measure_power(seed: SeedArrays, alive: Flags) -> float:
    """PG + TS of a pruned seed."""
    hosts = own_hosts(seed.parents, alive)
    masses, rests = np.zeros(len(hosts)), np.zeros(len(hosts))
    for node in range(len(hosts)):
        masses[hosts[node]] += seed.masses[node]
        rests[hosts[node]] += seed.rests[node]
    gained: float = -np.log(seed.priors[hosts[seed.anchor]])
    for node in range(len(hosts)):
        gained += content(masses[node], rests[node])
    return gained


@njit(cache=True, nogil=True)
def measure_risk(parents: Ints, risks: SeedRisks, alive: Flags) -> Floats:
    """Risk(t) of every living topic; 0 for the others."""
    hosts = own_hosts(parents, alive)
    found = risks.outside.copy()
    shown = np.zeros(len(parents), np.int32)
    for node in range(len(parents) - 1, -1, -1):
        if hosts[node] != node:
            found[node] = 0.0
            if node > 0 and hosts[parents[node]] == parents[node]:
                found[parents[node]] += risks.hidden[node]
            continue
        if risks.fixed[node] or (risks.paper and shown[node] == 0):
            found[node] = risks.costs[node]
        if node > 0:
            found[parents[node]] += found[node]
            shown[parents[node]] += 1
    return found
