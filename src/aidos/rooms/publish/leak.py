"""How likely it is that something which only one person did passes a threshold.

Counts of occurrences differ from counts of people: one person may ask one rare query many times, so her own count may
be anything up to her limit. This module finds the worst way to spend that limit.
"""

from __future__ import annotations

from math import exp, expm1, inf, log1p, nextafter

from aidos.core.sampling import DiscreteLaplace
from aidos.errors import ParameterError

__all__ = ["leak", "threshold_for"]

ROUNDING = 1 + 1e-12
"""Covers the rounding of a few hundred sums and one exponential."""


def leak(occurrences: int, scale: float, threshold: int) -> float:
    """The delta of publishing counts above a threshold, with discrete Laplace noise, of what occurs in the log.

    D' is D and one person more, who has at most ``occurrences`` (L) occurrences; b is the scale, K the threshold,
    epsilon = L / b. An item that others have too, or that is a candidate in any case, is *common*. The others, U, are
    hers alone; let them have c_1, c_2, ... occurrences, c in all. Write p(n) = P[n + X > K].

    - M(D') in S: either something of U comes out, with probability 1 - (1 - p(c_1)) (1 - p(c_2)) ... <= delta, or only
      common items do; their counts differ from D's by L - c in all, so that has at most e^epsilon P[M(D) in S].
    - M(D) in S: the common part alone is e^((L - c) / b)-close to that of D'. Nothing of U comes out with probability
      (1 - p(c_1)) (1 - p(c_2)) ..., and if every p(n) <= 1 - e^(-n / b) that is at least e^(-c / b). So
      P[M(D) in S] <= e^epsilon P[M(D') in S]. Where the condition fails, the difference costs e^epsilon delta at most.

    delta is the maximum of 1 - (1 - p(c_1)) (1 - p(c_2)) ... over all ways to split L, found exactly: the logarithms
    add up, so it is a knapsack. It is tight for the worst person.
    """
    law = DiscreteLaplace(scale)
    chances = [law.tail(threshold - own) for own in range(1, occurrences + 1)]
    weights = [-log1p(-chance) if chance < 1 else inf for chance in chances]
    worst = [0.0]
    for total in range(1, occurrences + 1):
        worst.append(max(weights[own - 1] + worst[total - own] for own in range(1, total + 1)))
    delta = nextafter(-expm1(-worst[-1] * ROUNDING), inf)
    if any(chance > -expm1(-own / scale) for own, chance in enumerate(chances, start=1)):
        delta *= exp(min(occurrences / scale, 700.0))
    return min(1.0, delta)


def threshold_for(occurrences: int, scale: float, delta: float) -> int:
    """The smallest threshold whose leak is at most delta, for 0 < delta < 1."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be greater than 0 and less than 1, got {delta!r}")
    low, high = 0, occurrences
    while leak(occurrences, scale, high) > delta:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if leak(occurrences, scale, middle) <= delta else (middle + 1, high)
    return high
