"""The graph of queries, clicks and transitions, and the random walk that ranks addresses on it.

After Craswell and Szummer (2007), in the form that Zhang, Yang and Singh (SIGIR 2016) measure anonymised logs with.
Nodes are queries and addresses. From a query the walk stays with the probability of the self loop s, and otherwise goes
to an address clicked for it or to a query asked next, in proportion to their counts: P(k | j) = (1 - s) C_jk / sum of
C_j. Addresses lead nowhere, so the walk stays there, and so does a query without clicks and successors. After a few
steps addresses are ranked by the probability that the walk is there.

It needs counts only: those of a log, or those of a release. The walk from every asked query is one chain of sparse
products (`tests/oracles/clickgraph.py` walks node by node, to check it). What it does not promise: a ranking for a
query that the counts do not have, and anything about what an address holds.

`feedback_scores` is implicit feedback: addresses by how often they were clicked, moved up where later searchers clicked
them.

After Agichtein, Brill and Dumais (2006), as Zhang, Yang and Singh (SIGIR 2016) measure anonymised logs with it: S(d) =
w / (I_d + 1) + 1 / (O_d + 1). O_d is the place of the address among those that the counts have for the query, by clicks
(1 for the most); I_d is the position at which it was clicked in the feedback, and without feedback for it only the
second term is there. Addresses that the counts do not have for the query are not ranked, whatever the feedback says:
otherwise a release without anything in it would rank well.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.errors import MissingExtraError, ParameterError

try:
    from scipy.sparse import csr_array, vstack
except ImportError as error:
    raise MissingExtraError("ranking addresses by clicks", extra="fairness") from error

__all__ = ["FEEDBACK_WEIGHT", "SELF_LOOP", "STEPS", "ClickGraph", "RankedAddress", "feedback_scores"]

Ints = NDArray[np.int64]
STEPS = 3
SELF_LOOP = 0.1
BLOCK = 1_000
"""Queries of one product."""
QUERIES_AT_ONCE = 10_000
"""Queries that are ranked together: what they reach is held in memory."""
COLUMNS: dict[str, pa.DataType] = {"place": pa.int64(), "object_id": pa.string(), "score": pa.float64()}


@dataclass(frozen=True, slots=True)
class RankedAddress:
    """An address and its score; scores of one query compare with each other only."""

    address: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClickGraph:
    """Counts as two sparse matrices; make one with `of`."""

    queries: pa.StringArray = field(repr=False)
    """All queries in order: those of clicks, and those before and after others."""
    addresses: pa.StringArray = field(repr=False)
    """All clicked addresses in order."""
    clicks: Any = field(repr=False)
    """Queries by addresses: counts."""
    transitions: Any = field(repr=False)
    """Queries by next queries: counts; nothing on the diagonal."""

    @classmethod
    def of(cls, clicks: pa.Table, transitions: pa.Table | None = None) -> ClickGraph:
        """From counted clicks (user_query, object_id, count) and transitions (user_query, next_query, count).

        Rows of the same item add up. Counts of 0 and below, which noise makes, and a query after itself, for which
        there is the self loop, are left out.
        """
        clicked = _positive(clicks)
        followed = _positive(transitions) if transitions is not None else None
        columns = [clicked.column("user_query")]
        if followed is not None:
            followed = followed.filter(pc.field("user_query") != pc.field("next_query"))
            columns += [followed.column("user_query"), followed.column("next_query")]
        queries, addresses = _names(columns), _names([clicked.column("object_id")])
        size = len(queries)
        return cls(
            queries=queries,
            addresses=addresses,
            clicks=_matrix(clicked, (queries, addresses), ("user_query", "object_id")),
            transitions=csr_array((size, size), dtype=np.float64)
            if followed is None
            else _matrix(followed, (queries, queries), ("user_query", "next_query")),
        )

    def places(self, queries: Sequence[str]) -> Ints:
        """Where queries stand in the graph; -1 for those that it does not have."""
        found = pc.index_in(pa.array(queries, pa.string()), value_set=self.queries)
        return found.fill_null(-1).to_numpy().astype(np.int64)

    def chances(self, self_loop: float = SELF_LOOP) -> tuple[Any, Any]:
        """From each query to each query, and to each address, in one step: rows of the two together sum up to 1."""
        if not 0 <= self_loop < 1:
            raise ParameterError(f"the self loop must be at least 0 and less than 1, got {self_loop!r}")
        total = self.clicks.sum(axis=1) + self.transitions.sum(axis=1)
        share = np.divide(1 - self_loop, total, out=np.zeros_like(total), where=total > 0)
        stays = _diagonal(np.where(total > 0, self_loop, 1.0))
        return (_scaled(self.transitions, share) + stays).tocsr(), _scaled(self.clicks, share)

    def walk(self, queries: Sequence[str], *, steps: int = STEPS, self_loop: float = SELF_LOOP) -> Any:
        """The probability of each address after so many steps from each query: a sparse matrix, queries by addresses.

        A query that the graph does not have gets an empty row.
        """
        if steps < 1:
            raise ParameterError(f"a walk has at least 1 step, got {steps}")
        chances, places = self.chances(self_loop), self.places(queries)
        blocks = [places[start : start + BLOCK] for start in range(0, len(places), BLOCK)]
        # Products of few rows stay in the processor's cache, and they let go of the interpreter.
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = list(pool.map(lambda block: _walked(block, *chances, steps), blocks))
        return vstack(found, format="csr") if found else csr_array((0, len(self.addresses)), dtype=np.float64)

    def rank(
        self, query: str, *, most: int = 10, steps: int = STEPS, self_loop: float = SELF_LOOP
    ) -> tuple[RankedAddress, ...]:
        """The addresses that a walk from the query ends at, the likeliest first; none for a query it does not have."""
        found = self.ranked(self.walk([query], steps=steps, self_loop=self_loop), most=most)
        scores: list[float] = found.column("score").to_numpy().tolist()
        addresses = map(str, found.column("object_id").to_pylist())
        return tuple(RankedAddress(address, score) for address, score in zip(addresses, scores, strict=True))

    def rank_all(
        self, queries: Sequence[str], *, most: int = 10, steps: int = STEPS, self_loop: float = SELF_LOOP
    ) -> pa.Table:
        """The same for many queries: a table of place (of the query among those given), object_id and score."""
        parts = []
        for start in range(0, len(queries), QUERIES_AT_ONCE):
            walked = self.walk(queries[start : start + QUERIES_AT_ONCE], steps=steps, self_loop=self_loop)
            parts.append(self.ranked(walked, most=most, first_place=start))
        return pa.concat_tables(parts) if parts else pa.schema(COLUMNS).empty_table()

    def ranked(self, scores: Any, *, most: int, first_place: int = 0) -> pa.Table:
        """The best addresses of each row of a matrix of scores, best first; equals go in the order of addresses."""
        if most < 1:
            raise ParameterError(f"most must be at least 1, got {most}")
        hopeful = np.flatnonzero(scores.data >= _least_kept(scores, most))
        rows = np.searchsorted(scores.indptr, hopeful, side="right") - 1
        order = np.lexsort((scores.indices[hopeful], -scores.data[hopeful], rows))
        before = np.searchsorted(rows, rows, side="left")
        chosen = order[np.arange(len(order)) - before < most]
        kept = hopeful[chosen]
        columns = (
            pa.array(rows[chosen] + first_place, pa.int64()),
            self.addresses.take(pa.array(scores.indices[kept])),
            pa.array(scores.data[kept]),
        )
        return pa.table(columns, schema=pa.schema(COLUMNS))


def _walked(places: Ints, to_queries: Any, to_addresses: Any, steps: int) -> Any:
    """The chain of products from some queries, by where they stand in the graph."""
    known = np.flatnonzero(places >= 0)
    start = np.ones(len(known)), (known, places[known])
    here = been = csr_array(start, shape=(len(places), to_queries.shape[0]))
    for _ in range(steps - 1):
        here = here @ to_queries
        been = been + here
    # An address is never left: what arrives there adds up over the steps, and one product gathers it.
    return (been @ to_addresses).tocsr()


def _positive(counted: pa.Table) -> pa.Table:
    return counted.filter(pc.field("count") > 0)


def _names(columns: Sequence[pa.ChunkedArray[Any]]) -> pa.StringArray:
    chunks = [chunk for column in columns for chunk in column.cast(pa.string()).chunks]
    distinct = pa.chunked_array(chunks, pa.string()).unique()
    return cast("pa.StringArray", distinct.take(pc.array_sort_indices(distinct)))


def _matrix(counted: pa.Table, names: tuple[pa.StringArray, pa.StringArray], columns: tuple[str, str]) -> Any:
    codes = [
        pc.index_in(counted.column(column).cast(pa.string()), value_set=known).to_numpy()
        for known, column in zip(names, columns, strict=True)
    ]
    counts = counted.column("count").to_numpy().astype(np.float64)
    made = csr_array((counts, (codes[0], codes[1])), shape=(len(names[0]), len(names[1])))
    made.sum_duplicates()
    return made


def _least_kept(scores: Any, most: int) -> NDArray[np.float64]:
    """For each entry of a matrix, the score that its row's best so many have at least: sorting all would be slow."""
    sizes = np.diff(scores.indptr)
    least = np.full(len(sizes), -np.inf)
    for row in np.flatnonzero(sizes > most):
        values = scores.data[scores.indptr[row] : scores.indptr[row + 1]]
        least[row] = np.partition(values, len(values) - most)[len(values) - most]
    return np.repeat(least, sizes)


