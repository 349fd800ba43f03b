"""How good a ranking of exposing queries is, and whether one ranker is better than another: plain functions on arrays.

Scores of rankers tie often (many features are 0 or 1), so what is given is the mean over all orders of the tied queries
(McSherry and Najork 2008): no order of the rows helps or harms. A ranking is scored against grades, 0 for harmless; the
gain of NDCG is 2^grade - 1 and its discount log2(1 + position), as in the thesis (equation 4.4).

Rankers are compared over members by paired t-tests, two-sided, and p-values of many comparisons are corrected by Holm's
step-down method. A t-test takes the members for a random sample of those one asks about; it says nothing about others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aidos.errors import InputError, MissingExtraError, ParameterError

__all__ = ["PairedT", "correlation", "holm", "kendall_tau", "ndcg_at", "paired_t", "paired_tests", "precision_at"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedT:
    """A paired t-test over members."""

    difference: float
    """Mean of the first less the second."""
    statistic: float
    """t; infinite where all differences are the same and not 0."""
    p: float
    """Chance of a difference at least as large, either way, where there is none."""
    pairs: int
    """Members compared."""


def precision_at(scores: ArrayLike, grades: ArrayLike, k: int) -> float:
    """Share of the first k queries by score with a grade above 0; missing ones count as harmless."""
    found, given = _checked(scores, grades, k)
    return float(_expected(found, (given > 0).astype(np.float64), np.full(k, 1.0 / k)))


def ndcg_at(scores: ArrayLike, grades: ArrayLike, k: int) -> float:
    """DCG of the first k queries by score, as a share of that of the best order; not a number if all grades are 0."""
    found, given = _checked(scores, grades, k)
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    gains = np.exp2(given) - 1.0
    best = float(np.sort(gains)[::-1][:k] @ discounts[: len(gains)])
    return _expected(found, gains, discounts) / best if best > 0 else float("nan")


def kendall_tau(scores: ArrayLike, grades: ArrayLike) -> float:
    """Kendall's tau-b of the list as it is shown against the grades; not a number where all grades are the same.

    A list has an order, whatever tied in the scores: ties of scores count by the mean over their orders, as 0, and do
    not make the divisor smaller. Otherwise a ranker that ties nearly everything would gain by saying nothing.
    """
    found, given = _checked(scores, grades, 1)
    number = len(found)
    levels, row = np.unique(given, return_inverse=True)
    values, column = np.unique(found, return_inverse=True)
    if len(levels) < 2:
        return float("nan")
    # The table of distinct grades by distinct scores: many scores and few grades cost little.
    table = np.bincount(row * len(values) + column, minlength=len(levels) * len(values)).astype(np.float64)
    table = table.reshape(len(levels), len(values))
    below = table.cumsum(axis=0).cumsum(axis=1)
    concordant = float((table[1:, 1:] * below[:-1, :-1]).sum())
    discordant = float((table[1:] * (below[:, -1:] - below)[:-1]).sum())
    pairs, times = number * (number - 1) / 2, table.sum(axis=1)
    tied = float((times * (times - 1) / 2).sum())
    return float((concordant - discordant) / np.sqrt(pairs * (pairs - tied)))


def paired_t(first: ArrayLike, second: ArrayLike) -> PairedT:
    """Whether the first values differ from the second in the mean; members where either is missing do not count."""
    return paired_tests(first, [second])[0]


def paired_tests(first: ArrayLike, others: Sequence[ArrayLike]) -> list[PairedT]:
    """The same for the first values against each of many others."""
    differences = [_differences(first, second) for second in others]
    statistics = np.array([_statistic(values) for values in differences])
    degrees = np.array([max(len(values) - 1, 1) for values in differences])
    return [
        PairedT(difference=_mean(values), statistic=float(statistic), p=float(p), pairs=len(values))
        for values, statistic, p in zip(differences, statistics, _two_sided(statistics, degrees), strict=True)
    ]


def holm(p_values: ArrayLike) -> Floats:
    """p-values corrected for their number by Holm's method; those that are not numbers stay so and do not count."""
    given = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(len(given), np.nan)
    counted = np.flatnonzero(~np.isnan(given))
    order = counted[np.argsort(given[counted], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def correlation(first: ArrayLike, second: ArrayLike) -> float:
    """Pearson's correlation; not a number where there are fewer than two pairs or either is constant."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"{one.size} values cannot be correlated with {other.size}")
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def _checked(scores: ArrayLike, grades: ArrayLike, k: int) -> tuple[Floats, Floats]:
    found, given = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    if found.ndim != 1 or found.shape != given.shape:
        raise InputError(f"{found.size} scores were given for {given.size} grades")
    if np.isnan(found).any() or not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("scores must be numbers, and grades finite and not negative")
    if k < 1:
        raise ParameterError(f"k must be at least 1, got {k}")
    return found, given


def _expected(scores: Floats, gains: Floats, weights: Floats) -> float:
    """Mean over all orders of ties of the sum of gains times the weights of their positions."""
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=gains, minlength=len(sizes)) / sizes
    reach = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.minimum(np.cumsum(sizes), len(weights))
    starts = np.minimum(np.cumsum(sizes) - sizes, len(weights))
    return float(means @ (reach[ends] - reach[starts]))


def _differences(first: ArrayLike, second: ArrayLike) -> Floats:
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"values of {one.size} members cannot be paired with those of {other.size}")
    found: Floats = (one - other)[np.isfinite(one) & np.isfinite(other)]
    return found


def _statistic(differences: Floats) -> float:
    """Student's t; not a number for fewer than two differences."""
    if len(differences) < 2:
        return float("nan")
    mean = float(differences.mean())
    if np.ptp(differences) == 0:
        return float(np.sign(mean)) * np.inf if mean else 0.0
    return float(mean / (differences.std(ddof=1) / np.sqrt(len(differences))))


def _two_sided(statistics: Floats, degrees: NDArray[np.int64]) -> Floats:
    try:
        from scipy.stats import t
    except ImportError as error:
        raise MissingExtraError("a t-test", extra="exposure") from error
    chances: Floats = 2 * t.sf(np.abs(statistics), degrees)
    return chances


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")
