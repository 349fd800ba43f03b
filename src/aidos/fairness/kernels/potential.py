"""What it costs to give somebody attention.

One family covers every objective. The potential of a balance x is x^2 / (2 width) up to the width and |x| - width / 2
beyond it (Huber). Width 0 is the absolute objective of the thesis, infinite width stands for the squared one. In every
case the cost of attention never falls as the balance grows, which is what dominance needs.
"""

from __future__ import annotations

from math import inf

from aidos.fairness.kernels.compiled import njit

__all__ = ["cost_of_attention"]


@njit(cache=True, inline="always")
def _potential(balance: float, width: float) -> float:
    """The Huber function, for a width that is positive and finite."""
    size = abs(balance)
    if size <= width:
        return balance * balance / (2.0 * width)
    return size - width / 2.0


@njit(cache=True)
def cost_of_attention(balance: float, attention: float, width: float) -> float:
    """Change of the potential when ``attention`` is added to ``balance``.

    Where the change is the whole attention, up or down, it is returned as it is: a difference of two potentials would
    differ in the last bits between subjects that are equally owed, and rounding would break ties.
    """
    if width == inf:
        return attention * (2.0 * balance + attention)
    if balance >= width:
        return attention
    if balance + attention <= -width:
        return -attention
    if width == 0.0:
        return attention + 2.0 * balance if balance < 0.0 else attention
    return _potential(balance + attention, width) - _potential(balance, width)
