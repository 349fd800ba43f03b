"""What a profile does to lists of results, where it is known which results were wanted.

A query of the sample world is put to a search service over the world's documents. Wanted are the results about the
topic that the query meant in truth; queries for which none or all results are wanted say nothing and are left out. The
same list is put in order without a profile, with the whole profile (every leaf that the searcher holds), with what is
sent of unmarked topics (the default), and with what pruning leaves under each limit of the excess risk: UScore, fused
with the service's order by Borda's count. Quality is average precision, average rank and rank scoring.

Average precision is 1/n sum of i / rank(l_i) over the wanted results in order of rank, counted from 1; rank scoring
(Breese et al. 1998) halves the worth of a result every so many ranks and is given as a share of the best possible.

    ambiguous   DP(q,R) <= 0.44        medium   between        distinct   DP(q,R) >= 0.82, where no profile is sent

The world's people click on what they meant and nothing else, so that profiles fit better than those of real people.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.core.progress import SILENT, Progress
from aidos.errors import InputError, ParameterError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.search import search
from aidos.model.text.analyser import Analyser
from aidos.model.topicsearch import TopicHits, TopicSearch
from aidos.rooms.shield.profile.decision import decide
from aidos.rooms.shield.profile.generalisation import ProfileGeneralisation, QueryAndProfile
from aidos.rooms.shield.profile.requirement import HeldProfile
from aidos.rooms.shield.profile.rerank import Results, leaves_of, rerank, topic_relevances, user_scores
from aidos.rooms.shield.profile.seed import power_of_query
from aidos.studies.ups.plan import UpsExperiment
from aidos.studies.ups.searchers import Asked, Corpus, Person, Society

__all__ = [
    "AMBIGUOUS",
    "CLASSES",
    "DISTINCT",
    "GENERALISED",
    "NONE",
    "UNMARKED",
    "WHOLE",
    "Clarity",
    "average_precision",
    "average_rank",
    "measure_reranking",
    "rank_scoring",
    "wanted_ranks",
]

Places: TypeAlias = NDArray[np.int32]
Clarity: TypeAlias = Literal["ambiguous", "medium", "distinct"]
"""How clearly a query tells its meaning without a profile."""
CLASSES: tuple[Clarity, ...] = ("ambiguous", "medium", "distinct")
AMBIGUOUS, DISTINCT = 0.44, 0.82
"""Powers of a query up to which it is ambiguous, and from which it is distinct."""
NONE, WHOLE, GENERALISED, UNMARKED = "service's order", "whole profile", "generalised", "unmarked"
"""How a list was ordered."""
HALF_LIFE = 5
"""Rank at which a result is worth half as much as the first."""
READING = Analyser(stop_words="english", stemmer="english")


def measure_reranking(asked: UpsExperiment, society: Society, *, progress: Progress = SILENT) -> pa.Table:
    """A row for each query, way to order and limit."""
    lists = _Lists(society, asked.results)
    rows: list[dict[str, Any]] = []
    with progress.task("re-ranking", total=len(society.searchers), unit="people") as task:
        for number, searcher in enumerate(society.searchers):
            person = society.person(searcher)
            for place, query in enumerate(searcher.queries):
                about = {"searcher": number, "query": place}
                rows += [{**about, **row} for row in _ordered(asked.limits, society, person, query, lists)]
            task.advance(1)
    if not rows:
        raise InputError("no query has both wanted and other results", hint="take more people (--size)")
    return pa.Table.from_pylist(rows)


class _Lists:
    """Results of queries, with the topics of what they show."""

    def __init__(self, society: Society, size: int) -> None:
        if society.corpus is None:
            raise ParameterError("what these queries meant is not known, so that no list can be judged")
        self._corpus: Corpus = society.corpus
        self._search: TopicSearch = society.search
        self._index = Index.build(society.corpus.whole, analyser=READING, columns=("object_id", "text"))
        self._size = size
        self._topics: dict[str, TopicHits] = {}

    def results(self, query: Asked) -> tuple[str, ...]:
        """The service's list, best first."""
        return tuple(search(self._index, query.text, size=self._size).ids)

    def topics(self, names: Sequence[str]) -> list[TopicHits]:
        """The topics of each result's title and snippet."""
        for name in names:
            if name not in self._topics:
                self._topics[name] = self._search.find(self._corpus.texts[self._corpus.numbers[name]])
        return [self._topics[name] for name in names]

    def wanted(self, query: Asked, names: Sequence[str]) -> frozenset[str]:
        """Results about what the query meant."""
        corpus = self._corpus
        return frozenset(name for name in names if corpus.topics[corpus.numbers[name]] == query.meant)