def _scaled(counts: Any, factors: NDArray[np.float64]) -> Any:
    """Each row of a matrix times its factor."""
    values = counts.data * np.repeat(factors, np.diff(counts.indptr))
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def _diagonal(values: NDArray[np.float64]) -> Any:
    size = len(values)
    return csr_array((values, np.arange(size), np.arange(size + 1)), shape=(size, size))


FEEDBACK_WEIGHT = 0.6
"""w, as in the paper."""


def feedback_scores(
    graph: ClickGraph, queries: Sequence[str], feedback: pa.Table | None = None, *, weight: float = FEEDBACK_WEIGHT
) -> Any:
    """S(d) of each address clicked for each query: a sparse matrix, queries by addresses, for `ClickGraph.ranked`.

    ``feedback`` has user_query, object_id and position (from 1), one row an item: the mean where there were several.
    A query that the graph does not have gets an empty row.
    """
    if not weight >= 0:
        raise ParameterError(f"the weight of feedback must not be negative, got {weight!r}")
    clicks = graph.clicks
    rows = np.repeat(np.arange(clicks.shape[0]), np.diff(clicks.indptr))
    order = np.lexsort((clicks.indices, -clicks.data, rows))
    scores = np.empty(len(order))
    scores[order] = 1.0 / (np.arange(len(order)) - clicks.indptr[rows] + 2.0)
    if feedback is not None:
        items = rows * clicks.shape[1] + clicks.indices
        places, gains = _gains(graph, feedback, items, weight)
        scores[places] += gains
    scored = csr_array((scores, clicks.indices, clicks.indptr), shape=clicks.shape)
    return _rows(scored, graph.places(queries))


def _gains(graph: ClickGraph, feedback: pa.Table, items: Any, weight: float) -> tuple[Any, Any]:
    """Which clicks of the graph have feedback, and w / (I_d + 1) of each."""
    query = graph.places([str(query) for query in feedback.column("user_query").to_pylist()])
    address = pc.index_in(feedback.column("object_id").cast(pa.string()), value_set=graph.addresses)
    column = address.fill_null(-1).to_numpy().astype(np.int64)
    positions = feedback.column("position").to_numpy().astype(np.float64)
    if not (positions >= 1).all():
        raise ParameterError("positions of feedback count from 1")
    known = (query >= 0) & (column >= 0)
    wanted = query[known] * len(graph.addresses) + column[known]
    sorter = np.argsort(items, kind="stable")
    found = np.searchsorted(items, wanted, sorter=sorter)
    exists = found < len(items)
    exists[exists] = items[sorter[found[exists]]] == wanted[exists]
    return sorter[found[exists]], weight / (positions[known][exists] + 1.0)


def _rows(scored: Any, places: Any) -> Any:
    known = np.flatnonzero(places >= 0)
    choose = csr_array((np.ones(len(known)), (known, places[known])), shape=(len(places), scored.shape[0]))
    return (choose @ scored).tocsr()
