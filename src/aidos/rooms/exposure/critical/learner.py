"""A linear ranker from pairs: the objective of SVMrank, weights that can be read, and honest baselines.

For rows i and j of one member where the target of i is larger, the score of i should be larger by a margin:

    minimise   |w|^2 / 2  +  C  sum over pairs of  max(0, 1 - w (x_i - x_j))^2

(Joachims 2006, with the squared hinge, which has one smooth minimum and is found exactly in seconds.) It is a linear
support vector machine without intercept over differences of standardised features; signs are drawn at random, so that
both classes exist. C is tuned on a tenth of the members, the others are cross-validated, member by member: no member is
in both parts. The final model is then trained on all. The same seed gives the same model.

What cross-validation reports is *agreement*: the share of a member's pairs that a ranker puts in the order of the
targets, ties counting half, 0.5 being chance; (2 agreement - 1) is Kendall's tau over those pairs. Each single feature
is a baseline, in the direction that was better on the training part.

Agreement is with the targets. Those are weak signals, and whether people mind is a question to people.

A member with a million rows has more pairs than there is
time for, and would drown out everybody else. So many are drawn from each member, uniformly among the pairs whose
targets differ; members with fewer give all they have. What is drawn from one member depends on the seed and on her own
rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.rooms.exposure.critical.features import FEATURES
from aidos.rooms.exposure.critical.model import CriticalityModel

__all__ = [
    "COSTS",
    "LEARNED",
    "PAIRS_PER_MEMBER",
    "CrossValidation",
    "Fit",
    "Line",
    "Pairs",
    "Trained",
    "cross_validate",
    "draw_pairs",
    "held_out_agreement",
    "train",
]

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


COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""What is tried for C, times the number of pairs: so that it means the same for few pairs and for many."""
PAIRS_PER_MEMBER = 200
TUNING_SHARE = 0.1
TUNING_FOLDS = 5
LEAST_DEVIATION = 0.05
"""Features that hardly ever change are not blown up further: one row would weigh like hundreds."""
ITERATIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A model, and how well it did on members it had not seen."""

    model: CriticalityModel
    validation: CrossValidation
    cost: float
    """C times the number of pairs."""
    pairs: int
    """Pairs it was trained on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Lesson:
    """Everything that is learned from: differences of pairs, and the rows they come from."""

    differences: Any
    """Features of the better row less those of the worse, sparse."""
    pairs: Pairs
    matrix: Floats
    seed: int

    def fit(self, members: Longs, cost: float) -> tuple[Floats, Floats, Floats]:
        """Weights, means and deviations from the pairs of some members."""
        chosen = np.flatnonzero(np.isin(self.pairs.members, members))
        chosen = np.repeat(chosen, 2) if len(chosen) == 1 else chosen
        rows = self.matrix[np.union1d(self.pairs.better[chosen], self.pairs.worse[chosen])]
        means, deviations = rows.mean(axis=0), rows.std(axis=0)
        deviations = np.where(np.ptp(rows, axis=0) > 0, np.maximum(deviations, LEAST_DEVIATION), 1.0)
        signs = np.random.default_rng([self.seed, len(chosen)]).choice([-1, 1], len(chosen))
        signs[:2] = (1, -1)  # both classes, however few pairs there are
        given = self.differences[chosen].multiply(signs[:, None]).tocsr().multiply(1 / deviations).tocsr()
        machine = _vector_machines().LinearSVC(
            C=cost / len(chosen),
            loss="squared_hinge",
            dual=False,
            fit_intercept=False,
            max_iter=ITERATIONS,
            random_state=self.seed,
        )
        machine.fit(given, signs)
        return machine.coef_[0], means, deviations

    def ahead(self, members: Longs, cost: float) -> Floats:
        """By how much the better row of every pair leads, after training on some members."""
        weights, _, deviations = self.fit(members, cost)
        leads: Floats = self.differences @ (weights / deviations)
        return leads


