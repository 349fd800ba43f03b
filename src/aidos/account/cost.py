"""What one guarantee costs, in the two numbers that budgets are kept in, and as a zero-concentrated one."""

from __future__ import annotations

from math import inf, log, log1p, sqrt
from typing import assert_never

from aidos.core.guarantee import (
    ApproxDP,
    Guarantee,
    KAnonymity,
    NoGuarantee,
    ProbabilisticDP,
    PureDP,
    QualityFloor,
    ZeroConcentratedDP,
)

__all__ = ["ROUNDING", "concentrated", "concentrated_epsilon", "cost"]

ROUNDING = 1 + 1e-9
"""Relative slack for sums of decimal fractions: ten charges of 0.1 fit into 1."""


def cost(guarantee: Guarantee, delta: float) -> tuple[float, float]:
    """Epsilon and delta of a guarantee; ``delta`` is where a zero-concentrated one is converted.

    k-anonymity and no guarantee cost infinitely much: no ledger with a finite budget lets them pass.
    """
    match guarantee:
        case PureDP(epsilon=epsilon):
            return epsilon, 0.0
        case ApproxDP(epsilon=epsilon, delta=own) | ProbabilisticDP(epsilon=epsilon, delta=own):
            return epsilon, own
        case ZeroConcentratedDP(rho=rho):
            half = delta / 2
            return (rho + 2 * sqrt(rho * log(1 / half)), half) if half > 0 else (float("inf"), 0.0)
        case QualityFloor():
            return 0.0, 0.0
        case KAnonymity() | NoGuarantee():
            return float("inf"), 1.0
        case _:
            assert_never(guarantee)


def concentrated(guarantee: Guarantee) -> tuple[float, float]:
    """Rho and delta of a guarantee as a zero-concentrated one that fails with probability delta.

    epsilon-DP is epsilon^2/2-zCDP, and what fails with probability delta goes on doing so (Bun and Steinke 2016).
    """
    match guarantee:
        case PureDP() | ApproxDP() | ProbabilisticDP():
            epsilon, delta = cost(guarantee, 0.0)
            return epsilon**2 / 2, delta
        case ZeroConcentratedDP(rho=rho):
            return rho, 0.0
        case QualityFloor():
            return 0.0, 0.0
        case KAnonymity() | NoGuarantee():
            return inf, 1.0
        case _:
            assert_never(guarantee)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """An epsilon that rho-zCDP gives at this delta (Canonne, Kamath and Steinke 2020), the smallest or next to it.

    Any order alpha gives a valid one; the best is looked for around 1 + sqrt(ln(1/delta) / rho).
    """
    if rho == 0 or delta <= 0 or rho == inf:
        return inf if rho > 0 else 0.0
    near = sqrt(log(1 / delta) / rho)
    orders = [1 + near * 2 ** (step / 16) for step in range(-48, 33)]
    found = min(alpha * rho + (log(1 / delta) - log(alpha)) / (alpha - 1) + log1p(-1 / alpha) for alpha in orders)
    return max(found, 0.0) * (1 + 1e-12)
