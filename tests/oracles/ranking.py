"""Measures of one ranking against grades, by the plain definitions: precision, NDCG and Kendall's tau.

Scores tie often, so what is given is the mean over all orders of the tied queries (McSherry and Najork 2008).
"""

import numpy as np

from aidos.errors import InputError, ParameterError


def precision_at(scores, grades, k):
    """Share of the first k queries by score with a grade above 0; missing ones count as harmless."""
    found, given = _checked(scores, grades, k)
    return float(_expected(found, (given > 0).astype(np.float64), np.full(k, 1.0 / k)))


def ndcg_at(scores, grades, k):
    """DCG of the first k queries by score, as a share of that of the best order; not a number if all grades are 0."""
    found, given = _checked(scores, grades, k)
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    gains = np.exp2(given) - 1.0
    best = float(np.sort(gains)[::-1][:k] @ discounts[: len(gains)])
    return _expected(found, gains, discounts) / best if best > 0 else float("nan")


def kendall_tau(scores, grades):
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


def _checked(scores, grades, k):
    found, given = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    if found.ndim != 1 or found.shape != given.shape:
        raise InputError(f"{found.size} scores were given for {given.size} grades")
    if np.isnan(found).any() or not (np.isfinite(given).all() and (given >= 0).all()):
        raise InputError("scores must be numbers, and grades finite and not negative")
    if k < 1:
        raise ParameterError(f"k must be at least 1, got {k}")
    return found, given


def _expected(scores, gains, weights):
    """Mean over all orders of ties of the sum of gains times the weights of their positions."""
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=gains, minlength=len(sizes)) / sizes
    reach = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.minimum(np.cumsum(sizes), len(weights))
    starts = np.minimum(np.cumsum(sizes) - sizes, len(weights))
    return float(means @ (reach[ends] - reach[starts]))
