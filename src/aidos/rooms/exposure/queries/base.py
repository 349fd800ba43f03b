"""What the last full computation left on disk, mapped and read only where it is asked for.

Nothing is loaded when it is opened. Arrays are mapped; of Parquet files only the row groups are decoded that hold the
rows asked for, and what is known of the files is kept, so that a second look-up costs less than the first.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aidos.engine.sealed import damage
from aidos.errors import InputError
from aidos.model.retrieval.index import Index
from aidos.model.retrieval.scorers import Collection, Scorer, parse_scorer
from aidos.rooms.exposure.queries.arrays import load_arrays, load_statistics, open_index
from aidos.rooms.exposure.queries.layout import AGAIN, EXPOSURE_COLUMNS, arrow_of, numbers_in
from aidos.rooms.exposure.queries.manifest import Facts
from aidos.rooms.exposure.queries.validation import Columns, Sizes

__all__ = ["Base", "RowFile"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
QUERY = ["second", "documents", "evenness", "certain", "posts"]
"""What is read of a query; whether posts hold all words is seen when they are scored."""
PIECES = 8
UNREADABLE = (OSError, MemoryError, pa.ArrowException)


class RowFile:
    """A Parquet file whose rows are asked for by number."""

    def __init__(self, path: Path, columns: Columns | None = None) -> None:
        self._path, self._columns = path, columns
        try:
            self._file = pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
            sizes = [self._file.metadata.row_group(at).num_rows for at in range(self._file.num_row_groups)]
            found = [(field.name, field.type) for field in self._file.schema_arrow]
        except UNREADABLE as error:
            raise InputError(f"{path} cannot be read", hint=AGAIN) from error
        if columns is not None and found != [(field.name, field.type) for field in columns.schema]:
            raise damage(path, "it has other columns", AGAIN)
        self.starts: Longs = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def read(self, begin: int, end: int, columns: list[str] | None = None) -> pa.Table:
        """The rows from one number to another."""
        if not 0 <= begin <= end <= len(self):
            raise damage(self._path, "it does not have the rows that others say", AGAIN)
        if begin == end:
            return self._file.schema_arrow.empty_table().select(columns or self._file.schema_arrow.names)
        groups = range(
            int(np.searchsorted(self.starts, begin, side="right")) - 1, int(np.searchsorted(self.starts, end))
        )
        table = self._groups(list(groups), columns)
        return table.slice(begin - int(self.starts[groups[0]]), end - begin)

    def take(self, rows: Longs, columns: list[str] | None = None) -> pa.Table:
        """Some rows, in the order asked."""
        wanted, places = np.unique(rows, return_inverse=True)
        groups = np.unique(np.searchsorted(self.starts, wanted, side="right") - 1)
        if not len(groups):
            return self.read(0, 0, columns)
        table = self._groups(groups.tolist(), columns)
        before = np.concatenate([[0], np.cumsum(np.diff(self.starts)[groups])])
        group = np.searchsorted(self.starts[groups], wanted, side="right") - 1
        return table.take(arrow_of((wanted - self.starts[groups][group] + before[group])[places]))

    def _groups(self, groups: list[int], columns: list[str] | None) -> pa.Table:
        try:
            table = self._file.read_row_groups(groups, columns=columns, use_threads=False)
            table.validate(full=True)
        except UNREADABLE as error:
            raise InputError(f"{self._path} cannot be read", hint=AGAIN) from error
        wrong = self._columns.problem(table) if self._columns else ""
        if wrong or table.num_rows != int(np.diff(self.starts)[groups].sum()):
            raise damage(self._path, wrong or "rows are missing", AGAIN)
        return table

    def narrow(self, begin: int, end: int, column: str, value: int) -> tuple[int, int]:
        """The part of a range of rows that rise by a column in which a value can stand, by the file's statistics."""
        number = self._file.schema_arrow.get_field_index(column)
        inside = range(
            int(np.searchsorted(self.starts, begin)), int(np.searchsorted(self.starts, end, side="right")) - 1
        )
        known: list[Any] = [self._file.metadata.row_group(group).column(number).statistics for group in inside]
        if not known or any(each is None or not each.has_min_max for each in known):
            return begin, end
        at = bisect_right([each.min for each in known], value) - 1
        if at < 0:
            return begin, int(self.starts[inside[0]])
        if value > known[at].max:
            return int(self.starts[inside[at] + 1]), end if at + 1 == len(known) else int(self.starts[inside[at] + 1])
        return int(self.starts[inside[at]]), int(self.starts[inside[at] + 1])


