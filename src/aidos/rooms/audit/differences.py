"""How far two lists differ, whatever the reason: overlap, order, tops, and the distance of what they are about.

All are distances: 0 for equal lists, 1 for the furthest apart. Lists may differ in items and in length.

- `jaccard_distance`: 1 - items in both / items in either.
- `kendall_distance`: the share of pairs of common items that stand the other way round, (1 - tau) / 2.
- `rbo_distance`: 1 - extrapolated rank-biased overlap (Webber, Moffat and Zobel 2010): the tops count most.
- `earth_movers_distance`: attention falls with rank (1 / log2(1 + rank), summing to 1); this is the least work that
  turns the attention of one list into that of the other, where moving it from item to item costs half the
  absolute difference of their topic maps. Two lists of other items on the same topics are near.

An engine gives different lists for the same query even to nobody in particular. `compare_lists` therefore sets
each distance against the same distance of two vanilla fetches, its noise floor, where there are two. Where an audit is
large, distances are measured on some of its queries, drawn by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, ParameterError
from aidos.rooms.audit.arrays import TopicMaps
from aidos.rooms.audit.chance import FREE, Signs, signs_p_value
from aidos.rooms.audit.designs import Design
from aidos.rooms.audit.findings import ListDifference
from aidos.rooms.audit.items import PairItems
from aidos.rooms.audit.numerics import linprog

__all__ = [
    "MOST_COMPARED",
    "MOST_MOVED",
    "Difference",
    "compare_lists",
    "distance_table",
    "earth_movers_distance",
    "jaccard_distance",
    "kendall_distance",
    "measure_differences",
    "rbo_distance",
]

Floats = NDArray[np.float64]
Items = Sequence[Hashable]
PERSISTENCE = 0.9
"""How likely the reader of rank-biased overlap goes on to the next rank."""
Longs = NDArray[np.int64]
Measure = Literal["jaccard", "kendall", "rbo", "earth-mover"]

MOST_COMPARED = 5_000
"""Queries whose lists are compared."""
MOST_MOVED = 500
"""Queries for which earth mover's distance is solved: a linear programme for each list."""


def jaccard_distance(first: Items, second: Items) -> float:
    """1 - items in both / items in either; 0 for two empty lists."""
    mine, theirs = _distinct(first), _distinct(second)
    return 1 - len(mine & theirs) / len(mine | theirs) if mine | theirs else 0.0


def kendall_distance(first: Items, second: Items) -> float:
    """The share of pairs of common items in the other order; 0 where fewer than two are common."""
    _distinct(first)
    ranks = {item: rank for rank, item in enumerate(second)} if _distinct(second) else {}
    common = np.array([ranks[item] for item in first if item in ranks], dtype=np.int64)
    if len(common) < 2:
        return 0.0
    turned = np.triu(common[:, None] > common[None, :], 1).sum()
    return float(turned) / (len(common) * (len(common) - 1) / 2)


def rbo_distance(first: Items, second: Items, persistence: float = PERSISTENCE) -> float:
    """1 - extrapolated rank-biased overlap; 0 for two empty lists, 1 for an empty one and another."""
    if not 0 < persistence < 1:
        raise ParameterError(f"persistence must lie between 0 and 1, got {persistence}")
    short, long = sorted((first, second), key=len)
    if not _distinct(short) or not _distinct(long):
        return 0.0 if not long else 1.0
    overlaps = [len(set(short[:depth]) & set(long[:depth])) for depth in range(1, len(long) + 1)]
    common, at_short = overlaps[-1], overlaps[len(short) - 1]
    total = sum(overlap / depth * persistence**depth for depth, overlap in enumerate(overlaps, 1))
    for depth in range(len(short) + 1, len(long) + 1):
        total += at_short * (depth - len(short)) / (len(short) * depth) * persistence**depth
    rest = (common - at_short) / len(long) + at_short / len(short)
    return max(0.0, 1 - (1 - persistence) / persistence * total - rest * persistence ** len(long))


