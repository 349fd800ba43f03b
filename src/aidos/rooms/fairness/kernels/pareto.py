"""The exact search: fill all positions at the least cost within a limit on a second quantity.

Candidates are taken one after the other; each makes one of its moves or none. A label is a set of open positions with
the cost and the burden so far. Of two labels with the same open positions the one that is no better in both is dropped
(Pareto), and so is a label that cannot be completed within the limit or below the best answer known. What a completion
costs at least is read from tables of the relaxed problem, in which the burden has a price (Lagrangian relaxation); the
relaxation alone would miss the optimum in most cases, as a bound it leaves few labels.

Among answers of equal cost the one with the least burden wins, then the one found first, which depends on the order of
the candidates alone. Equal means within a part in 10^11 of the largest cost of a single move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aidos.errors import MissingExtraError

__all__ = ["GAVE_UP", "NO_ANSWER", "Bounds", "Labels", "Moves", "cheapest_moves", "njit", "sort_by"]

try:
    from numba import njit
except ImportError as error:
    raise MissingExtraError("the fair re-ranker", extra="fairness") from error


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def sort_by(members: Ints, values: Floats, begin: int, end: int, spare: Ints) -> None:
    """Put ``members[begin:end]`` in the order of ``values[member]``, equal ones as they stand; ``spare`` is as long."""
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            left, right = low, middle
            for at in range(low, high):
                if left < middle and (right >= high or values[members[left]] <= values[members[right]]):
                    spare[at] = members[left]
                    left += 1
                else:
                    spare[at] = members[right]
                    right += 1
        for at in range(begin, end):
            members[at] = spare[at]
        width *= 2


TOLERANCE = 1e-11
FIRST_WINDOW = 1.0 / 4.0
"""The search begins with answers this close to the bound, as a part of the known gap, then doubles the distance."""
NO_ANSWER = -1
GAVE_UP = -2


# Compiled code that is kept on disk remembers these classes by name: under another name, what an older version left
# there could not be read.


class Moves(NamedTuple):
    """What can be done: sets of positions as bits, cost, burden, and where each candidate's moves begin."""

    masks: Ints
    costs: Floats
    burdens: Floats
    first: Ints


class Bounds(NamedTuple):
    """Least costs to complete an answer, by cost alone, by burden alone and by both; and what is asked for."""

    by_cost: Floats
    by_burden: Floats
    by_both: Floats
    price: float
    limit: float
    window: float


class Labels(NamedTuple):
    """Partial answers: open positions, cost and burden so far, the label and the move that led here."""

    opens: Ints
    cost: Floats
    burden: Floats
    parents: Ints
    moves: Ints


@njit(cache=True)
def cheapest_moves(moves: Moves, limit: float, positions: int, most_labels: int) -> Ints:
    """The moves of the best answer; [NO_ANSWER] when the limit is out of reach, [GAVE_UP] after too many labels."""
    by_cost = _completions(moves, moves.costs, positions)
    by_burden = _completions(moves, moves.burdens, positions)
    everything = (1 << positions) - 1
    if by_burden[0, everything] > limit + TOLERANCE:
        return np.array([NO_ANSWER])
    price, known = _best_price(moves, limit, by_cost, by_burden)
    by_both = _completions(moves, moves.costs + price * moves.burdens, positions)
    bound = by_both[0, everything] - price * limit
    window = known if price == 0.0 else bound + (known - bound) * FIRST_WINDOW
    while True:
        bounds = Bounds(by_cost, by_burden, by_both, price, limit, window)
        useful = _useful(moves, bounds)
        fewer = _only(moves, useful)
        tables = Bounds(
            _completions(fewer, fewer.costs, positions),
            _completions(fewer, fewer.burdens, positions),
            _completions(fewer, fewer.costs + price * fewer.burdens, positions),
            price,
            limit,
            window,
        )
        found = _search(fewer, tables, most_labels)
        if found[0] >= 0:
            return useful[found]
        if found[0] == GAVE_UP or window >= known:
            return found
        window = min(bound + (window - bound) * 2.0 + TOLERANCE, known)


