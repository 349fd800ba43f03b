"""Greedy pruning: whole subtrees by the ratio of risk and power, or leaves one by one (GreedyIL).

The ratio greedy prunes subtrees by the risk they take away for the power they cost. A prune changes the loss of its
siblings and of what is above it, and drops of risk above it alone; all other numbers stay. Choosing is one pass over
the topics that give something away, which is quicker than a heap on seeds of thousands: what is still needed changes
with every prune, and with it every rank in a heap.

GreedyIL prunes leaf by leaf, the least loss of information first. A prune changes the losses of its siblings and no
others, or makes the parent a leaf. So the heap holds families, each by its best leaf: a prune costs one pass over the
siblings and one push. Entries carry the version of their family, and those of older versions are passed over.

Putting back: after pruning, hidden topics return as leaves where the risk allows it, the most telling first. A topic
that tells nothing by itself may open the way to one below it that does, so it returns as well, last of all. Sensitive
parts that have told nothing in the end are hidden again.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit
from aidos.rooms.shield.profile.kernels.trees import SeedArrays, SeedRisks, content, measure_risk

__all__ = ["GRID", "State", "cut", "cut_all", "prune_by_loss", "prune_by_ratio", "put_back", "risky_rows", "start"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
LEAST = 1e-15
"""Losses are not taken for less, so that a ratio is a number."""
FLAT = 1e-12
"""Changes of risk below this are rounding."""


class State(NamedTuple):
    """A seed while it is pruned."""

    alive: Flags
    masses: Floats
    rests: Floats
    gains: Floats
    """PG of the atoms at and below each topic."""
    risk: Floats
    shown: Ints
    """Children shown."""
    children: Ints
    """Children in the seed."""
    on_way: Flags
    """Whether the topic is on the way from the root to the anchor, so that pruning it changes TS."""


@njit(cache=True, nogil=True)
def start(seed: SeedArrays, risks: SeedRisks) -> State:
    """Nothing pruned."""
    size = len(seed.parents)
    alive = np.ones(size, np.bool_)
    gains, shown = np.zeros(size), np.zeros(size, np.int32)
    on_way = np.zeros(size, np.bool_)
    for node in range(size - 1, -1, -1):
        gains[node] += content(seed.masses[node], seed.rests[node])
        if node > 0:
            gains[seed.parents[node]] += gains[node]
            shown[seed.parents[node]] += 1
    above = seed.anchor
    while above >= 0:
        on_way[above] = True
        above = int(seed.parents[above])
    risk = measure_risk(seed.parents, risks, alive)
    return State(alive, seed.masses.copy(), seed.rests.copy(), gains, risk, shown, shown.copy(), on_way)


@njit(cache=True, nogil=True)
def drop_of(node: int, seed: SeedArrays, risks: SeedRisks, state: State) -> float:
    """How much risk pruning a topic takes away."""
    drop: float = state.risk[node] - risks.hidden[node]
    if risks.paper and state.shown[seed.parents[node]] == 1:
        drop -= risks.costs[seed.parents[node]]
    return drop


@njit(cache=True, nogil=True)
def merge_loss(node: int, seed: SeedArrays, state: State) -> float:
    """How much of PG pruning a topic loses."""
    parent = seed.parents[node]
    loss: float = (
        state.gains[node]
        + content(state.masses[parent], state.rests[parent])
        - content(state.masses[parent] + seed.totals[node], state.rests[parent] + seed.priors[node])
    )
    return loss


@njit(cache=True, nogil=True)
def whole_loss(node: int, seed: SeedArrays, state: State) -> float:
    """How much of PG + TS pruning a topic loses."""
    loss = merge_loss(node, seed, state)
    if state.on_way[node]:
        lowest = seed.anchor
        while not state.alive[lowest]:
            lowest = int(seed.parents[lowest])
        loss += np.log(seed.priors[seed.parents[node]] / seed.priors[lowest])
    return max(loss, LEAST)


@njit(cache=True, nogil=True)
def cut(node: int, seed: SeedArrays, risks: SeedRisks, state: State) -> None:
    """Prune a topic with all below it."""
    parent = seed.parents[node]
    drop, loss = drop_of(node, seed, risks, state), merge_loss(node, seed, state)
    state.alive[node : node + seed.sizes[node]] = False
    state.masses[parent] += seed.totals[node]
    state.rests[parent] += seed.priors[node]
    state.shown[parent] -= 1
    above = parent
    while above >= 0:
        state.gains[above] -= loss
        state.risk[above] -= drop
        above = seed.parents[above]


@njit(cache=True, nogil=True)
def risky_rows(seed: SeedArrays, risks: SeedRisks, state: State) -> Ints:
    """Topics that pruning takes risk away from, before anything is pruned; no others ever do."""
    least = FLAT * (1.0 + risks.costs[0])
    found, number = np.empty(len(seed.parents), np.int32), 0
    for node in range(1, len(seed.parents)):
        if state.risk[node] - risks.hidden[node] > least:
            found[number] = node
            number += 1
    return found[:number].copy()


@njit(cache=True, nogil=True)
def weigh(node: int, seed: SeedArrays, risks: SeedRisks, state: State, drops: Floats, losses: Floats) -> None:
    """Work out drop and loss of a topic."""
    drops[node] = drop_of(node, seed, risks, state)
    losses[node] = whole_loss(node, seed, state)


@njit(cache=True, nogil=True)
def choose(risky: Ints, state: State, drops: Floats, losses: Floats, needed: float, least: float) -> int:
    """The topic with the largest min(drop, needed) / loss; -1 where none takes risk away."""
    best, most = -1, 0.0
    for node in risky:
        if state.alive[node] and drops[node] > least and min(drops[node], needed) > most * losses[node]:
            best, most = int(node), min(drops[node], needed) / losses[node]
    return best


@njit(cache=True, nogil=True)
def prune_by_ratio(seed: SeedArrays, risks: SeedRisks, state: State, risky: Ints) -> int:
    """Prune until the risk is allowed; how many prunes it took."""
    drops, losses = np.zeros(len(seed.parents)), np.zeros(len(seed.parents))
    least, taken = FLAT * (1.0 + risks.costs[0]), 0
    for node in risky:
        weigh(node, seed, risks, state, drops, losses)
    while state.risk[0] > risks.allowed:
        node = choose(risky, state, drops, losses, state.risk[0] - risks.allowed, least)
        if node < 0:
            # Only in the paper's form of risk: nothing takes risk away any more, and the root is the last resort.
            return taken + cut_all(seed, risks, state)
        cut(node, seed, risks, state)
        taken += 1
        parent = int(seed.parents[node])
        sibling = parent + 1
        while sibling < parent + seed.sizes[parent]:
            if state.alive[sibling] and drops[sibling] > 0.0:
                weigh(sibling, seed, risks, state, drops, losses)
            sibling += seed.sizes[sibling]
        while parent > 0:
            weigh(parent, seed, risks, state, drops, losses)
            parent = int(seed.parents[parent])
    return taken


@njit(cache=True, nogil=True)
def cut_all(seed: SeedArrays, risks: SeedRisks, state: State) -> int:
    """Prune everything but the root; how many prunes it took."""
    taken, child = 0, 1
    while child < len(seed.parents):
        if state.alive[child]:
            cut(child, seed, risks, state)
            taken += 1
        child += seed.sizes[child]
    return taken


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