def earth_movers_distance(first: Items, second: Items, maps: Mapping[Hashable, Floats] | None = None) -> float:
    """Least work between the attention of two lists; without topic maps all items are equally far apart."""
    mine, theirs = _attention(first), _attention(second)
    if not mine or not theirs:
        return 0.0 if mine == theirs else 1.0
    # The cost is a metric, so what an item has in both lists may stay where it is.
    more = {item: share - theirs.get(item, 0.0) for item, share in mine.items() if share > theirs.get(item, 0.0)}
    less = {item: share - mine.get(item, 0.0) for item, share in theirs.items() if share > mine.get(item, 0.0)}
    moved = sum(more.values())
    if maps is None or moved < 1e-12:
        return moved
    costs = np.array([[np.abs(maps[one] - maps[other]).sum() / 2 for other in less] for one in more])
    return _transport(np.array(list(more.values())), np.array(list(less.values())), costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One distance over many queries."""

    mean: float
    """Of personalised and vanilla lists."""
    noise: float | None
    """Of two vanilla fetches; None where there is only one."""
    p_value: float | None
    """How likely a mean so far above the noise is where personalised and second vanilla lists could be exchanged."""


def compare_lists(  # noqa: PLR0913 - three lists, and how they were asked
    distance: Callable[[Items, Items], float],
    vanilla: Sequence[Items],
    personalised: Sequence[Items],
    again: Sequence[Items] | None = None,
    *,
    seed: int = 0,
    signs: Signs = FREE,
) -> Difference:
    """The mean distance, its noise floor and an exact one-sided test of the difference by signs."""
    if not vanilla:
        raise InputError("there are no lists to compare")
    seen = np.array([distance(one, other) for one, other in zip(vanilla, personalised, strict=True)])
    if again is None:
        return Difference(mean=float(seen.mean()), noise=None, p_value=None)
    floor = np.array([distance(one, other) for one, other in zip(vanilla, again, strict=True)])
    p_value = signs_p_value(seen - floor, np.random.default_rng(seed), signs)
    return Difference(mean=float(seen.mean()), noise=float(floor.mean()), p_value=p_value)


def measure_differences(items: PairItems, maps: TopicMaps, design: Design, *, seed: int) -> tuple[ListDifference, ...]:
    """Every measure over the queries, with its noise floor where second vanilla lists are there to tell it."""
    generator = np.random.default_rng(seed)
    compared = _some(np.arange(len(design.account.queries)), MOST_COMPARED, generator)
    moved = _some(compared, MOST_MOVED, generator)
    known = _known(items, maps, design.account.queries[moved])
    found = []
    measures: tuple[tuple[Measure, Callable[[Items, Items], float], Longs], ...] = (
        *((measure, distance, compared) for measure, distance in DISTANCES.items()),
        ("earth-mover", partial(earth_movers_distance, maps=known), moved),
    )
    for measure, distance, chosen in measures:
        queries = design.account.queries[chosen].tolist()
        held, other = [], []
        for query, second in zip(queries, design.second[chosen].tolist(), strict=True):
            lists = items.vanilla_shown(query), items.again[query] or ()
            held.append(lists[0] if second or not design.controlled else lists[1])
            other.append(lists[1] if second else lists[0])
        difference = compare_lists(
            distance,
            held,
            [items.personalised_shown(query) for query in queries],
            other if design.controlled else None,
            seed=seed,
            signs=design.account.signs.of(chosen),
        )
        found.append(
            ListDifference(measure=measure, mean=difference.mean, noise=difference.noise, p_value=difference.p_value)
        )
    return tuple(found)


def distance_table(items: PairItems, queries: Longs) -> Floats:
    """Of all three lists of some queries: queries by pairs of lists by measures of order.

    Pairs are the two vanilla lists, the first of them and the personalised one, the second and that.
    """
    found = np.empty((len(queries), 3, len(DISTANCES)))
    for row, query in enumerate(queries.tolist()):
        one, two, account = items.vanilla_shown(query), items.again[query] or (), items.personalised_shown(query)
        for place, (first, second) in enumerate(((one, two), (one, account), (two, account))):
            found[row, place] = [distance(first, second) for distance in DISTANCES.values()]
    return found


DISTANCES: dict[Measure, Callable[[Items, Items], float]] = {
    "jaccard": jaccard_distance,
    "kendall": kendall_distance,
    "rbo": rbo_distance,
}
"""Those that need no topics."""


def _distinct(items: Items) -> set[Hashable]:
    found = set(items)
    if len(found) != len(items):
        raise InputError("a list holds the same item twice")
    return found


def _attention(items: Items) -> dict[Hashable, float]:
    _distinct(items)
    weights = 1 / np.log2(np.arange(2, len(items) + 2))
    return dict(zip(items, (weights / weights.sum()).tolist(), strict=True)) if items else {}


def _transport(more: Floats, less: Floats, costs: Floats) -> float:
    rows, columns = costs.shape
    out = np.kron(np.eye(rows), np.ones(columns))
    into = np.kron(np.ones(rows), np.eye(columns))
    # The sums of both sides are equal, so that the last equation follows from the others.
    limits = np.concatenate([more, less * (more.sum() / less.sum())])[:-1]
    found = linprog(costs.ravel(), A_eq=np.vstack([out, into])[:-1], b_eq=limits, method="highs")
    return float(found.fun)


def _some(queries: Longs, most: int, generator: np.random.Generator) -> Longs:
    if len(queries) <= most:
        return queries
    return np.sort(generator.choice(queries, most, replace=False))


def _known(items: PairItems, maps: TopicMaps, queries: Longs) -> dict[object, NDArray[np.float64]]:
    """Topic maps of the items of these queries, as vectors."""
    numbers = {item for query in queries.tolist() for item in (*items.vanilla[query], *(items.again[query] or ()))}
    return {item: maps.row(item) for item in numbers}