@njit(cache=True)
def _useful(moves: Moves, bounds: Bounds) -> Ints:
    """Moves that some answer within the window makes, as far as the relaxed problem can tell."""
    sets = bounds.by_both.shape[1]
    reached = np.full(sets, np.inf)
    reached[sets - 1] = 0.0
    most = bounds.window + bounds.price * bounds.limit + TOLERANCE * (1.0 + bounds.price)
    kept = np.empty(moves.masks.size, dtype=np.int64)
    number = 0
    for candidate in range(moves.first.size - 1):
        after = bounds.by_both[candidate + 1]
        further = reached.copy()
        for move in range(moves.first[candidate], moves.first[candidate + 1]):
            mask = moves.masks[move]
            mixed = moves.costs[move] + bounds.price * moves.burdens[move]
            least = np.inf
            for still_open in range(sets):
                if mask & still_open == mask and reached[still_open] < np.inf:
                    cost = reached[still_open] + mixed
                    rest = still_open ^ mask
                    least = min(least, cost + after[rest])
                    further[rest] = min(further[rest], cost)
            if least <= most:
                kept[number] = move
                number += 1
        reached = further
    return kept[:number].copy()


@njit(cache=True)
def _only(moves: Moves, kept: Ints) -> Moves:
    """These moves alone; candidates that have none of them are left out."""
    first = np.zeros(moves.first.size, dtype=np.int64)
    candidates = at = 0
    for candidate in range(moves.first.size - 1):
        before = at
        while at < kept.size and kept[at] < moves.first[candidate + 1]:
            at += 1
        if at > before:
            candidates += 1
            first[candidates] = at
    return Moves(moves.masks[kept], moves.costs[kept], moves.burdens[kept], first[: candidates + 1].copy())


@njit(cache=True)
def _completions(moves: Moves, costs: Floats, positions: int) -> Floats:
    """Least cost to fill each set of open positions with the candidates from each one on."""
    number = moves.first.size - 1
    least = np.full((number + 1, 1 << positions), np.inf)
    least[number, 0] = 0.0
    for candidate in range(number - 1, -1, -1):
        for still_open in range(1 << positions):
            best = least[candidate + 1, still_open]
            for move in range(moves.first[candidate], moves.first[candidate + 1]):
                mask = moves.masks[move]
                if mask & still_open == mask:
                    best = min(best, costs[move] + least[candidate + 1, still_open ^ mask])
            least[candidate, still_open] = best
    return least


@njit(cache=True)
def _follow(least: Floats, moves: Moves, costs: Floats) -> tuple[float, float]:
    """Cost and burden of the answer that a table of completions at these costs describes."""
    still_open = least.shape[1] - 1
    cost = burden = 0.0
    for candidate in range(moves.first.size - 1):
        best = least[candidate, still_open]
        if least[candidate + 1, still_open] <= best:
            continue
        for move in range(moves.first[candidate], moves.first[candidate + 1]):
            mask = moves.masks[move]
            if mask & still_open == mask and costs[move] + least[candidate + 1, still_open ^ mask] <= best:
                cost += moves.costs[move]
                burden += moves.burdens[move]
                still_open ^= mask
                break
    return cost, burden


@njit(cache=True)
def _best_price(moves: Moves, limit: float, by_cost: Floats, by_burden: Floats) -> tuple[float, float]:
    """The price of burden that bounds best, and the cost of the best answer met on the way."""
    cost_over, burden_over = _follow(by_cost, moves, moves.costs)
    if burden_over <= limit + TOLERANCE:
        return 0.0, cost_over
    cost_within, burden_within = _follow(by_burden, moves, moves.burdens)
    positions = 0
    while 1 << positions < by_cost.shape[1]:
        positions += 1
    price, known = 0.0, cost_within
    for _ in range(30):
        if burden_over - burden_within < 1e-15:
            break
        # Where the two answers cost the same: either nothing is below that line, or a better answer is.
        price = max((cost_within - cost_over) / (burden_over - burden_within), 0.0)
        mixed = moves.costs + price * moves.burdens
        cost, burden = _follow(_completions(moves, mixed, positions), moves, mixed)
        if cost + price * burden >= cost_over + price * burden_over - 1e-13:
            break
        if burden <= limit + TOLERANCE:
            cost_within, burden_within = cost, burden
            known = min(known, cost)
        else:
            cost_over, burden_over = cost, burden
    return price, known


@njit(cache=True)
def _search(moves: Moves, bounds: Bounds, most_labels: int) -> Ints:
    """All labels that can still end within the limit and the window; then the best complete one."""
    labels = _room_for(1024)
    labels.opens[0], labels.parents[0], labels.moves[0] = bounds.by_cost.shape[1] - 1, -1, -1
    labels.cost[0], labels.burden[0] = 0.0, 0.0
    number = 1
    live = np.zeros(1, dtype=np.int64)
    for candidate in range(moves.first.size - 1):
        most = number + live.size * (moves.first[candidate + 1] - moves.first[candidate])
        if most > labels.opens.size:
            if most > most_labels:
                return np.array([GAVE_UP])
            longer = _room_for(2 * most)
            _copy(labels, longer, number)
            labels = longer
        reached, number = _reach(candidate, moves, bounds, labels, live, number)
        live = _not_dominated(reached, labels, bounds.by_cost.shape[1])
    return _trace(live, labels)


