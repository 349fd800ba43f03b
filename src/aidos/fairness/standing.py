"""Where everybody stands when a ranking comes in: what a policy sees and what it answers.

Subjects are listed by relevance, best first, equal ones as they came. A policy places subjects on the positions that
get attention; behind them the others follow by relevance. It knows neither names nor files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aidos.fairness.rankings import Floats, Ints

__all__ = ["Policy", "Standing", "discounts", "quality"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Standing:
    """One ranking and the accounts of those in it, as arrays over its subjects in the order of relevance."""

    relevance: Floats
    """Of this ranking; sums to 1 and never rises."""
    gains: Floats
    """What a subject adds to DCG; never rises."""
    attention: Floats
    """Of the positions, first to last, no more than there are subjects; sums to 1. Positions beyond get nothing."""
    received: Floats
    """Attention accumulated before this ranking (A), by the account that the subject belongs to."""
    earned: Floats
    """Relevance accumulated, this ranking included (R + r), by the same account."""
    quality_floor: float = 0.0
    """Share of the original DCG that must remain."""
    accounts: Ints | None = None
    """Whose account each subject belongs to, where several subjects of the ranking share one."""
    groups: Ints | None = None
    """Group of each subject, where groups are known."""
    rankings: int = 0
    """Served before this one."""
    known: int = 0
    """Accounts in all, those in this ranking included."""
    unfairness: float = 0.0
    """Sum over all accounts of |received - earned|, were nobody given attention now."""

    @property
    def balance(self) -> Floats:
        """Attention received less relevance earned: negative is owed (D)."""
        owed: Floats = self.received - self.earned
        return owed


class Policy(Protocol):
    """A way to answer."""

    def place(self, standing: Standing) -> Ints:
        """Index (by relevance) of the subject on each position that gets attention."""
        ...


def discounts(positions: int) -> Floats:
    """Weights of the first positions in DCG: 1 / log2(position + 1)."""
    return 1.0 / np.log2(np.arange(2, positions + 2))


def quality(standing: Standing, placed: Ints) -> float:
    """NDCG-quality: DCG of the placed subjects as a share of the DCG of the order by relevance."""
    positions = len(placed)
    weights = discounts(positions)
    best = float(weights @ standing.gains[:positions])
    return float(weights @ standing.gains[placed]) / best if best > 0 else 1.0
