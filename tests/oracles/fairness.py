"""Fairness by its plain definitions: loops over rankings and positions that fast accounts are compared with.

`accumulate` counts every ranking, credits a subject by the position where it was *served*, and adds. Unfairness is the
sum over all subjects of |accumulated attention - accumulated relevance|, as in the equity-of-attention paper. The
Lorenz curve orders subjects by attention per relevance.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aidos.errors import InputError
from aidos.model.attention import Attention
from aidos.rooms.fairness.bounds import StationaryBound, stationary_bound_cycle
from aidos.rooms.fairness.disparity import Disparity
from aidos.rooms.fairness.rankings import Floats, Ints, discounts, normalise

Served = tuple[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Accumulated:
    """What each subject has received and earned over a sequence of rankings."""

    attention: Floats
    relevance: Floats

    @property
    def unfairness(self) -> float:
        """The distance of the two."""
        return unfairness(self.attention, self.relevance)


def unfairness(attention: Floats, relevance: Floats) -> float:
    """Sum over subjects of |attention - relevance|, both accumulated."""
    return float(np.abs(attention - relevance).sum())


def accumulate(
    orders: Sequence[Sequence[int] | Ints], relevances: Sequence[Sequence[float] | Floats], attention: Attention
) -> Accumulated:
    """Attention and relevance of each subject over all rankings.

    ``orders`` holds, for each ranking, the numbers of its subjects as they were served, first to last; a ranking need
    not hold everybody. ``relevances`` holds the relevance of the same subjects in the same order.
    """
    if len(orders) != len(relevances):
        raise InputError(f"{len(orders)} orders but {len(relevances)} lists of relevance", hint="give one per ranking")
    subjects = 1 + max((int(subject) for order in orders for subject in order), default=-1)
    received, earned = np.zeros(subjects), np.zeros(subjects)
    for number, (order, values) in enumerate(zip(orders, relevances, strict=True), start=1):
        members = {int(subject) for subject in order}
        if not len(members) == len(order) == len(values) or min(members, default=-1) < 0:
            raise InputError(
                f"ranking {number}: an order holds each subject once, and relevance is given for each of them",
                hint="number the subjects from 0",
            )
        shares = normalise(np.asarray(values, dtype=np.float64))
        weights = attention.weights(np.sort(shares)[::-1])
        for position, (subject, share) in enumerate(zip(order, shares, strict=True)):
            earned[subject] += share
            if position < len(weights):
                received[subject] += weights[position]
    return Accumulated(attention=received, relevance=earned)


def ndcg_quality(gains: Floats, order: Ints, positions: int) -> float:
    """NDCG-quality@k: DCG of the served order as a share of the DCG of the order by relevance, over k positions.

    ``gains`` are those of the subjects in any order, ``order`` holds indices into them as served. 1 if no subject has
    any gain.
    """
    counted = min(positions, len(gains))
    weights = discounts(counted)
    best = float(weights @ np.sort(gains)[::-1][:counted])
    return float(weights @ gains[order[:counted]]) / best if best > 0 else 1.0


def served_lists(rows: Iterable[tuple[str, str, int]]) -> Iterator[Served]:
    """From rows of a run, (query_id, object_id, position), to one list per query, by position.

    A run holds each query once; the rows of a query need not stand together.
    """
    lists: dict[str, list[tuple[int, str]]] = {}
    for query_id, object_id, position in rows:
        lists.setdefault(query_id, []).append((position, object_id))
    for query_id, placed in lists.items():
        placed.sort(key=lambda pair: pair[0])
        if len({position for position, _ in placed}) != len(placed):
            raise InputError(
                "a query has two results on one position", hint="number the results of a query 1, 2, 3, ..."
            )
        yield query_id, [object_id for _, object_id in placed]


def stationary_bound(  # the setting and how long to search
    relevance: Floats,
    gains: Floats,
    attention: Floats,
    quality_floor: float,
    *,
    tolerance: float = 1e-6,
    blocks: int = 48,
    most_columns: int = 20_000,
    start: Sequence[Ints] = (),
) -> StationaryBound:
    """The bound for one query; subjects in any order. `start` may hold rankings that a method served."""
    return stationary_bound_cycle(
        [(relevance, gains)],
        attention,
        quality_floor,
        tolerance=tolerance,
        blocks=blocks,
        most_columns=most_columns,
        start=[start],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lorenz:
    """Shares of attention against shares of relevance, worst-served subjects first."""

    relevance: Floats
    """Share of all relevance, from 0 to 1."""
    attention: Floats
    """Share of all attention that it gets, from 0 to 1; never above the share of relevance."""
    gini: float
    """Twice the area between the curve and the diagonal."""


def lorenz(measured: Disparity) -> Lorenz:
    """The curve and its Gini coefficient."""
    if not measured.attention.any() or not measured.relevance.any():
        raise InputError("nobody has any attention, or any relevance", hint="count at least one ranking first")
    order = np.argsort(measured.ratio, kind="stable")
    earned = np.concatenate([[0.0], np.cumsum(measured.relevance[order])])
    received = np.concatenate([[0.0], np.cumsum(measured.attention[order])])
    earned, received = earned / earned[-1], received / received[-1]
    area = float(np.diff(earned) @ (received[1:] + received[:-1])) / 2
    return Lorenz(relevance=earned, attention=received, gini=max(1 - 2 * area, 0.0))
