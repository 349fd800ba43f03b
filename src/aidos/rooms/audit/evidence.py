"""What a person can look at: queries where the profile acted, which result moved where, and because of which topic.

Queries are ordered by rho_q (ln g - ln f): how much better the profile explains the personalised list than chance does,
and how likely it was at work at all. Within a query, topic k lifts item d by gamma m_k (theta_dk - mean of the list);
the topic named for a move is the one that pushed furthest in the direction in which the item went. This is the model's
explanation; an engine may have had another reason.

In words it is queries with both lists side by side, with titles, addresses and topics in place of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.rooms.audit.arrays import PairArrays
from aidos.rooms.audit.densities import log_mean_personalised, log_vanilla
from aidos.rooms.audit.findings import TopicReason, WatchedQuery, WatchedResult
from aidos.rooms.audit.inference import LearnedProfile
from aidos.rooms.audit.items import PairItems
from aidos.rooms.audit.topics.space import TopicSpace

__all__ = [
    "Evidence",
    "Move",
    "explain_query",
    "find_evidence",
    "strengths",
    "watch_query",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One result that stands elsewhere in the personalised list."""

    item: int
    vanilla_rank: int
    personalised_rank: int
    topic: int | None
    """The topic that pushed it furthest that way; None where no topic did."""
    push: float
    """How far that topic pushed, in units of utility; below 0 it pushed down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One query where the profile seems to have acted."""

    query: int
    strength: float
    """rho (ln g - ln f)."""
    switch: float
    """How likely the query was personalised, rho."""
    moves: tuple[Move, ...]
    """In personalised order."""


def strengths(pairs: PairArrays, profile: LearnedProfile) -> Floats:
    """How strongly each query that the profile was learned from speaks for it: rho (ln g - ln f)."""
    if len(profile.switches) != len(pairs):
        raise InputError(f"the profile was learned from {len(profile.switches)} queries, these are {len(pairs)}")
    lifted = log_mean_personalised(pairs, pairs.maps.dot(profile.weights), profile.mix, 0.0).values
    return profile.switches * (lifted - log_vanilla(pairs, profile.concentration).values)


def explain_query(pairs: PairArrays, profile: LearnedProfile, query: int) -> tuple[Move, ...]:
    """Which results moved where, because of which topic."""
    places = range(pairs.starts[query], pairs.starts[query + 1])
    maps = np.array([pairs.maps.row(int(pairs.items[place])) for place in places])
    pushes = profile.mix * profile.weights * (maps - maps.mean(axis=0))
    found = []
    for place, push in zip(places, pushes, strict=True):
        rank, position = int(pairs.ranks[place]), int(pairs.positions[place])
        if rank == position:
            continue
        direction = 1 if position < rank else -1
        topic = int(np.argmax(direction * push))
        named = topic if direction * push[topic] > 0 else None
        found.append(
            Move(
                item=int(pairs.items[place]),
                vanilla_rank=rank,
                personalised_rank=position,
                topic=named,
                push=float(push[topic]) if named is not None else 0.0,
            )
        )
    return tuple(found)


def find_evidence(pairs: PairArrays, profile: LearnedProfile, *, most: int = 10) -> tuple[Evidence, ...]:
    """The strongest queries first; only those that speak for the profile, and whose lists differ."""
    strength = strengths(pairs, profile)
    order = np.argsort(-strength, kind="stable")
    chosen = [int(query) for query in order if strength[query] > 0 and pairs.changed[query]][:most]
    return tuple(
        Evidence(
            query=query,
            strength=float(strength[query]),
            switch=float(profile.switches[query]),
            moves=explain_query(pairs, profile, query),
        )
        for query in chosen
    )


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


def _reason(move: Move | None, space: TopicSpace) -> TopicReason | None:
    if move is None or move.topic is None:
        return None
    return TopicReason(topic=space.topics[move.topic], push=move.push)
