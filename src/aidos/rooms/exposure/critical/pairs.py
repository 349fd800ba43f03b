"""What a pairwise ranker learns from, pairs of rows of one member, and how well it does on members not taught by.

Of each pair the targets say that one row is more critical. A member with a million rows has more pairs than there is
time for, and would drown out everybody else. So many are drawn from each member, uniformly among the pairs whose
targets differ; members with fewer give all they have. What is drawn from one member depends on the seed and on her own
rows alone.

Rankers are compared side by side and member by member, on members that they were not taught by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEARNED", "CrossValidation", "Fit", "Line", "Pairs", "cross_validate", "draw_pairs", "held_out_agreement"]

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Pairs of rows, one at each place; those of one member stand together."""

    members: Longs
    """The place of the member among ``names``."""
    better: Longs
    """The row with the larger target."""
    worse: Longs
    """The other row."""
    names: Longs
    """The members that have pairs, rising."""

    def __len__(self) -> int:
        return len(self.better)


def draw_pairs(groups: Sequence[int] | Longs, targets: Floats, *, most: int, seed: int) -> Pairs:
    """At most so many pairs of each group; rows whose target is not known (NaN) are in none."""
    owners = np.asarray(groups, dtype=np.int64)
    known = np.flatnonzero(np.isfinite(targets))
    order = known[np.argsort(owners[known], kind="stable")]
    names, starts = np.unique(owners[order], return_index=True)
    kept, better, worse = [], [], []
    for name, rows in zip(names.tolist(), np.split(order, starts[1:]), strict=False):
        low, high = _draw(targets[rows], most, np.random.default_rng([seed, name & 0xFFFFFFFF]))
        if len(low):
            kept.append(name)
            better.append(rows[high])
            worse.append(rows[low])
    nothing = np.zeros(0, dtype=np.int64)
    return Pairs(
        members=np.repeat(np.arange(len(kept), dtype=np.int64), [len(rows) for rows in better]),
        better=np.concatenate([nothing, *better]),
        worse=np.concatenate([nothing, *worse]),
        names=np.array(kept, dtype=np.int64),
    )


def _draw(targets: Floats, most: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
    """Places with the smaller and with the larger target of each pair."""
    order = np.argsort(targets, kind="stable")
    values = targets[order]
    begin, end = np.searchsorted(values, values, side="left"), np.searchsorted(values, values, side="right")
    partners = len(values) - (end - begin)
    if int(partners.sum()) <= 2 * most:  # every pair is counted from both its sides
        low, high = np.triu_indices(len(values), k=1)
        differ = values[low] < values[high]
        return order[low[differ]], order[high[differ]]
    # Uniform over the pairs that differ: a row by how many partners it has, then one of those.
    bounds = np.cumsum(partners)
    drawn = rng.integers(bounds[-1], size=4 * most)
    one = np.searchsorted(bounds, drawn, side="right")
    other = drawn - (bounds[one] - partners[one])
    other += np.where(other >= begin[one], (end - begin)[one], 0)
    low, high = np.minimum(one, other), np.maximum(one, other)
    _, first = np.unique(low * len(values) + high, return_index=True)
    chosen = np.sort(first)[:most]
    return order[low[chosen]], order[high[chosen]]


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