def _pieces(rows: int, most: int | None) -> list[tuple[int, int]]:
    """Which of so many rows are read: all, or pieces of one length with as much between them."""
    if most is None or rows <= most:
        return [(0, rows)]
    begins = np.linspace(0, rows - most // PIECES, PIECES).astype(np.int64).tolist()
    return [(begin, begin + most // PIECES) for begin in begins]


class Base:
    """The directory of a finished computation."""

    def __init__(self, path: Path, facts: Facts) -> None:
        self.path = path
        self.settings = facts.settings
        self.scorer: Scorer = parse_scorer(facts.settings.scorer)
        self._facts = facts
        self._arrays: dict[str, dict[str, NDArray[Any]]] = {}
        self._files: dict[str, RowFile] = {}

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays, mapped; see `layout`. Those of one directory are checked together."""
        group, file = name.split("/")
        if group not in self._arrays:
            if group == "statistics":
                self._arrays[group] = load_statistics(self.path, self._facts)
            else:
                sizes = {"words": self.words, "room": self.settings.k + 1}
                self._arrays[group] = load_arrays(self.path, group, self._facts, **sizes)
        return self._arrays[group][file]

    def file(self, name: str) -> RowFile:
        """One of the Parquet files."""
        if name not in self._files:
            entry = self._facts.files.get(f"{name}.parquet")
            if entry is None:
                raise damage(self.path, f"there is no {name}.parquet in it", AGAIN)
            kind = name.partition("/")[0]
            file = RowFile(entry.check(self.path, again=AGAIN), self.sizes.columns()[kind])
            rows = {"posts": self.posts, "members": self.members, "words": self.words}
            if len(file) != rows.get(kind, len(file)):
                raise damage(self.path, f"{name}.parquet has other rows than the statistics", AGAIN)
            self._files[name] = file
        return self._files[name]

    @property
    def partitions(self) -> int:
        """How many files hold the exposures."""
        return sum(name.startswith("exposures/") for name in self._facts.files)

    @cached_property
    def sizes(self) -> Sizes:
        """How many posts, members and words there were."""
        return Sizes(posts=self.posts, members=self.members, words=self.words, k=self.settings.k)

    @cached_property
    def index(self) -> Index:
        """The retrieval index."""
        return open_index(self.path, self._facts, self.words)

    @property
    def posts(self) -> int:
        """How many posts there were."""
        return len(self.array("statistics/precedence"))

    @property
    def members(self) -> int:
        """How many authors there were."""
        return len(self.array("statistics/first_posts")) - 1

    @property
    def words(self) -> int:
        """How many words there were."""
        return len(self.array("statistics/terms"))

    @cached_property
    def reference(self) -> Collection:
        """What the collection looked like, by word."""
        return Collection(
            documents=self.posts,
            tokens=self._facts.tokens,
            term_counts=self.array("statistics/term_counts"),
            document_counts=self.array("statistics/document_counts"),
        )

    @cached_property
    def authors(self) -> pa.ChunkedArray[Any]:
        """The names of all members, by number."""
        file = self.file("members")
        return file.read(0, len(file), ["author_id"]).column(0)

    @cached_property
    def post_ids(self) -> pa.ChunkedArray[Any]:
        """The ids of all posts, by number."""
        file = self.file("posts")
        return file.read(0, len(file), ["post_id"]).combine_chunks().column(0)

    def left_out(self, member: int, most: int) -> int:
        """How many rows of a member `exposures` does not read."""
        rows = int(self.file("members").read(member, member + 1, ["exposures"]).column(0)[0].as_py())
        return rows - sum(last - first for first, last in _pieces(rows, most))

    def exposures(self, member: int, most: int | None = None) -> pa.Table:
        """The rows of one member; of more than ``most`` about so many, in pieces from the oldest post to the newest."""
        told = self.file("members").read(member, member + 1, ["exposures", "partition", "first_row"]).to_pylist()[0]
        rows, begin, parts = int(told["exposures"]), int(told["first_row"]), []
        wanted, reached = _pieces(rows, most), 0
        for partition in count(int(told["partition"])):
            file = self.file(f"exposures/{partition:05d}")
            end = min(len(file), begin + rows - reached)
            for first, last in wanted:
                low, high = max(first, reached), min(last, reached + end - begin)
                if low < high:
                    parts.append(file.read(begin + low - reached, begin + high - reached))
            reached, begin = reached + end - begin, 0
            if reached == rows:
                break
        return pa.concat_tables(parts) if parts else EXPOSURE_COLUMNS.empty_table()

    @cached_property
    def places(self) -> tuple[Ints, Longs, Longs]:
        """By word: in which file its queries stand, from which row on, and how many."""
        file = self.file("words")
        table = file.read(0, len(file), ["chunk", "first_row", "queries"])
        chunks, rows, queries = (numbers_in(table.column(at)) for at in range(3))
        return chunks, rows, queries

    def queries(self, first: NDArray[Any], second: NDArray[Any]) -> list[dict[str, Any] | None]:
        """The rows of queries, None for those that are not there; what several stand in is read once."""
        found: list[dict[str, Any] | None] = [None] * len(first)
        asked = zip(second.tolist(), *(each[first].tolist() for each in self.places), strict=True)
        read: dict[tuple[int, int, int], pa.Table] = {}
        for at, (other, chunk, row, number) in enumerate(asked):
            file = self.file(f"queries/{chunk:05d}")
            place = (chunk, *file.narrow(row, row + number, "second", other))
            if place not in read:
                read[place] = file.read(*place[1:], QUERY)
            seconds = numbers_in(read[place].column("second"))
            here = int(np.searchsorted(seconds, other))
            if here < len(seconds) and seconds[here] == other:
                found[at] = read[place].slice(here, 1).to_pylist()[0]
        return found
