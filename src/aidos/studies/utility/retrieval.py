"""How well addresses are ranked from a log before and after it was released (Zhang, Yang and Singh, SIGIR 2016).

Two rankers of the paper that need nothing but counts: the random walk on queries, clicks and transitions (its Table 4)
and implicit feedback (Table 5). Five folds, nDCG@10, P@5, P@10 and MAP by `ir_measures`, and paired two-tailed t-tests.
What is relevant, and who is held out, is said below: the paper does not.

Two questions are kept apart. Among *all* test queries one that a release does not have counts 0, which is what a search
service would feel. Among those *answered* after the release it is asked whether their rankings became worse; a release
of few queries may do well here. A query that was tried in several folds is one pair, with its mean.

Everything here is truth about the people of the log, hence a finding. AP is of the first ``depth`` addresses only.

People of a log held out, so that what is learned from the others can be tried on them. The paper on the pool release
(Zhang, Yang and Singh, SIGIR 2016) divides the log into five parts, learns from four and tries the fifth; it does not
say by what it divides, nor what it takes for relevant. Here whole people are held out: a query is then asked on both
sides by different people, and a guarantee for a person is about one side. Folds over distinct queries could not work,
since a graph of clicks ranks nothing for a query that it has never seen.

Logs have no judgements, so what held-out people clicked is what is relevant to a query, graded by how many of them did.
The positions that implicit feedback takes come from held-out people, too, but from others: had they been the same, the
feedback would tell the answer. Whoever has judgements puts them in the place of ``relevance``. Clicks are no
judgements: they favour what stood high on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
from aidos.rooms.publish.items import KINDS, PERSON, contributions
from aidos.rooms.publish.released import CountedTables
from aidos.studies.tables import PairedTest, paired_test
from aidos.studies.utility.originals import UnsuitedLogError

__all__ = [
    "MEASURES",
    "RANKERS",
    "Among",
    "HeldOut",
    "Holding",
    "RetrievalChange",
    "RetrievalSettings",
    "compare_retrieval",
    "hold_out",
    "require_relevance",
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
            raise MissingExtraError("measuring rankings", extra="studies") from error
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


DIGITS = 8
"""Of a digest, in hexadecimal: enough to divide people evenly."""
NOTHING_RELEVANT = "nobody who was held out clicked anything, so nothing is known to be relevant"
MORE_CLICKS = "use a log with clicks, or of more people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """How people are held out."""

    folds: Annotated[int, Ge(2)] = 5
    """Parts that the people are divided into."""
    queries: Annotated[int, Ge(2)] = 2_000
    """Queries of held-out people that are tried in each fold, at most; what many asked is likelier among them."""
    seed: Annotated[int, Ge(0)] = 7
    """Of the division and the choice."""

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """One fold: whom to learn from, and what the others tell."""

    training: Table
    """The log of everybody else."""
    feedback: pa.Table | None = field(repr=False)
    """user_query, object_id, position (the mean) of the first half of those held out; None if the log has none."""
    relevance: pa.Table = field(repr=False)
    """user_query, object_id, grade: how many of the second half clicked it, or judgements."""


def hold_out(log: Table, fold: int, how: Holding | None = None) -> HeldOut:
    """Hold out the people of one fold, counted from 0; UnsuitedLogError for a log without clicks."""
    how = how or Holding()
    if not 0 <= fold < how.folds:
        raise ParameterError(f"folds are counted from 0 to {how.folds - 1}, got {fold}")
    if missing := [name for name in ("client_id", "user_query", "object_id") if name not in log.columns]:
        raise UnsuitedLogError(
            f"retrieval needs a log with clicks, and this one has no column {', '.join(missing)}",
            hint="use a log that says what was clicked",
        )
    part = f"{_number(how.seed, 'client_id')} % {how.folds}"
    half = f"({_number(how.seed, 'client_id')} // {how.folds}) % 2"
    training = log.select(f"select * from {{table}} where {part} <> {fold}")
    first = log.select(f"select * from {{table}} where {part} = {fold} and {half} = 0")
    second = log.select(f"select * from {{table}} where {part} = {fold} and {half} = 1")
    return HeldOut(training=training, feedback=_feedback(first), relevance=_relevance(second, how))


def require_relevance(clicks: Table, how: Holding) -> None:
    """Refuse a log, by the people of its clicks, that would leave a fold without anything relevant."""
    number = _number(how.seed, PERSON)
    half = f"({number} // {how.folds}) % 2"
    parts = clicks.rows(f"select distinct {number} % {how.folds} from {{table}} where {half} = 1")
    if len(parts) < how.folds:
        raise UnsuitedLogError(NOTHING_RELEVANT, hint=MORE_CLICKS)


def _number(seed: int, text: str) -> str:
    """SQL: a number from a text and the seed that is the same on every engine."""
    return f"cast('0x' || substr(md5('{seed}' || chr(31) || cast({text} as varchar)), 1, {DIGITS}) as bigint)"


def _relevance(log: Table, how: Holding) -> pa.Table:
    clicks = contributions(log, KINDS["clicks"])
    # Clicks in a random order, and of those the first queries: drawn as people ask them, each once.
    drawn = f"min(md5('{how.seed}' || chr(31) || person || chr(31) || user_query))"
    chosen = f"""
        select user_query from {clicks.name} group by user_query order by {drawn}, user_query limit {how.queries}
    """
    found = clicks.fetch(f"""
        select user_query, object_id, count(*) as grade from {{table}} where user_query in ({chosen})
        group by all order by all
    """)
    if not len(found):
        raise UnsuitedLogError(NOTHING_RELEVANT, hint=MORE_CLICKS)
    return found


def _feedback(log: Table) -> pa.Table | None:
    known = log.columns
    if "position" not in known:
        return None
    clicked = "and coalesce(lower(action), 'click') = 'click'" if "action" in known else ""
    return log.fetch(f"""
        select user_query, cast(object_id as varchar) as object_id, avg(cast("position" as double)) as position
        from {{table}}
        where user_query is not null and object_id is not null and "position" >= 1 {clicked}
        group by all order by all
    """)
