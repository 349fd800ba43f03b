"""People of a log held out, so that what is learned from the others can be tried on them.

The paper on the pool release (Zhang, Yang and Singh, SIGIR 2016) divides the log into five parts, learns from four and
tries the fifth; it does not say by what it divides, nor what it takes for relevant. Here whole people are held out: a
query is then asked on both sides by different people, and a guarantee for a person is about one side. Folds over
distinct queries could not work, since a graph of clicks ranks nothing for a query that it has never seen.

Logs have no judgements, so what held-out people clicked is what is relevant to a query, graded by how many of them did.
The positions that implicit feedback takes come from held-out people, too, but from others: had they been the same, the
feedback would tell the answer. Whoever has judgements puts them in the place of ``relevance``. Clicks are no
judgements: they favour what stood high on the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pyarrow as pa
from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.core.table import Table
from aidos.errors import ParameterError
from aidos.rooms.publish.items import KINDS, PERSON, contributions
from aidos.studies.utility.originals import UnsuitedLogError

__all__ = ["HeldOut", "Holding", "hold_out", "require_relevance"]

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
