"""One position with attention: a walk over the subjects that are good enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.fairness.kernels.compiled import njit
from aidos.fairness.kernels.potential import cost_of_attention

__all__ = ["scan"]

Floats = NDArray[np.float64]


@njit(cache=True)
def scan(balance: Floats, gains: Floats, least_gain: float, width: float) -> int:
    """The subject whose attention costs least among those with enough gain; of equals the most relevant."""
    best = 0
    least = cost_of_attention(balance[0], 1.0, width)
    for subject in range(1, balance.size):
        if gains[subject] < least_gain:
            break
        cost = cost_of_attention(balance[subject], 1.0, width)
        if cost < least:
            best, least = subject, cost
    return best
