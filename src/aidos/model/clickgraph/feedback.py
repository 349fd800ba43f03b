"""Implicit feedback: addresses by how often they were clicked, moved up where later searchers clicked them.

After Agichtein, Brill and Dumais (2006), as Zhang, Yang and Singh (SIGIR 2016) measure anonymised logs with it: S(d) =
w / (I_d + 1) + 1 / (O_d + 1). O_d is the place of the address among those that the counts have for the query, by clicks
(1 for the most); I_d is the position at which it was clicked in the feedback, and without feedback for it only the
second term is there. Addresses that the counts do not have for the query are not ranked, whatever the feedback says:
otherwise a release without anything in it would rank well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.errors import ParameterError
from aidos.model.clickgraph.graph import ClickGraph
from aidos.model.clickgraph.sparse import csr_array

__all__ = ["FEEDBACK_WEIGHT", "feedback_scores"]

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
