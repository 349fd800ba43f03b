"""The best single ranking, exactly: least unfairness at a quality floor, or best quality at an unfairness ceiling.

The thesis hands an n x n integer program to a solver and, to keep it tractable, looks at 100 candidates. Here the
structure does the work. One position with attention: a walk over the subjects. A few: dominance leaves the subjects
that can matter (`kernels.moves`), a search with bounds finds the best answer among them (`kernels.pareto`). Many:
dominance, then HiGHS. All three give an optimum over all subjects; nobody is filtered away.

Best in one step is not best over time; which cost is charged decides that (`kernels.moves`, `equity`).

The integer program is for many positions, where a search has too many sets. Every move is a binary variable; each
position is taken once, each account moves at most once. Because a move names all positions that an account takes,
subjects that share an account fit in as well. It is solved twice: for the least cost, then for the least burden at that
cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aidos.errors import AidosError
from aidos.rooms.fairness.kernels.moves import moves_of_accounts, moves_of_subjects, scan, skyband
from aidos.rooms.fairness.kernels.pareto import GAVE_UP, NO_ANSWER, Moves, cheapest_moves
from aidos.rooms.fairness.linear import LinearProgram, as_model, open_solver
from aidos.rooms.fairness.rankings import Floats, Ints, Standing, discounts

if TYPE_CHECKING:
    import highspy

__all__ = [
    "MOST_POSITIONS_FOR_SEARCH",
    "best_by_program",
    "best_quality",
    "cheapest",
    "least_cost",
    "warm_up",
]

MOST_POSITIONS_FOR_SEARCH = 12
"""With more positions than that the search has too many sets of positions, and the integer program wins."""
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


SAME_COST = 1e-9
"""Costs that differ by less are equal; the solver cannot tell them apart for sure."""


def best_by_program(moves: Moves, limit: float, positions: int) -> Ints:
    """The moves of least cost that fill all positions with a burden within the limit; [NO_ANSWER] if there are none.

    Of answers of equal cost the one of least burden.
    """
    highs = open_solver()
    highs.passModel(_program(moves, limit, positions))
    chosen = _run(highs)
    if chosen is None:
        return np.array([NO_ANSWER])
    number = len(moves.masks)
    columns = np.arange(number, dtype=np.int32)
    most = float(moves.costs[chosen].sum()) + SAME_COST
    highs.addRow(-np.inf, most, number, columns, moves.costs)
    highs.changeColsCost(number, columns, moves.burdens)
    highs.setSolution(len(chosen), chosen.astype(np.int32), np.ones(len(chosen)))
    better = _run(highs)
    return chosen if better is None else better


def _run(highs: highspy.Highs) -> Ints | None:
    """The moves that are made; None when the limit is out of reach."""
    highs.run()
    status = highs.getModelStatus()
    if status == type(status).kInfeasible:
        return None
    if status != type(status).kOptimal:
        raise AidosError("HiGHS did not finish the ranking", hint="use attention on fewer positions")
    return np.flatnonzero(np.asarray(highs.getSolution().col_value) > 0.5)


def _program(moves: Moves, limit: float, positions: int) -> highspy.HighsLp:
    """Rows: one per position (taken once), one per account (moves at most once), one for the burden."""
    number, accounts = len(moves.masks), len(moves.first) - 1
    move_of, position = np.nonzero((moves.masks[:, None] >> np.arange(positions)) & 1)
    account = np.repeat(np.arange(accounts), np.diff(moves.first))
    burdens, limit = _above_the_least(moves, limit, move_of, position)
    columns = np.concatenate([move_of, np.arange(number), np.arange(number)])
    rows = np.concatenate([position, positions + account, np.full(number, positions + accounts)])
    values = np.concatenate([np.ones(len(move_of) + number), burdens])
    return as_model(
        LinearProgram(
            costs=moves.costs,
            lower=np.zeros(number),
            upper=np.ones(number),
            row_lower=np.concatenate([np.ones(positions), np.full(accounts + 1, -np.inf)]),
            row_upper=np.concatenate([np.ones(positions + accounts), [limit]]),
            rows=rows,
            columns=columns,
            values=values,
            whole=np.ones(number, dtype=np.bool_),
        )
    )


def _above_the_least(moves: Moves, limit: float, move_of: Ints, position: Ints) -> tuple[Floats, float]:
    """Burdens counted from the least on each position, the largest of them 1, and the limit on the same scale.

    Every position is taken once, so that the choice is the same; but where subjects are nearly equal, what they differ
    by is no longer lost in the solver's tolerance.
    """
    alone = np.bincount(move_of) == 1
    single = alone[move_of]
    least = np.full(int(position.max()) + 1, np.inf)
    np.minimum.at(least, position[single], moves.burdens[move_of[single]])
    burdens = moves.burdens - np.bincount(move_of, least[position])
    largest = float(np.abs(burdens).max()) or 1.0
    return burdens / largest, (limit - float(least.sum())) / largest
