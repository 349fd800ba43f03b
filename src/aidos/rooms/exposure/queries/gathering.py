"""The second half of the work: the rows of all chunks, dealt to their posts and written by member."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.engine.sealed import Spec, check_arrays, damage, map_array
from aidos.rooms.exposure.queries.arrays import parquet_writer, save_arrays
from aidos.rooms.exposure.queries.chunks import ChunkFiles
from aidos.rooms.exposure.queries.kernels.rows import are_packed, count_by_post, deal_to_posts, unpack
from aidos.rooms.exposure.queries.layout import AGAIN, EXPOSURE_COLUMNS
from aidos.rooms.exposure.queries.plan import Plan

__all__ = ["Gathering", "Sheet"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
PARTITION_ROWS = 6_000_000
"""Rows of a file, about; they are in memory at once."""
ROW_GROUP = 65_536
"""Rows that are read at once: few, since a member's are looked up."""
KINDS = (np.int32, np.int32, np.int32, np.int32, np.uint8, np.uint8, np.uint8, np.int32, np.uint8)
SPLIT = ("member", "post", "first", "second", "rank", "documents", "evenness")
"""Bytes of one weight beside each other, then packed: several times cheaper here than a dictionary or differences."""


class Sheet:
    """The memory of one thread that gathers, used for file after file."""

    def __init__(self, rows: int) -> None:
        self.packed = np.empty((rows, 4), dtype=np.int32)
        self.columns = tuple(np.empty(rows, dtype=kind) for kind in KINDS)


class Gathering:
    """What the chunks left, and how it is cut into files."""

    def __init__(self, target: Path, plan: Plan, members: Ints) -> None:
        self.target = target
        self._plan, self._members = plan, members
        self._chunks = [ChunkFiles(target, number) for number in range(len(plan.words) - 1)]
        buckets = len(plan.posts) - 1
        heads = [np.fromfile(chunk.heads, dtype=np.int64) for chunk in self._chunks]
        self._bounds = [head[: buckets + 1] for head in heads]
        self.queries_of_words = [head[buckets + 1 :] for head in heads]
        """By chunk, the number of queries of each of its first words."""
        rows = np.diff(np.sum(self._bounds, axis=0)) if heads else np.zeros(buckets, dtype=np.int64)
        self.cuts = _cuts(rows)
        """Where files begin, by bucket, and the number of buckets."""
        self.largest = int(np.add.reduceat(rows, self.cuts[:-1]).max(initial=0))
        """Rows of the largest file."""

    def file(self, number: int) -> Path:
        """Where the rows go."""
        return self.target / "exposures" / f"{number:05d}.parquet"

    def posts(self, number: int) -> tuple[int, int]:
        """The posts whose rows a file holds."""
        return int(self._plan.posts[self.cuts[number]]), int(self._plan.posts[self.cuts[number + 1]])

    def write(self, number: int, sheet: Sheet) -> int:
        """Gather the rows of some posts and write them; give their number."""
        first, end = self.posts(number)
        rows = [self._rows(at, number) for at in range(len(self._chunks))]
        records = [np.asarray(_records(chunk)) for chunk in self._chunks]
        for some, known in zip(rows, records, strict=True):
            if not are_packed(some, first, end, len(known)):
                raise damage(self.target, "what was computed cannot be gathered", AGAIN)
        counts = np.zeros(end - first, dtype=np.int64)
        for some in rows:
            count_by_post(some, first, counts)
        packed = sheet.packed[: sum(map(len, rows))]
        cursor = np.cumsum(counts) - counts
        for known, some in zip(records, rows, strict=True):
            deal_to_posts(some, first, known, cursor, packed)
        del rows, records
        columns: Any = tuple(column[: len(packed)] for column in sheet.columns)
        unpack(packed, counts, first, self._members, columns)
        save_arrays(self.target / "spill", {self._counted(number): counts})
        self._write(number, columns)
        return len(columns[0])

    def counts(self, number: int) -> Longs:
        """Rows of each post of a file that is written."""
        first, end = self.posts(number)
        name = self._counted(number)
        found: Longs = map_array(self.target / "spill" / f"{name}.npy", again=AGAIN)
        spec = Spec(kind=np.int64, shape=("posts",), least=0)
        check_arrays(self.target, {name: found}, {name: spec}, {"posts": end - first}, again=AGAIN)
        return found

    def _counted(self, number: int) -> str:
        return f"{number:05d}.counts"

    def _rows(self, at: int, number: int) -> Longs:
        begin, end = (int(self._bounds[at][self.cuts[cut]]) for cut in (number, number + 1))
        return np.fromfile(self._chunks[at].rows, dtype=np.int64, count=end - begin, offset=8 * begin)

    def _write(self, number: int, columns: Sequence[NDArray[Any]]) -> None:
        arrays = [
            pa.array(column.view(np.bool_) if pa.types.is_boolean(kind) else column)
            for column, kind in zip(columns, EXPOSURE_COLUMNS.types, strict=True)
        ]
        with parquet_writer(
            self.file(number),
            EXPOSURE_COLUMNS,
            compression="lz4",
            use_dictionary=False,
            write_statistics=["member"],  # what rows are found by
            column_encoding=dict.fromkeys(SPLIT, "BYTE_STREAM_SPLIT"),
        ) as writer:
            writer.write_table(pa.table(arrays, schema=EXPOSURE_COLUMNS), row_group_size=ROW_GROUP)


def _records(chunk: ChunkFiles) -> Ints:
    """What is known of the queries of a chunk; an empty file cannot be mapped."""
    if not chunk.records.stat().st_size:
        return np.zeros((0, 4), dtype=np.int32)
    mapped: Ints = np.memmap(chunk.records, dtype=np.int32, mode="c").reshape(-1, 4)
    return mapped


def _cuts(rows: Longs) -> Longs:
    """Put neighbouring buckets together until they fill a file."""
    cuts, size = [0], 0
    for bucket, more in enumerate(rows.tolist()):
        if size and size + more > PARTITION_ROWS:
            cuts.append(bucket)
            size = 0
        size += more
    return np.array([*cuts, len(rows)], dtype=np.int64)
