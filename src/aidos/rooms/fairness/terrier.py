"""Equity of attention as a step of a PyTerrier pipeline: results in, the same results reordered out (R to R).

    pipeline = retriever >> equity_transformer(attention="geometric", quality_floor=0.9)

The subject of a result is its ``docno``, or what a column ``subject_id`` says; relevance is the score, which must not
be negative. Columns ``actor_id`` (with ``level="actor"``, where several results of a ranking may share an account) and
``searcher_id`` are used where they are needed. Every column is kept; ``score`` becomes one that falls with the rank.

Every query that passes through counts: a pipeline that is run twice over the same queries has served them twice. Fair
comparisons start with ``reset()``. Accounts live in memory; for accounts that last, use a store. PyTerrier is loaded
when the transformer is made, and Java is not needed.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

from aidos.errors import MissingExtraError
from aidos.rooms.fairness.accounts import MemoryKeeper
from aidos.rooms.fairness.equity import EquityOfAttention
from aidos.rooms.fairness.rankings import Ints, SubjectRanking
from aidos.rooms.fairness.reranker import Reranker

__all__ = ["EquityStep", "equity_transformer"]

NEEDED = ["qid", "docno", "score"]


def equity_transformer(**parameters: Any) -> Any:
    """A PyTerrier transformer with the parameters of `EquityOfAttention`."""
    try:
        terrier = import_module("pyterrier")  # an extra, and slow to load
    except ImportError:
        raise MissingExtraError("a PyTerrier transformer", extra="pyterrier") from None
    # PyTerrier recognises its own by their class, which is known only now.
    kind = type("EquityTransformer", (EquityStep, terrier.Transformer), {"__doc__": EquityStep.__doc__})
    return kind(EquityOfAttention(**parameters))


class EquityStep:
    """Re-ranks each query so that attention, over time, is in proportion to relevance."""

    def __init__(self, equity: EquityOfAttention) -> None:
        self.equity = equity
        self.reset()

    def reset(self) -> None:
        """Forget every ranking that was counted."""
        self.reranker = Reranker(self.equity, MemoryKeeper(half_life=self.equity.half_life))

    def transform(self, inp: Any) -> Any:
        """The same rows, by query and new rank."""
        terrier = import_module("pyterrier")
        terrier.validate.columns(inp, includes=NEEDED)
        return _reordered(inp, self.reranker, terrier.model.FIRST_RANK)

    def __repr__(self) -> str:
        values = {field.name: (getattr(self.equity, field.name), field.default) for field in fields(self.equity)}
        changed = [f"{name}={value!r}" for name, (value, default) in values.items() if value != default]
        return f"equity_transformer({', '.join(changed)})"


def _reordered(frame: Any, reranker: Reranker, first_rank: int) -> Any:
    """Rows of each query in the order to be served; queries in the order in which they came."""
    if "rank" in frame.columns:
        frame = frame.sort_values("rank", kind="stable")  # so that equals keep the order that they had
    wanted: list[Ints] = [np.zeros(0, dtype=np.int64)]
    queries = list(frame.groupby("qid", sort=False).indices.items())
    for number, (query, rows) in enumerate(queries, start=1):
        place = f"query {number} of {len(queries)}"
        ranking = _ranking(frame.iloc[rows], str(query), place)
        where = dict(zip(ranking.subject_ids, rows, strict=True))
        answer = reranker.rank(ranking)
        wanted.append(np.array([where[subject] for subject in answer.subject_ids], dtype=np.int64))
    served = frame.iloc[np.concatenate(wanted)].reset_index(drop=True)
    ranks = np.concatenate([np.arange(len(rows)) for rows in wanted])
    lengths = np.concatenate([np.full(len(rows), len(rows)) for rows in wanted])
    # What reads the result sorts by score: it must fall, and no two of a query may be equal.
    return served.assign(score=(lengths - ranks).astype(np.float64), rank=ranks + first_rank)


def _ranking(rows: Any, query: str, place: str) -> SubjectRanking:
    def column(name: str) -> list[str]:
        return [str(value) for value in rows[name]] if name in rows.columns else []

    return SubjectRanking(
        subject_ids=column("subject_id") or column("docno"),
        relevance=rows["score"].to_numpy(dtype=np.float64),
        query_id=query,
        searcher_id=next(iter(column("searcher_id")), ""),
        actors=column("actor_id"),
        place=place,
    )
