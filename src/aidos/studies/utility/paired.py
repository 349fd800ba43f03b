"""Whether a mean is another before and after: paired two-tailed t-tests with confidence intervals.

A t-test takes the pairs for a random sample of those one asks about. "Not significant" means that the interval still
has 0 in it, not that there is no difference: the interval says how large one may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from aidos.errors import InputError, MissingExtraError, ParameterError

__all__ = ["CONFIDENCE", "PairedDifference", "paired_difference", "tell_p"]

CONFIDENCE = 0.95
LEAST_P = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Means of pairs, and what their difference may be. With fewer than two pairs what cannot be known is no number."""

    pairs: int
    """How many were compared."""
    before: float
    """Mean of the first of each pair."""
    after: float
    """Mean of the second."""
    difference: float
    """After less before."""
    low: float
    """Lower end of the confidence interval of the difference."""
    high: float
    """Upper end."""
    statistic: float
    """t; infinite where all differences are the same and not 0."""
    p: float
    """Chance of a difference at least as large, either way, where there is none."""


def paired_difference(before: ArrayLike, after: ArrayLike, *, confidence: float = CONFIDENCE) -> PairedDifference:
    """Compare two values of each pair."""
    one, other = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"{one.size} values before cannot be paired with {other.size} after")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("values that are compared must be finite numbers")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be between 0 and 1, got {confidence!r}")
    number = len(one)
    change = other - one
    mean = float(change.mean()) if number else nan
    low = high = statistic = p = nan
    if number >= 2:
        spread = float(change.std(ddof=1)) if np.ptp(change) > 0 else 0.0
        statistic, p, reach = _test(mean, spread / sqrt(number), number - 1, confidence)
        low, high = mean - reach, mean + reach
    return PairedDifference(
        pairs=number,
        before=float(one.mean()) if number else nan,
        after=float(other.mean()) if number else nan,
        difference=mean,
        low=low,
        high=high,
        statistic=statistic,
        p=p,
    )


def tell_p(p: float) -> str:
    """A chance in words; below what floats can tell from 0 it is not said to be 0."""
    if isnan(p):
        return ""
    return f"{p:.2g}" if p >= LEAST_P else f"< {LEAST_P:g}"


def _test(mean: float, error: float, degrees: int, confidence: float) -> tuple[float, float, float]:
    """t, its two-tailed p, and half the width of the interval."""
    if error == 0:
        return (0.0, 1.0, 0.0) if mean == 0 else (inf if mean > 0 else -inf, 0.0, 0.0)
    try:
        from scipy.stats import t
    except ImportError as missing:
        raise MissingExtraError("a t-test", extra="fairness") from missing
    statistic = mean / error
    return statistic, float(2 * t.sf(abs(statistic), degrees)), float(error * t.ppf((1 + confidence) / 2, degrees))
