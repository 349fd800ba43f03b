"""How well rankers do on members that they were not taught by, side by side and member by member."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.exposure.critical.pairs import Pairs

__all__ = ["LEARNED", "CrossValidation", "Fit", "Line", "cross_validate", "held_out_agreement"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

Fit = Callable[[Longs], Floats]
"""Trains on some members, and tells by how much the better row of every pair then leads."""
LEARNED = "learned"
"""What the learned ranker is called in tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One ranker's line in the table."""

    ranker: str
    """`LEARNED`, or the feature that ranks alone."""
    agreement: float
    """Mean over the members; 0.5 is chance."""
    error: float
    """Standard error of the mean."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossValidation:
    """Agreement of every ranker for every member, each while the member was not taught from."""

    features: tuple[str, ...]
    members: Longs
    """Groups as they were given, rising."""
    learned: Floats
    """Agreement of the learned ranker, by member."""
    single: Floats
    """Agreement of each feature alone, a row a member and a column a feature."""
    folds: int

    def table(self) -> list[Line]:
        """The learned ranker, then every feature, the best first; equal ones in their order."""
        singles = [_line(name, self.single[:, place]) for place, name in enumerate(self.features)]
        return [_line(LEARNED, self.learned), *sorted(singles, key=lambda line: -line.agreement)]


def _line(name: str, values: Floats) -> Line:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return Line(ranker=name, agreement=float(np.mean(values)), error=spread / np.sqrt(max(len(values), 1)))


def held_out_agreement(pairs: Pairs, members: Longs, folds: int, fit: Fit) -> Floats:
    """Agreement for each of the members, given in random order, by rankers that were taught by the others."""
    agreement = np.zeros(len(pairs.names))
    for training, testing in _folds(members, folds):
        ahead = np.sign(fit(training))
        agreement[testing] = _mean_by_member(pairs, (1 + ahead)[:, None] / 2)[testing, 0]
    found: Floats = agreement[members]
    return found


def cross_validate(  # noqa: PLR0913 (the pairs and what they are made of, who, how)
    pairs: Pairs, differences: Any, members: Longs, *, folds: int, features: tuple[str, ...], fit: Fit
) -> CrossValidation:
    """A learned ranker and every single feature, on members that were held out; ``differences`` are of the pairs."""
    learned = held_out_agreement(pairs, members, folds, fit)
    leads = _mean_by_member(pairs, differences.sign())
    single = np.zeros(leads.shape)
    for training, testing in _folds(members, folds):
        direction = np.where(leads[training].mean(axis=0) < 0, -1, 1)
        single[testing] = (1 + direction * leads[testing]) / 2
    order = np.argsort(members)
    return CrossValidation(
        features=features,
        members=pairs.names[members[order]],
        learned=learned[order],
        single=single[members[order]],
        folds=folds,
    )


def _folds(members: Longs, number: int) -> Iterator[tuple[Longs, Longs]]:
    """Training and testing parts, each member tested once."""
    parts = np.array_split(members, number)
    for part in range(number):
        yield np.concatenate([parts[other] for other in range(number) if other != part]), parts[part]


def _mean_by_member(pairs: Pairs, values: Any) -> Floats:
    """The mean over each member's pairs of the columns of a dense or sparse matrix."""
    from scipy.sparse import csr_array

    sizes = np.bincount(pairs.members, minlength=len(pairs.names))
    ones = (np.ones(len(pairs)), (pairs.members, np.arange(len(pairs))))
    summed = csr_array(ones, shape=(len(pairs.names), len(pairs))) @ values
    dense: Floats = summed.toarray() if hasattr(summed, "toarray") else summed
    return dense / sizes[:, None]
