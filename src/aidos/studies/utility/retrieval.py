"""How well addresses are ranked from a log before and after it was released (Zhang, Yang and Singh, SIGIR 2016).

Two rankers of the paper that need nothing but counts: the random walk on queries, clicks and transitions (its Table 4)
and implicit feedback (Table 5). Five folds, nDCG@10, P@5, P@10 and MAP by `ir_measures`, and paired two-tailed t-tests.
What is relevant, and who is held out, is said in `aidos.studies.utility.heldout`: the paper does not.

Two questions are kept apart. Among *all* test queries one that a release does not have counts 0, which is what a search
service would feel. Among those *answered* after the release it is asked whether their rankings became worse; a release
of few queries may do well here. A query that was tried in several folds is one pair, with its mean.

Everything here is truth about the people of the log, hence a finding. AP is of the first ``depth`` addresses only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import md5
from importlib import import_module
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from annotated_types import Ge, Lt

from aidos.core.checks import check_parameters
from aidos.core.mechanism import Finding
from aidos.core.table import Table
from aidos.errors import InputError, MissingExtraError, ParameterError
from aidos.model.clickgraph import FEEDBACK_WEIGHT, SELF_LOOP, STEPS, ClickGraph, feedback_scores
from aidos.rooms.publish.countedtables import CountedTables
from aidos.studies.tables import PairedTest, paired_test
from aidos.studies.utility.heldout import HeldOut, Holding, hold_out

__all__ = [
    "MEASURES",
    "RANKERS",
    "Among",
    "RetrievalChange",
    "RetrievalSettings",
    "compare_retrieval",
    "cross_validate_retrieval",
    "score_retrieval",
]

MEASURES: Mapping[str, str] = {"nDCG@10": "nDCG@10", "P@5": "P@5", "P@10": "P@10", "MAP": "AP"}
"""Measures as they are shown, and what `ir_measures` calls them."""
RANKERS = ("random walk", "implicit feedback")
Among = Literal["all", "answered"]
ABOUT = "the people of the log"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """The two rankers, as the paper has them."""

    steps: Annotated[int, Ge(1)] = STEPS
    """Steps of the random walk."""
    self_loop: Annotated[float, Ge(0), Lt(1)] = SELF_LOOP
    """Probability that the walk stays at a query (s)."""
    feedback_weight: Annotated[float, Ge(0)] = FEEDBACK_WEIGHT
    """Weight of a later click beside the place by clicks (w)."""
    depth: Annotated[int, Ge(10)] = 100
    """Addresses that are ranked for a query."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalChange:
    """One measure of one ranker, before and after."""

    ranker: str
    measure: str
    among: Among
    test: PairedTest
    """Over queries."""


def score_retrieval(counted: CountedTables, held: HeldOut, settings: RetrievalSettings | None = None) -> pa.Table:
    """Both rankers, learned from these counts, on the queries of held-out people: one row a ranker and query.

    Columns: ranker, query (a number that stands for its text), answered (whether anything was ranked), and one for each
    of MEASURES. InputError where the counts have no clicks at all; an empty table of clicks ranks nothing and scores 0.
    """
    settings = settings or RetrievalSettings()
    if counted.clicks is None:
        raise InputError(
            "nothing can be ranked without clicks", hint="release clicks too: --items queries,clicks,pairs"
        )
    graph = ClickGraph.of(counted.clicks, counted.pairs)
    queries = [str(query) for query in held.relevance.column("user_query").unique().to_pylist()]
    walked = graph.rank_all(queries, most=settings.depth, steps=settings.steps, self_loop=settings.self_loop)
    scored = feedback_scores(graph, queries, held.feedback, weight=settings.feedback_weight)
    rankings = dict(zip(RANKERS, (walked, graph.ranked(scored, most=settings.depth)), strict=True))
    judged = _Judged.of(queries, held.relevance)
    return pa.concat_tables(judged.scores(ranker, ranked) for ranker, ranked in rankings.items())


def cross_validate_retrieval(
    log: Table,
    sources: Mapping[str, Callable[[Table], CountedTables]],
    *,
    how: Holding | None = None,
    settings: RetrievalSettings | None = None,
) -> Finding[pa.Table]:
    """Score what each source makes of the training log, in every fold.

    A source counts a log or releases it: {"original": ..., "released": ...}. The table has the columns of
    `score_retrieval` after fold and source.
    """
    how = how or Holding()
    parts = []
    for fold in range(how.folds):
        held = hold_out(log, fold, how)
        for name, make in sources.items():
            scored = score_retrieval(make(held.training), held, settings)
            columns = {"fold": pa.repeat(pa.scalar(fold, pa.int64()), len(scored)), "source": _texts(name, len(scored))}
            parts.append(pa.table({**columns, **{each: scored.column(each) for each in scored.column_names}}))
    return Finding(value=pa.concat_tables(parts), about=ABOUT)