def train(  # noqa: PLR0913 (what to learn from, how, and what to write into the model)
    groups: Longs,
    matrix: Floats,
    targets: Floats,
    *,
    seed: int = 0,
    cost: float | None = None,
    folds: int = 10,
    pairs_per_member: int = PAIRS_PER_MEMBER,
    features: tuple[str, ...] = FEATURES,
    about: str = "",
    trained_on: str = "",
) -> Trained:
    """Learn to order the rows of each group (a member) by their targets; rows with NaN are left out.

    Without a ``cost`` it is tuned on a tenth of the members, which are then not in the cross-validation.
    """
    _check(groups, matrix, targets, features)
    _check_settings(cost, folds, pairs_per_member)
    lesson = _lesson(matrix, draw_pairs(groups, targets, most=pairs_per_member, seed=seed), seed)
    everybody = np.random.default_rng([seed, 1]).permutation(len(lesson.pairs.names))
    held_out = _held_out(len(everybody), folds, tuned=cost is None)
    chosen = cost if cost is not None else _tune(lesson, everybody[:held_out])
    validation = cross_validate(
        lesson.pairs,
        lesson.differences,
        everybody[held_out:],
        folds=folds,
        features=features,
        fit=partial(lesson.ahead, cost=chosen),
    )
    weights, means, deviations = lesson.fit(everybody, chosen)
    model = CriticalityModel(
        features=features,
        weights=tuple(weights.tolist()),
        means=tuple(means.tolist()),
        deviations=tuple(deviations.tolist()),
        about=about,
        trained_on=trained_on,
    )
    return Trained(model=model, validation=validation, cost=chosen, pairs=len(lesson.pairs))


def _lesson(matrix: Floats, pairs: Pairs, seed: int) -> _Lesson:
    _vector_machines()  # says what is missing before any work is done; it brings the next along
    from scipy.sparse import csr_array

    rows = csr_array(matrix)
    # Most categories are 0 in both rows of a pair: sparse differences are a tenth of the size.
    return _Lesson(differences=(rows[pairs.better] - rows[pairs.worse]).tocsr(), pairs=pairs, matrix=matrix, seed=seed)


def _held_out(members: int, folds: int, *, tuned: bool) -> int:
    """How many members are kept for tuning; refused where too few would be left."""
    held_out = max(2, round(TUNING_SHARE * members)) if tuned else 0
    if members < held_out + folds:
        raise InputError(
            f"only {members} members have rows with different targets, {held_out + folds} are needed",
            hint="give more members, or fewer folds",
        )
    return held_out


def _vector_machines() -> Any:
    try:
        return import_module("sklearn.svm")  # an extra
    except ImportError:
        raise MissingExtraError("learning to rank", extra="exposure") from None


def _tune(lesson: _Lesson, members: Longs) -> float:
    """The cost with the best agreement in a small cross-validation; of equal ones the smallest."""
    folds = min(TUNING_FOLDS, len(members))
    found = [
        held_out_agreement(lesson.pairs, members, folds, partial(lesson.ahead, cost=cost)).mean() for cost in COSTS
    ]
    return COSTS[int(np.argmax(found))]


def _check(groups: Longs, matrix: Floats, targets: Floats, features: tuple[str, ...]) -> None:
    counts = (len(groups), len(matrix), len(targets))
    if len(set(counts)) > 1:
        raise ParameterError(
            "{} groups, {} rows of features, {} targets".format(*counts), hint="give one of each a row"
        )
    if matrix.ndim != 2 or matrix.shape[1] != len(features):
        raise ParameterError(f"the matrix must have one column for each of the {len(features)} features")
    if not np.isfinite(matrix).all():
        raise ParameterError("some features are not finite numbers", hint="leave such rows out")


def _check_settings(cost: float | None, folds: int, pairs_per_member: int) -> None:
    if folds < 2 or pairs_per_member < 1 or (cost is not None and not 0 < cost < np.inf):
        raise ParameterError("folds must be at least 2, pairs_per_member at least 1, and cost greater than 0")
