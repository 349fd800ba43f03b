"""The best single ranking, exactly: least unfairness at a quality floor, or best quality at an unfairness ceiling.

The thesis hands an n x n integer program to a solver and, to keep it tractable, looks at 100 candidates. Here the
structure does the work. One position with attention: a walk over the subjects. A few: dominance leaves the subjects
that can matter (`kernels.skyband`), a search with bounds finds the best answer among them (`kernels.pareto`). Many:
dominance, then HiGHS. All three give an optimum over all subjects; nobody is filtered away.

Best in one step is not best over time; which cost is charged decides that (`kernels.potential`, `equity`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aidos.fairness.kernels.moves import moves_of_accounts, moves_of_subjects
from aidos.fairness.kernels.pareto import GAVE_UP, NO_ANSWER, Moves, cheapest_moves
from aidos.fairness.kernels.scan import scan
from aidos.fairness.kernels.skyband import skyband
from aidos.fairness.program import best_by_program
from aidos.fairness.rankings import Floats, Ints
from aidos.fairness.standing import Standing, discounts

__all__ = [
    "MOST_POSITIONS",
    "MOST_POSITIONS_FOR_ACTORS",
    "MOST_POSITIONS_FOR_SEARCH",
    "best_quality",
    "cheapest",
    "least_cost",
    "warm_up",
]

MOST_POSITIONS = 62
"""Positions are the bits of a number; long before that the integer program takes minutes."""

MOST_POSITIONS_FOR_SEARCH = 12
"""With more positions than that the search has too many sets of positions, and the integer program wins."""
MOST_POSITIONS_FOR_ACTORS = 8
"""The same where subjects share accounts: an account has a move for every set of positions."""
MOST_LABELS = 16_000_000
"""The search hands over to the integer program after so many."""
SLACK = 1e-12
"""Relative slack of the floor, so that the original ranking always meets it."""
NOBODY_SHARES: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Who is left, by account, and what they can do."""

    candidates: Ints
    begins: Ints
    """Where each account's candidates begin."""
    moves: Moves

    def place(self, chosen: Ints, positions: int) -> Ints:
        """The subject on each position."""
        placed = np.empty(positions, dtype=np.int64)
        for move, account in zip(chosen, np.searchsorted(self.moves.first, chosen, side="right") - 1, strict=True):
            taken = np.flatnonzero(int(self.moves.masks[move]) >> np.arange(positions) & 1)
            placed[taken] = self.candidates[self.begins[account] + np.arange(len(taken))]
        return placed


def least_cost(standing: Standing, width: float) -> Ints:
    """The answer that costs least among those that keep the quality floor; of equals the one of best quality."""
    if len(standing.attention) == 1:
        least_gain = standing.quality_floor * standing.gains[0] * (1 - SLACK)
        return np.array([scan(standing.balance, standing.gains, least_gain, width)])
    return _surely(_search(_choice(standing, width), -_least_gain(standing), len(standing.attention)))


def best_quality(standing: Standing, width: float, most_cost: float) -> Ints | None:
    """The answer of best quality among those that cost no more; None when there is none."""
    choice = _choice(standing, width)
    swapped = choice.moves._replace(costs=choice.moves.burdens, burdens=choice.moves.costs)
    return _search(replace(choice, moves=swapped), most_cost, len(standing.attention))


def cheapest(prices: Floats, gains: Floats, attention: Floats, quality_floor: float) -> Ints:
    """Least sum of price times attention at a quality floor; subjects come with gains that never rise."""
    positions = len(attention)
    weights = discounts(positions)
    candidates = skyband(prices, gains, NOBODY_SHARES, positions)
    moves = Moves(
        masks=np.tile(1 << np.arange(positions), len(candidates)),
        costs=np.outer(prices[candidates], attention).ravel(),
        burdens=-np.outer(gains[candidates], weights).ravel(),
        first=np.arange(len(candidates) + 1) * positions,
    )
    least_gain = quality_floor * float(weights @ gains[:positions]) * (1 - SLACK)
    return _surely(_search(_Choice(candidates, np.arange(len(candidates) + 1), moves), -least_gain, positions))


def warm_up() -> None:
    """Compile what is not compiled yet, so that the first ranking does not have to wait for it."""
    relevance = np.array([0.5, 0.3, 0.2])
    standing = Standing(
        relevance=relevance,
        gains=relevance,
        attention=np.array([0.6, 0.4]),
        received=np.zeros(3),
        earned=relevance,
        quality_floor=0.9,
    )
    least_cost(standing, 1.0)


def _surely(answer: Ints | None) -> Ints:
    if answer is None:
        raise AssertionError("the original ranking always meets the floor")
    return answer


def _least_gain(standing: Standing) -> float:
    positions = len(standing.attention)
    return standing.quality_floor * float(discounts(positions) @ standing.gains[:positions]) * (1 - SLACK)


def _choice(standing: Standing, width: float) -> _Choice:
    balance, gains, attention = standing.balance, standing.gains, standing.attention
    shares = NOBODY_SHARES
    if standing.accounts is not None:
        shares = np.unique(standing.accounts, return_inverse=True)[1]
    kept = skyband(balance, gains, shares, len(attention))
    weights = discounts(len(attention))
    if standing.accounts is None:
        moves = moves_of_subjects(kept, balance, gains, attention, weights, width)
        return _Choice(kept, np.arange(len(kept) + 1), moves)
    # Accounts in the order of their best subject, each one's subjects by relevance.
    _, firsts, owner = np.unique(shares[kept], return_index=True, return_inverse=True)
    order = np.argsort(firsts[owner], kind="stable")
    begins = np.append(np.flatnonzero(np.diff(firsts[owner][order], prepend=-1)), len(kept))
    moves = moves_of_accounts(kept[order], begins, balance, gains, attention, weights, width)
    return _Choice(kept[order], begins, moves)


def _search(choice: _Choice, limit: float, positions: int) -> Ints | None:
    """Least cost within a limit on the burden. Numbers are scaled to 1, so that tolerances mean the same everywhere."""
    moves = choice.moves
    largest_cost, largest_burden = (float(np.abs(each).max()) or 1.0 for each in (moves.costs, moves.burdens))
    moves = moves._replace(costs=moves.costs / largest_cost, burdens=moves.burdens / largest_burden)
    chosen = np.array([GAVE_UP])
    if positions <= MOST_POSITIONS_FOR_SEARCH:
        chosen = cheapest_moves(moves, limit / largest_burden, positions, MOST_LABELS)
    if chosen[0] == GAVE_UP:
        chosen = best_by_program(moves, limit / largest_burden, positions)
    return None if chosen[0] == NO_ANSWER else choice.place(chosen, positions)
