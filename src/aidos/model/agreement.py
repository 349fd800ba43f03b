"""How far judges agree beyond chance: Fleiss' kappa.

Kappa is (observed - expected) / (1 - expected) agreement. Observed is the share of pairs of judges of the same item who
chose the same category, averaged over items; expected is what judges who choose blindly, by the overall shares of the
categories, would agree by chance (Fleiss 1971). 1 is full agreement, 0 is no more than chance, less is worse.

Where items have different numbers of judges, the generalisation for missing ratings is taken that Gwet describes
(Handbook of Inter-Rater Reliability, 2014): observed agreement is averaged over the items with at least two judges, and
the share of a category is the mean over all judged items of its share within the item. With equal numbers it is Fleiss'
own. Kappa does not say whether judges are right, and it is low where one category is rare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aidos.errors import InputError

__all__ = ["fleiss_kappa"]


def fleiss_kappa(counts: ArrayLike) -> float:
    """Kappa of counts: a row an item, a column a category, how many judges put the item there.

    Not a number where chance alone would make all agree: everybody always chose the same category.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not (np.isfinite(table).all() and (table >= 0).all() and (table == np.floor(table)).all()):
        raise InputError("counts of judges must be whole numbers, not negative: a row an item, a column a category")
    judges = table.sum(axis=1)
    table, judges = table[judges > 0], judges[judges > 0]
    several = judges > 1
    if not several.any():
        raise InputError("no item has two judges, so nothing can be said about agreement")
    pairs = judges[several] * (judges[several] - 1)
    observed = float((((table[several] * (table[several] - 1)).sum(axis=1)) / pairs).mean())
    shares = (table / judges[:, None]).mean(axis=0)
    expected = float(shares @ shares)
    if np.count_nonzero(shares) == 1:
        return float("nan")
    return (observed - expected) / (1 - expected)
