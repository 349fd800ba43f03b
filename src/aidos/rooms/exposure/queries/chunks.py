"""One chunk of the work: its queries computed and written away, and its rows dealt to buckets for later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.engine.files import replace_when_done
from aidos.model.retrieval.scorers import DIRICHLET_MATCHING
from aidos.rooms.exposure.queries.arrays import parquet_writer
from aidos.rooms.exposure.queries.flat import Flat
from aidos.rooms.exposure.queries.kernels.rows import MOST_QUERIES, count_by_bucket, deal_to_buckets
from aidos.rooms.exposure.queries.kernels.sweep import sweep
from aidos.rooms.exposure.queries.layout import QUERY_COLUMNS
from aidos.rooms.exposure.queries.plan import Plan
from aidos.rooms.exposure.queries.records import NO_WORD
from aidos.rooms.exposure.queries.settings import SearchExposure

__all__ = ["ChunkFiles", "Swept", "Worker", "sweep_chunk", "write_chunk"]

Longs = NDArray[np.int64]
ROW_GROUP = 32_768
"""Queries that are read at once."""


@dataclass(frozen=True, slots=True)
class ChunkFiles:
    """The files of one chunk; that of the queries is written last and says that the others are there."""

    target: Path
    number: int

    @property
    def queries(self) -> Path:
        return self.target / "queries" / f"{self.number:05d}.parquet"

    @property
    def heads(self) -> Path:
        """Where the rows of each bucket begin; then the number of queries of each first word."""
        return self.target / "spill" / f"{self.number:05d}.heads"

    @property
    def rows(self) -> Path:
        """Packed rows (see `kernels.rows`), by bucket and query."""
        return self.target / "spill" / f"{self.number:05d}.rows"

    @property
    def records(self) -> Path:
        """By query of the chunk: first, second, documents, and 256 * certain + evenness."""
        return self.target / "spill" / f"{self.number:05d}.records"

    def is_done(self, buckets: int, words: int) -> bool:
        """Whether all is there, and as long as it should be: what lay in memory at a loss of power may be cut."""
        if not all(path.is_file() for path in (self.queries, self.heads, self.rows, self.records)):
            return False
        head = np.fromfile(self.heads, dtype=np.int64)
        bounds, queries = head[: buckets + 1], head[buckets + 1 :]
        sane = len(bounds) == buckets + 1 and len(queries) == words and bounds[0] == 0 and (queries >= 0).all()
        if not sane or (bounds[1:] < bounds[:-1]).any() or queries.max(initial=0) > MOST_QUERIES:
            return False
        sizes = self.rows.stat().st_size, self.records.stat().st_size
        return sizes == (8 * int(bounds[-1]), 16 * int(queries.sum()))


class Worker:
    """The memory of one thread that sweeps, used for chunk after chunk: fresh memory would cost as much as the work."""

    def __init__(self, flat: Flat, plan: Plan, depth: int) -> None:
        behind = np.arange(flat.words, dtype=np.int64)[::-1]
        slots = int(np.minimum(flat.work, behind).max(initial=0))
        places, halves = depth + 1, -(-(depth + 1) // 64)
        self.state = (
            np.full(flat.words, -1, dtype=np.int32),
            np.empty(slots, dtype=np.int32),
            np.empty(slots, dtype=np.int32),
            np.empty((slots, 2 * halves), dtype=np.uint64),
            np.empty((slots, places)),
            np.empty((slots, places), dtype=np.int32),
            np.empty(slots, dtype=np.int64),
            np.empty(places),
            np.empty(places, dtype=np.int32),
            np.empty(places, dtype=np.uint8),
        )
        room = int(plan.room.max(initial=0))
        results = room * min(depth, len(flat.numbers))
        self.out = (
            np.empty(room, dtype=np.int32),
            np.empty(room, dtype=np.int32),
            np.empty(room, dtype=np.int32),
            np.empty(room, dtype=np.uint8),
            np.empty(room, dtype=np.uint8),
            np.zeros(room + 1, dtype=np.int64),
            np.empty(results, dtype=np.int32),
            np.empty(results, dtype=np.uint8),
        )
        self.rows = np.empty(results, dtype=np.int64)
        self.records = np.empty((room, 4), dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """The queries of a chunk and their results, by columns."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    documents: NDArray[np.int32]
    evenness: NDArray[np.uint8]
    certain: NDArray[np.uint8]
    starts: Longs
    posts: NDArray[np.int32]
    whole: NDArray[np.uint8]