def _ordered(
    limits: Sequence[float], society: Society, person: Person, query: Asked, lists: _Lists
) -> Iterator[dict[str, Any]]:
    """One query in all ways."""
    if not query.meant:
        return
    names = lists.results(query)
    wanted = lists.wanted(query, names)
    if not 0 < len(wanted) < len(names):
        return
    topics = lists.topics(names)
    power = power_of_query(society.tree, query.hits)
    about = {"clarity": _clarity(power), "power": power, "wanted": len(wanted)}

    done: dict[tuple[bool, bytes], dict[str, Any]] = {}

    def row(method: str, limit: float, shown: Places, held: HeldProfile, outcome: str = "") -> dict[str, Any]:
        # Most limits show the same topics, and the same topics give the same order.
        if (key := (held is person.held, shown.tobytes())) not in done:
            ranking = _personal(society, held, names, topics, shown)
            done[key] = {"moved": ranking != names, **_measured(ranking, wanted)}
        return {**about, "method": method, "limit": limit, "outcome": outcome, **done[key]}

    yield row(NONE, 0.0, np.zeros(0, np.int32), person.held)
    yield row(WHOLE, 1.0, person.held.places, person.held)
    data = QueryAndProfile(tree=society.tree, held=person.held, layer=person.layer, hits=query.hits)
    found = decide(ProfileGeneralisation(distinct_from=DISTINCT), data)
    yield row(UNMARKED, 0.0, found.sent, found.basis, found.outcome)
    for limit in limits:
        found = decide(ProfileGeneralisation(risk="excess", risk_limit=limit, distinct_from=DISTINCT), data)
        yield row(GENERALISED, limit, found.sent, found.basis, found.outcome)


def _personal(
    society: Society, held: HeldProfile, names: tuple[str, ...], topics: Sequence[TopicHits], shown: Places
) -> tuple[str, ...]:
    """The list in the order of the topics shown; as it is where none says anything."""
    leaves = leaves_of(society.tree, shown)
    if not len(leaves):
        return names
    scores = user_scores(held, leaves, topic_relevances(society.tree, leaves, topics))
    return rerank(Results(object_ids=names), scores).object_ids


def _measured(ranking: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
    ranks = wanted_ranks(ranking, wanted)
    return {"precision": average_precision(ranks), "rank": average_rank(ranks), "scoring": rank_scoring(ranks)}


def _clarity(power: float) -> Clarity:
    if power <= AMBIGUOUS:
        return "ambiguous"
    return "distinct" if power >= DISTINCT else "medium"


def wanted_ranks(ranking: Sequence[Hashable], wanted: Collection[Hashable]) -> NDArray[np.int64]:
    """Where wanted results stand, counted from 1, in order; those that the ranking lacks have no rank."""
    return np.array([place for place, result in enumerate(ranking, 1) if result in wanted], dtype=np.int64)


def average_precision(ranks: Sequence[int] | NDArray[np.int64]) -> float:
    """1/n sum of i / rank of the i-th wanted result; 1 where they come first."""
    ordered = _sorted_ranks(ranks)
    return float(np.mean(np.arange(1, len(ordered) + 1) / ordered))


def average_rank(ranks: Sequence[int] | NDArray[np.int64]) -> float:
    """The mean rank of the wanted results: less is better."""
    return float(np.mean(_sorted_ranks(ranks)))


def rank_scoring(ranks: Sequence[int] | NDArray[np.int64], half_life: float = HALF_LIFE) -> float:
    """Worth of the wanted results where they stand, as a share of what they would be worth at the top."""
    if not half_life > 1:
        raise ParameterError(f"half_life must be above 1, got {half_life}")
    ordered = _sorted_ranks(ranks)
    best = np.arange(1, len(ordered) + 1)
    worth, most = (np.exp2(-(at - 1) / (half_life - 1)).sum() for at in (ordered, best))
    return float(worth / most)


def _sorted_ranks(ranks: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    ordered = np.sort(np.asarray(ranks, dtype=np.int64))
    if not len(ordered):
        raise ParameterError("no wanted result is in the ranking, so that it has no quality to measure")
    if ordered[0] < 1 or (np.diff(ordered) == 0).any():
        raise ParameterError("ranks are counted from 1, and no two results share one")
    return ordered
