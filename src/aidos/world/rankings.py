"""Rankings of subjects by relevance, for whoever shares attention fairly.

Six systems: relevance that is uniform, linear or exponential in the rank; ratings with many ties near the top, as on
rental sites; the same subjects rated for seven queries; and a system where subjects join and leave from one ranking to
the next. Positions follow relevance, equal ones by subject. Relevance is raw: normalise it before comparing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from aidos.world.columns import column, repeated
from aidos.world.prose import digit_texts
from aidos.world.size import World
from aidos.world.streams import Floats, Ints, fresh_stream

__all__ = ["SYSTEMS", "ranking_blocks", "relevances"]

SYSTEMS = ("uniform", "linear", "exponential", "rating", "rating-multi", "changing")
"""Where the relevance comes from; the last two hold several rankings."""

SUBJECTS = 100
QUERIES = 7
STEPS = 60
LEAVES = 0.03
PRESENT_AT_FIRST = 0.6
HALVING = 0.5
GROUPS = 4


def relevances(shape: str, number: int, stream: np.random.Generator) -> Floats:
    """Relevance of that many subjects, highest first where the shape has an order."""
    ranks = np.arange(number, dtype=np.float64)
    match shape:
        case "uniform":
            return np.ones(number)
        case "linear":
            return number - ranks
        case "exponential":
            return HALVING ** ranks.clip(max=1000)
        case _:
            return _ratings(stream.beta(6.0, 0.9, number))


def ranking_blocks(world: World) -> Iterator[pa.Table]:
    """All systems, one after the other."""
    rated = int(np.clip(world.people // 5, SUBJECTS, 5_000))
    for system in SYSTEMS:
        stream = fresh_stream(world.seed, f"rankings {system}")
        number = rated if system.startswith("rating") else SUBJECTS
        if system == "rating-multi":
            scores = _several(stream, number)
        elif system == "changing":
            scores = _changing(stream, number)
        else:
            scores = relevances(system, number, stream)[None, :]
        for ranking, relevance in enumerate(scores):
            yield _table(system, ranking, relevance)


def _ratings(quality: Floats) -> Floats:
    """Ratings from 20 to 100: whole numbers at the top, where most are, so that many are equal."""
    rated: Floats = np.round(20 + 80 * quality)
    return rated


def _several(stream: np.random.Generator, number: int) -> Floats:
    """Ratings for several queries that mostly agree about a subject."""
    quality = stream.beta(6.0, 0.9, number)
    noise = stream.normal(0.0, 0.06, (QUERIES, number))
    return _ratings(np.clip(quality + noise, 0.0, 1.0))


def _changing(stream: np.random.Generator, number: int) -> Floats:
    """One query asked again and again while subjects join and leave; who is away has no relevance (not a number)."""
    relevance = relevances("rating", number, stream)
    present = stream.random(number) < PRESENT_AT_FIRST
    steps = np.empty((STEPS, number))
    for step in range(STEPS):
        changes = stream.random(number) < LEAVES
        present = present ^ changes
        steps[step] = np.where(present, relevance, np.nan)
    return steps


def _table(system: str, ranking: int, relevance: Floats) -> pa.Table:
    present: Ints = np.flatnonzero(~np.isnan(relevance))
    order = present[np.argsort(-relevance[present], kind="stable")]
    number = len(order)
    return pa.table(
        {
            "system": repeated(system, number),
            "ranking": column(np.full(number, ranking + 1, dtype=np.int32)),
            "query_id": repeated(_query(system, ranking), number),
            "object_id": digit_texts("subject", (order + 1, 5)),
            "position": column(np.arange(1, number + 1, dtype=np.int32)),
            "score": column(relevance[order]),
            "subject_group": digit_texts("host", (order % GROUPS + 1, 1)),
        }
    )


def _query(system: str, ranking: int) -> str:
    """Only the multi-query system asks different queries."""
    return f"{system}-{ranking + 1}" if system == "rating-multi" else system
