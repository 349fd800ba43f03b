"""All exposures of a community, some members at a time: what counts over everybody walks through them.

Members come in the order of their numbers, each whole in one portion, in memory that is bounded by the portion and by
the member with most rows. Changes since the last full computation are in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pyarrow as pa

from aidos.exposure.queries.base import Base
from aidos.exposure.queries.ground import column
from aidos.exposure.queries.overlay import query_keys
from aidos.exposure.queries.records import Exposures
from aidos.exposure.queries.state import State
from aidos.exposure.queries.tables import exposures_of

__all__ = ["walk"]

PORTION = 2_000_000
"""Rows that are read before the members among them are given."""


def walk(state: State, portion: int = PORTION) -> Iterator[Exposures]:
    """Portions of exposures, by member; no member is in two of them."""
    added, reached = state.overlay.exposures, 0
    owners = column(added, "member")
    for table in _whole_members(state.base, portion):
        end = int(column(table, "member")[-1]) + 1
        begin, stop = np.searchsorted(owners, [reached, end]).tolist()
        reached = end
        given = pa.concat_tables([_unchanged(state, table), added.slice(begin, stop - begin)])
        if given.num_rows:
            yield exposures_of(given)
    rest = added.slice(int(np.searchsorted(owners, reached)))
    if rest.num_rows:
        yield exposures_of(rest)


def _whole_members(base: Base, portion: int) -> Iterator[pa.Table]:
    """Rows of the base, cut between members."""
    left: list[pa.Table] = []
    for partition in count():
        if not (base.path / f"exposures/{partition:05d}.parquet").exists():
            break
        file = base.file(f"exposures/{partition:05d}")
        for begin in range(0, len(file), portion):
            table = pa.concat_tables([*left, file.read(begin, min(len(file), begin + portion))])
            members = column(table, "member")
            cut = int(np.searchsorted(members, members[-1]))
            left = [table.slice(cut)]
            if cut:
                yield table.slice(0, cut)
    if left and left[0].num_rows:
        yield left[0]


def _unchanged(state: State, table: pa.Table) -> pa.Table:
    """Without the rows of queries that were computed again."""
    if not len(state.changed):
        return table
    keys = query_keys(column(table, "first"), column(table, "second"))
    at = np.minimum(np.searchsorted(state.changed, keys), len(state.changed) - 1)
    return table.filter(pa.array(state.changed[at] != keys))