def compare_retrieval(
    scores: Finding[pa.Table], before: str, after: str, *, among: Among = "all"
) -> Finding[tuple[RetrievalChange, ...]]:
    """Each measure of each ranker from one source to another, over queries, with a paired t-test."""
    strange = [name for name in (before, after) if name not in scores.value.column("source").to_pylist()]
    if strange:
        raise ParameterError(f"there are no scores of {', '.join(strange)}", hint="name sources that were scored")
    changes = []
    for ranker in RANKERS:
        one, other = (
            scores.value.filter((pc.field("source") == source) & (pc.field("ranker") == ranker)).sort_by(
                [("fold", "ascending"), ("query", "ascending")]
            )
            for source in (before, after)
        )
        if not one.select(["fold", "query"]).equals(other.select(["fold", "query"])):
            raise InputError(
                f"{before} and {after} were not tried on the same queries", hint="hold out the same people"
            )
        kept = other.column("answered") if among == "answered" else None
        means = [_means_of_queries(table if kept is None else table.filter(kept)) for table in (one, other)]
        changes += [
            RetrievalChange(
                ranker=ranker,
                measure=measure,
                among=among,
                test=paired_test(*(table.column(measure).to_numpy() for table in means)),
            )
            for measure in MEASURES
        ]
    return Finding(value=tuple(changes), about=scores.about)


@dataclass(frozen=True, slots=True)
class _Judged:
    """Test queries and what is relevant to each; `ir_measures` knows a query by its place."""

    queries: list[str]
    measures: list[Any]
    evaluator: Any

    @classmethod
    def of(cls, queries: list[str], relevance: pa.Table) -> _Judged:
        try:
            package = import_module("ir_measures")
        except ImportError as error:
            raise MissingExtraError("measuring rankings", extra="fairness") from error
        places = {query: str(place) for place, query in enumerate(queries)}
        grades: dict[str, dict[str, int]] = {}
        for query, address, grade in _rows(relevance, ("user_query", "object_id", "grade")):
            grades.setdefault(places[str(query)], {})[str(address)] = int(str(grade))
        measures = [package.parse_measure(name) for name in MEASURES.values()]
        return cls(queries, measures, package.evaluator(measures, grades))

    def scores(self, ranker: str, ranked: pa.Table) -> pa.Table:
        """The measures of each query's ranking, by order alone: scores of equals would be sorted by name again."""
        run: dict[str, dict[str, float]] = {}
        for place, address in _rows(ranked, ("place", "object_id")):
            found = run.setdefault(str(place), {})
            found[str(address)] = -float(len(found))
        values = np.zeros((len(self.measures), len(self.queries)))
        # Measures compare by their words, so a look into a dictionary is several times quicker than a search.
        rows = {measure: row for row, measure in enumerate(self.measures)}
        for each in self.evaluator.iter_calc(run) if run else ():
            values[rows[each.measure], int(each.query_id)] = each.value
        answered = np.array([str(place) in run for place in range(len(self.queries))], dtype=np.bool_)
        named = {
            "ranker": _texts(ranker, len(self.queries)),
            "query": pa.array([_stand_in(query) for query in self.queries], pa.int64()),
            "answered": pa.array(answered),
        }
        return pa.table({**named, **{name: pa.array(values[row]) for row, name in enumerate(MEASURES)}})


def _means_of_queries(scores: pa.Table) -> pa.Table:
    """One row a query, with its mean over folds, in the order of the queries."""
    grouped = scores.group_by("query").aggregate([(measure, "mean") for measure in MEASURES])
    named = {"query": grouped.column("query")} | {name: grouped.column(f"{name}_mean") for name in MEASURES}
    return pa.table(named).sort_by("query")


def _stand_in(query: str) -> int:
    """A number for a query, the same in every fold and run, so that tables of scores hold nobody's words."""
    return int.from_bytes(md5(query.encode(), usedforsecurity=False).digest()[:7])


def _texts(text: str, number: int) -> pa.Array[Any]:
    return pa.repeat(pa.scalar(text, pa.string()), number)


def _rows(table: pa.Table, columns: tuple[str, ...]) -> Iterable[tuple[object, ...]]:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)