@njit(cache=True)
def _room_for(number: int) -> Labels:
    return Labels(
        np.empty(number, np.int64),
        np.empty(number),
        np.empty(number),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
    )


@njit(cache=True)
def _copy(labels: Labels, longer: Labels, number: int) -> None:
    for label in range(number):
        longer.opens[label], longer.parents[label], longer.moves[label] = (
            labels.opens[label],
            labels.parents[label],
            labels.moves[label],
        )
        longer.cost[label], longer.burden[label] = labels.cost[label], labels.burden[label]


@njit(cache=True)
def _reach(candidate: int, moves: Moves, bounds: Bounds, labels: Labels, live: Ints, number: int) -> tuple[Ints, int]:
    """Labels after one more candidate, who makes one of her moves or none, and how many labels there are then."""
    begin, end = moves.first[candidate], moves.first[candidate + 1]
    by_cost, by_burden = bounds.by_cost[candidate + 1], bounds.by_burden[candidate + 1]
    by_both = bounds.by_both[candidate + 1]
    most_cost, most_burden = bounds.window + TOLERANCE, bounds.limit + TOLERANCE
    # A burden that is over the limit by the tolerance is let pass; at the price of burden that can be a lot.
    most_both = bounds.window + bounds.price * bounds.limit + TOLERANCE * (1.0 + bounds.price)
    reached = np.empty(live.size * (1 + end - begin), dtype=np.int64)
    count = 0
    for label in live:
        for move in range(begin - 1, end):
            mask, cost, burden = 0, labels.cost[label], labels.burden[label]
            if move >= begin:
                mask = moves.masks[move]
                cost += moves.costs[move]
                burden += moves.burdens[move]
            if mask & labels.opens[label] != mask:
                continue
            rest = labels.opens[label] ^ mask
            if cost + by_cost[rest] > most_cost or burden + by_burden[rest] > most_burden:
                continue
            if cost + bounds.price * burden + by_both[rest] > most_both:
                continue
            reached[count] = label
            if move >= begin:
                labels.opens[number], labels.cost[number], labels.burden[number] = rest, cost, burden
                labels.parents[number], labels.moves[number] = label, move
                reached[count] = number
                number += 1
            count += 1
    return reached[:count], number


@njit(cache=True)
def _not_dominated(reached: Ints, labels: Labels, sets: int) -> Ints:
    """Labels that no other label with the same open positions beats in both numbers."""
    starts = np.zeros(sets + 1, dtype=np.int64)
    for label in reached:
        starts[labels.opens[label] + 1] += 1
    for still_open in range(sets):
        starts[still_open + 1] += starts[still_open]
    grouped, ends = np.empty_like(reached), starts.copy()
    for label in reached:
        grouped[ends[labels.opens[label]]] = label
        ends[labels.opens[label]] += 1
    kept, spare = np.empty_like(reached), np.empty_like(reached)
    number = 0
    for still_open in range(sets):
        sort_by(grouped, labels.cost, starts[still_open], starts[still_open + 1], spare)
        least = np.inf
        for at in range(starts[still_open], starts[still_open + 1]):
            label = grouped[at]
            if labels.burden[label] < least:
                least = labels.burden[label]
                kept[number] = label
                number += 1
    return kept[:number].copy()


@njit(cache=True)
def _trace(live: Ints, labels: Labels) -> Ints:
    """The moves that led to the best complete label."""
    best = -1
    for label in live:
        if labels.opens[label] == 0:
            difference = 0.0 if best < 0 else labels.cost[label] - labels.cost[best]
            better = difference <= TOLERANCE and (best < 0 or labels.burden[label] < labels.burden[best])
            if best < 0 or difference < -TOLERANCE or better:
                best = label
    if best < 0:
        return np.array([NO_ANSWER])
    chosen = np.empty(labels.opens[0] + 1, dtype=np.int64)
    number = 0
    while labels.parents[best] >= 0:
        chosen[number] = labels.moves[best]
        number += 1
        best = labels.parents[best]
    return chosen[:number].copy()
