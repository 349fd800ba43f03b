"""Standings to try policies on, and what an answer costs by definition."""

from itertools import permutations

import numpy as np

from aidos.rooms.fairness.rankings import Standing, discounts


def geometric(positions):
    weights = 0.5 ** np.arange(1, positions + 1)
    return weights / weights.sum()


def standing_of(relevance, *, positions=2, floor=0.0, received=None, before=None, **facts):
    """A standing from plain numbers; `before` is what was earned before this ranking."""
    relevance = np.sort(np.asarray(relevance, dtype=float))[::-1]
    relevance = relevance / relevance.sum()
    zeros = np.zeros(len(relevance))
    return Standing(
        relevance=relevance,
        gains=2**relevance - 1,
        attention=geometric(positions),
        received=zeros if received is None else np.asarray(received, dtype=float),
        earned=relevance + (zeros if before is None else np.asarray(before, dtype=float)),
        quality_floor=floor,
        **{
            name: None if value is None else np.asarray(value) if np.ndim(value) else value
            for name, value in facts.items()
        },
    )


def cost(standing, placed, *, squared=False):
    """Unfairness after the ranking, by definition."""
    balance = standing.balance.copy()
    balance[np.asarray(placed)] += standing.attention
    return float((balance**2).sum() if squared else np.abs(balance).sum())


def legal_orders(standing):
    """Every order of the positions that keeps the floor."""
    positions = len(standing.attention)
    weights = discounts(positions)
    least = standing.quality_floor * float(weights @ standing.gains[:positions])
    for order in permutations(range(len(standing.relevance)), positions):
        if float(weights @ standing.gains[list(order)]) >= least - 1e-12:
            yield list(order)
