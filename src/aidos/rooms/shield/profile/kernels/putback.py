"""Putting back: after pruning, hidden topics return as leaves where the risk allows it, the most telling first.

A topic that tells nothing by itself may open the way to one below it that does, so it returns as well, last of all.
Sensitive parts that have told nothing in the end are hidden again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.profile.kernels.greedy import FLAT, State
from aidos.rooms.shield.profile.kernels.trees import SeedArrays, SeedRisks, content

__all__ = ["put_back"]

Ints = NDArray[np.int32]


@njit(cache=True, nogil=True)
def rise_of(node: int, seed: SeedArrays, risks: SeedRisks, state: State) -> float:
    """How much risk showing a hidden topic as a leaf adds."""
    rise: float = risks.costs[node] - risks.hidden[node]
    if risks.paper and state.shown[seed.parents[node]] == 0:
        rise -= risks.costs[seed.parents[node]]
    return rise


@njit(cache=True, nogil=True)
def left_at(node: int, seed: SeedArrays, state: State) -> tuple[float, float]:
    """Mass and rest of the parent once a hidden topic returns; exact where it is the last to return."""
    parent = seed.parents[node]
    if state.shown[parent] + 1 == state.children[parent]:
        return seed.masses[parent], seed.rests[parent]
    return state.masses[parent] - seed.totals[node], state.rests[parent] - seed.priors[node]


@njit(cache=True, nogil=True)
def gain_of(node: int, seed: SeedArrays, state: State) -> float:
    """How much of PG showing a hidden topic as a leaf brings back."""
    parent = seed.parents[node]
    mass, rest = left_at(node, seed, state)
    return (
        content(seed.totals[node], seed.priors[node])
        + content(mass, rest)
        - content(state.masses[parent], state.rests[parent])
    )


@njit(cache=True, nogil=True)
def show(node: int, seed: SeedArrays, risks: SeedRisks, state: State) -> None:
    """Show a hidden topic as a leaf."""
    parent, rise = seed.parents[node], rise_of(node, seed, risks, state)
    state.masses[parent], state.rests[parent] = left_at(node, seed, state)
    state.masses[node], state.rests[node] = seed.totals[node], seed.priors[node]
    state.alive[node] = True
    state.shown[parent] += 1
    state.shown[node] = 0
    state.risk[0] += rise


@njit(cache=True, nogil=True)
def show_free(first: int, end: int, seed: SeedArrays, risks: SeedRisks, state: State) -> int:
    """Show whatever adds no risk; parents come before children, so that one pass does. How many there were."""
    done = 0
    for node in range(first, end):
        if (
            not state.alive[node]
            and state.alive[seed.parents[node]]
            and rise_of(node, seed, risks, state) <= FLAT * risks.costs[0]
        ):
            show(node, seed, risks, state)
            done += 1
    return done


@njit(cache=True, nogil=True)
def hide_silent(risky: Ints, seed: SeedArrays, risks: SeedRisks, state: State) -> int:
    """Hide leaves of sensitive parts that tell nothing beyond their parent; how many there were."""
    done = 0
    for node in risky[::-1]:
        if not state.alive[node] or state.shown[node] > 0:
            continue
        parent = seed.parents[node]
        mass, rest = state.masses[parent] + seed.totals[node], state.rests[parent] + seed.priors[node]
        lost = content(seed.totals[node], seed.priors[node]) - content(mass, rest)
        state.shown[parent] -= 1
        drop = rise_of(node, seed, risks, state)
        if (
            lost + content(state.masses[parent], state.rests[parent]) <= FLAT
            and drop >= -FLAT
            and not state.on_way[node]
        ):
            state.alive[node] = False
            state.masses[parent], state.rests[parent] = mass, rest
            state.risk[0] -= drop
            done += 1
        else:
            state.shown[parent] += 1
    return done


@njit(cache=True, nogil=True)
def put_back(seed: SeedArrays, risks: SeedRisks, state: State, risky: Ints) -> int:
    """Show hidden topics until none fits; how many there were. Of the risks only the root's is kept up."""
    if state.alive.all() or state.risk[0] > risks.allowed:
        return 0
    done = show_free(1, len(seed.parents), seed, risks, state)
    # What a return brings changes with the parent's shown children alone, so it is worked out once for each number.
    brought, worked_out = np.zeros(len(seed.parents)), np.full(len(seed.parents), -1, np.int32)
    while True:
        best, most = -1, -np.inf
        for node in risky:
            parent = seed.parents[node]
            if (
                not state.alive[node]
                and state.alive[parent]
                and state.risk[0] + rise_of(node, seed, risks, state) <= risks.allowed
            ):
                if worked_out[node] != state.shown[parent]:
                    brought[node], worked_out[node] = gain_of(node, seed, state), state.shown[parent]
                if brought[node] > most + FLAT:
                    best, most = int(node), brought[node]
        if best < 0:
            return done + hide_silent(risky, seed, risks, state)
        show(best, seed, risks, state)
        done += 1 + show_free(best + 1, best + seed.sizes[best], seed, risks, state)
