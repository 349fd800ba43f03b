"""Splitting one promise over several Gaussian parts, tighter than by adding up epsilons.

Parts with sensitivity over sigma mu_1, mu_2, ... are together as one with mu = sqrt(mu_1^2 + mu_2^2 + ...). So a part
that gets a share s of the budget gets mu sqrt(s), and s of delta: half of it is for its threshold, and the halves for
the noise are one half of delta together. A share of a twentieth thus has noise of 4.5 times sigma; by adding up
epsilons it would have some 20 times.

The split only proposes. Whoever uses it composes the parts that came out and checks the sum against the promise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aidos.account.composition import GaussianPart, compose_gaussian
from aidos.account.gaussian import gaussian_epsilon, gaussian_sigma
from aidos.errors import ParameterError

__all__ = ["Budget", "split_gaussian"]

Budget = tuple[float, float]
"""Epsilon and delta of one part, as if it were alone."""

RESERVES = (1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2, 0.3)
"""What discreteness and rounding take of epsilon is tried in this order."""


def split_gaussian(
    epsilon: float,
    delta: float,
    shares: Sequence[float],
    limits: Sequence[int],
    part_of: Callable[[Budget, int], GaussianPart],
) -> list[Budget] | None:
    """Budgets of parts that keep (epsilon, delta) together, or None where discreteness takes too much.

    ``part_of`` says what noise and threshold a mechanism makes of a budget and a limit of items per person.
    """
    for reserve in RESERVES:
        sigma = gaussian_sigma(epsilon * (1 - reserve), delta / 2, 1.0)
        budgets = [
            (gaussian_epsilon(share * delta / 2, sigma / share**0.5, 1.0), share * delta * (1 - 1e-12))
            for share in shares
        ]
        try:
            whole = compose_gaussian([part_of(*asked) for asked in zip(budgets, limits, strict=True)], delta)
        except ParameterError:
            return None
        if whole.epsilon <= epsilon:
            return budgets
    return None
