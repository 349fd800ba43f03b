"""What one guarantee costs, in the two numbers that budgets are kept in."""

from __future__ import annotations

from math import log, sqrt
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

__all__ = ["ROUNDING", "cost"]

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
