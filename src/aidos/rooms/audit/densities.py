"""The law of the lists: densities of one given the other, with gradients, for all queries at once; and draws from it.

Both laws of the paper are Plackett-Luce, for the i in their exponents cancels:

    ln f(pi|sigma): utility -lambda rank_sigma(d)                                  the engine did not personalise
    ln g(pi|sigma): utility gamma eta.theta_d - (1-gamma) rank_sigma(d)            it did

For eta ~ N(m, s^2 I) the mean of ln g has no closed form. With a_d the utility at m and b_d = a_d + gamma^2 s^2
|theta_d|^2 / 2, Jensen's inequality and the moment of a Gaussian give

    E[ln g] >= sum_i (a_{pi_i} - ln sum_{j>=i} exp b_{pi_j}),

concave in m and concave in gamma; at s = 0 it is ln g itself. All derivatives come from the same two scans.

Lists are drawn from the model to see what no profile looks like. A draw from Plackett-Luce is the order by utility plus
independent Gumbel noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.kernels import draw_orders, stages

__all__ = [
    "Scored",
    "draw_places",
    "evaluate_stages",
    "log_mean_personalised",
    "log_vanilla",
    "pull_of_weights",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """A logarithm for each query, and what its derivatives are made of."""

    values: Floats
    """One logarithm for each query."""
    slopes: Floats
    """For each query the derivative by the scalar: lambda for f, gamma for g."""
    pushes: Floats
    """For each place the derivative by the utility of its item."""


def evaluate_stages(pairs: PairArrays, firm: Floats, soft: Floats) -> tuple[Floats, Floats]:
    """The value of each query for given a and b of each place, and for each place minus the derivative by b."""
    values, pulls = np.empty(len(pairs)), np.empty(len(pairs.items))
    stages(pairs.starts, firm, soft, values, pulls)
    return values, pulls


def log_vanilla(pairs: PairArrays, concentration: float) -> Scored:
    """The logarithm of f for each query, for lambda ``concentration``."""
    utilities: Floats = -concentration * pairs.ranks.astype(np.float64)
    values, pulls = evaluate_stages(pairs, utilities, utilities)
    pushes = 1 - pulls
    return Scored(values=values, slopes=pairs.sum_by_query(-pairs.ranks * pushes), pushes=pushes)


def log_mean_personalised(pairs: PairArrays, interests: Floats, mix: float, spread: float) -> Scored:
    """The bound on E[ln g] of each query, for m.theta_d of each item, gamma ``mix`` and s ``spread``."""
    scores = interests[pairs.items]
    lift = spread**2 * pairs.maps.squares[pairs.items]
    firm = mix * scores - (1 - mix) * pairs.ranks
    values, pulls = evaluate_stages(pairs, firm, firm + mix**2 / 2 * lift)
    change = scores + pairs.ranks
    slopes = pairs.sum_by_query(change * (1 - pulls) - mix * lift * pulls)
    return Scored(values=values, slopes=slopes, pushes=1 - pulls)


def pull_of_weights(pairs: PairArrays, pushes: Floats, mix: float, query_weights: Floats) -> Floats:
    """The gradient by m of the weighted sum of E[ln g] over queries."""
    return pairs.maps.add(pairs.sum_by_item(mix * query_weights[pairs.query_of] * pushes))


def draw_places(pairs: PairArrays, utilities: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    """Places of every list in an order drawn from Plackett-Luce with these utilities."""
    found = np.empty(len(pairs.items), dtype=np.int64)
    draw_orders(pairs.starts, utilities + generator.gumbel(size=len(utilities)), found)
    return found
