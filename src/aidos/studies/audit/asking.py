"""Which queries to ask next: those whose results would tell most about what is still undecided.

Queries that anybody might ask tell little about one topic: few of their lists hold it beside others. So some are asked
first, as a pilot, and the rest is chosen by it. A topic counts by the square of how far it has risen so far; what has
sunk need not be hidden, and counts nothing. A query tells about a topic as much as its list mixes it with others: the
variance of the topic's shares among the results, which are looked up without an account, so that the look feeds no
profile. Half of the queries are chosen for topics that the taxonomy calls sensitive, half for all. Topics take turns by
what they count, less what was chosen for them already.

The pilot chose the queries, so it must not judge by them: what is audited are the chosen queries alone. Whether the
service personalised a chosen query does not depend on the choice, so that the tests keep their rate of false alarms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aidos.core.resultpairs import Result, ResultPair
from aidos.model.topicsearch import TopicSearch
from aidos.rooms.audit.auditing import DescribedPairs, describe_pairs
from aidos.rooms.audit.chance import TINY
from aidos.rooms.audit.shifts import shifts_by_query
from aidos.rooms.audit.topics.taxonomy import TaxonomyTopics

__all__ = ["choose_queries"]

Floats = NDArray[np.float64]


def choose_queries(
    pilot: Sequence[ResultPair], candidates: Sequence[Sequence[Result]], search: TopicSearch, number: int
) -> list[int]:
    """The numbers of the candidates to ask, by their lists without an account; at most as many as there are."""
    asked = describe_pairs(pilot, TaxonomyTopics(search))
    ids = asked.described.space.ids
    risen = np.maximum(_scores(asked), 0.0) ** 2
    private = np.array([bool(search.taxonomy.sensitive_category(topic)) for topic in ids])
    told = _mixing(candidates, TaxonomyTopics(search, ids))
    left, chosen = np.ones(len(candidates), dtype=np.bool_), list[int]()
    for counts, part in ((risen * private, number // 2), (risen, number - number // 2)):
        had = np.zeros(len(ids))
        for _ in range(min(part, int(left.sum()))):
            best = int(np.argmax(np.where(left, told @ (counts / (1 + had)), -1.0)))
            left[best] = False
            had += told[best] / max(float(told[best].max()), TINY)
            chosen.append(best)
    return chosen


def _scores(asked: DescribedPairs) -> Floats:
    """By how many standard deviations each topic rose, beyond the second list without an account."""
    maps, design = asked.described.maps, asked.design
    queries = design.account.queries
    shifts = shifts_by_query(asked.items.arrays(maps).take(queries))
    if design.controlled:
        shifts -= shifts_by_query(asked.items.control(maps, queries, design.second))
    lengths = np.sqrt((shifts**2).sum(axis=0))
    found: Floats = np.divide(shifts.sum(axis=0), lengths, out=np.zeros_like(lengths), where=lengths > TINY)
    return found


def _mixing(lists: Sequence[Sequence[Result]], topics: TaxonomyTopics) -> Floats:
    """The variance of each topic's shares among the results of each list."""
    numbers: dict[str, int] = {}
    results: list[Result] = []
    numbered = []
    for shown in lists:
        for result in shown:
            if numbers.setdefault(result.identity, len(results)) == len(results):
                results.append(result)
        numbered.append([numbers[result.identity] for result in shown])
    maps = topics.describe(results, numbered).maps
    rows = np.array([maps.row(item) for item in range(len(results))])
    return np.array([rows[items].var(axis=0) for items in numbered])