def sweep_chunk(flat: Flat, plan: Plan, number: int, settings: SearchExposure, worker: Worker) -> Swept:
    """Compute one chunk; what it gives lies in the worker's memory until the next one."""
    floor = 0.0 if flat.form == DIRICHLET_MATCHING else -np.inf
    found = sweep(
        (int(plan.words[number]), int(plan.words[number + 1]), NO_WORD),
        (settings.k, int(settings.semantics == "or"), floor),
        flat.rows,
        flat.postings,
        flat.norms[1],
        flat.one,
        flat.two,
        flat.numbers,
        worker.state,
        worker.out,
    )
    first, second, documents, evenness, certain, starts, posts, whole = worker.out
    return Swept(
        first=first[:found],
        second=second[:found],
        documents=documents[:found],
        evenness=evenness[:found],
        certain=certain[:found],
        starts=starts[: found + 1],
        posts=posts[: starts[found]],
        whole=whole[: starts[found]],
    )


def write_chunk(files: ChunkFiles, swept: Swept, plan: Plan, buckets: NDArray[np.uint16], worker: Worker) -> None:
    """Write what was computed of one chunk; ``buckets`` says to which one the rows of each post are dealt."""
    _spill(files, swept, buckets, plan, worker)
    _write_queries(files.queries, swept)


def _spill(files: ChunkFiles, swept: Swept, buckets: NDArray[np.uint16], plan: Plan, worker: Worker) -> None:
    bounds = np.zeros(len(plan.posts), dtype=np.int64)
    count_by_bucket(swept.posts, buckets, bounds)
    rows = worker.rows[: len(swept.posts)]
    deal_to_buckets((swept.starts, swept.posts, swept.whole), buckets, bounds[:-1].copy(), rows)
    _write_raw(files.rows, [rows])
    records = worker.records[: len(swept.first)]
    records[:, 0], records[:, 1], records[:, 2] = swept.first, swept.second, swept.documents
    records[:, 3] = swept.certain.astype(np.int32) * 256 + swept.evenness
    _write_raw(files.records, [records])
    begin, end = plan.words[files.number], plan.words[files.number + 1]
    _write_raw(files.heads, [bounds, np.bincount(swept.first - begin, minlength=end - begin)])


def _write_queries(path: Path, swept: Swept) -> None:
    offsets: Any = pa.array(swept.starts.astype(np.int32))
    columns: list[Any] = [
        pa.array(column) for column in (swept.first, swept.second, swept.documents, swept.evenness, swept.certain)
    ]
    for name, values in (("posts", swept.posts), ("whole", swept.whole.view(np.bool_))):
        columns.append(pa.ListArray.from_arrays(offsets, pa.array(values), type=QUERY_COLUMNS.field(name).type))
    table = pa.table(columns, schema=QUERY_COLUMNS)
    with parquet_writer(
        path,
        QUERY_COLUMNS,
        compression="lz4",
        use_dictionary=False,
        write_statistics=["first", "second"],  # what a query is found by
        column_encoding=dict.fromkeys(("second", "documents", "evenness", "certain"), "BYTE_STREAM_SPLIT"),
    ) as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)


def _write_raw(path: Path, arrays: Sequence[NDArray[Any]]) -> None:
    """Arrays one after the other. A file is there when it has its name; it need not outlive a loss of power."""
    with replace_when_done(path, private=True, durable=False) as partial, partial.open("wb") as file:
        for array in arrays:
            file.write(np.ascontiguousarray(array).data)
