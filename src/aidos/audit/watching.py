"""What a person can look at, in words: queries with both lists side by side, and how far the lists differ by measure.

The evidence of `aidos.audit.evidence` and the distances of `aidos.audit.differences`, with titles, addresses and topics
in place of numbers. Where an audit is large, distances are measured on some of its queries, drawn by seed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from aidos.audit.arrays import PairArrays, TopicMaps
from aidos.audit.differences import (
    Items,
    compare_lists,
    earth_movers_distance,
    jaccard_distance,
    kendall_distance,
    rbo_distance,
)
from aidos.audit.evidence import Evidence, Move
from aidos.audit.findings import ListDifference, TopicReason, WatchedQuery, WatchedResult
from aidos.audit.items import PairItems
from aidos.audit.topics.space import TopicSpace

__all__ = ["MOST_COMPARED", "MOST_MOVED", "measure_differences", "watch_query"]

Longs = NDArray[np.int64]
Measure = Literal["jaccard", "kendall", "rbo", "earth-mover"]

MOST_COMPARED = 5_000
"""Queries whose lists are compared."""
MOST_MOVED = 500
"""Queries for which earth mover's distance is solved: a linear programme for each list."""


def watch_query(evidence: Evidence, pairs: PairArrays, items: PairItems, space: TopicSpace) -> WatchedQuery:
    """One query with all its results, and the topic that moved each."""
    query = evidence.query
    moves = {move.item: move for move in evidence.moves}
    ranks = pairs.ranks[pairs.starts[query] : pairs.starts[query + 1]].tolist()
    vanilla, personalised = items.shown[query]
    results = []
    for position, (item, rank) in enumerate(zip(items.personalised[query], ranks, strict=True), 1):
        held = rank <= vanilla, position <= personalised
        results.append(
            WatchedResult(
                title=items.items[item].title or items.items[item].words,
                address=items.items[item].url,
                vanilla_rank=rank,
                personalised_rank=position,
                shown_in="both" if all(held) else "vanilla" if held[0] else "personalised",
                reason=_reason(moves.get(item), space),
            )
        )
    return WatchedQuery(
        query=items.queries[query], strength=evidence.strength, switch=evidence.switch, results=tuple(results)
    )


def measure_differences(items: PairItems, maps: TopicMaps, *, seed: int) -> tuple[ListDifference, ...]:
    """Every measure over the queries, with its noise floor where second vanilla lists are there to tell it."""
    controlled = items.controlled_queries
    queries = controlled if len(controlled) else np.arange(len(items))
    generator = np.random.default_rng(seed)
    compared = _some(queries, MOST_COMPARED, generator)
    moved = _some(compared, MOST_MOVED, generator)
    found = []
    measures: tuple[tuple[Measure, Callable[[Items, Items], float], Longs], ...] = (
        ("jaccard", jaccard_distance, compared),
        ("kendall", kendall_distance, compared),
        ("rbo", rbo_distance, compared),
        ("earth-mover", partial(earth_movers_distance, maps=_known(items, maps, moved)), moved),
    )
    for measure, distance, chosen in measures:
        numbers = chosen.tolist()
        difference = compare_lists(
            distance,
            [items.vanilla_shown(query) for query in numbers],
            [items.personalised_shown(query) for query in numbers],
            [items.again[query] or () for query in numbers] if len(controlled) else None,
            seed=seed,
        )
        found.append(
            ListDifference(measure=measure, mean=difference.mean, noise=difference.noise, p_value=difference.p_value)
        )
    return tuple(found)


def _reason(move: Move | None, space: TopicSpace) -> TopicReason | None:
    if move is None or move.topic is None:
        return None
    return TopicReason(topic=space.topics[move.topic], push=move.push)


def _some(queries: Longs, most: int, generator: np.random.Generator) -> Longs:
    if len(queries) <= most:
        return queries
    return np.sort(generator.choice(queries, most, replace=False))


def _known(items: PairItems, maps: TopicMaps, queries: Longs) -> dict[object, NDArray[np.float64]]:
    """Topic maps of the items of these queries, as vectors."""
    numbers = {item for query in queries.tolist() for item in (*items.vanilla[query], *(items.again[query] or ()))}
    return {item: maps.row(item) for item in numbers}
