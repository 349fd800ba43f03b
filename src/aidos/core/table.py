"""A table, wherever it lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Table"]


class Table(Protocol):
    """A lazy relation held by an engine: nothing is computed until rows are asked for.

    SQL given to a table refers to it as ``{table}``.
    """

    @property
    def name(self) -> str:
        """How SQL given to other tables of the same engine refers to this one."""
        ...

    @property
    def columns(self) -> Mapping[str, str]:
        """Column names and their types in the engine, in order."""
        ...

    def select(self, sql: str) -> Self:
        """The table that a query over this one describes; nothing runs yet."""
        ...

    def rows(self, sql: str = "select * from {table}", parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        """Run a query over this table and fetch its (small) result."""
        ...

    def fetch(self, sql: str = "select * from {table}", *, label: str = "") -> pa.Table:
        """Run a query over this table and fetch its result by columns, for numbers by the million."""
        ...

    def held(self, *, label: str = "") -> AbstractContextManager[Self]:
        """The rows computed once and kept by the engine, until the ``with`` ends."""
        ...

    def beside(self, data: pa.Table) -> Self:
        """A table of values in memory, in the engine of this one."""
        ...

    def batches(self, rows_per_batch: int = 100_000) -> Iterator[pa.RecordBatch]:
        """All rows, a batch at a time, in bounded memory."""
        ...

    def count(self) -> int:
        """How many rows."""
        ...

    def write_parquet(self, path: Path, *, notes: Mapping[str, str] | None = None) -> int:
        """Write all rows to a Parquet file, atomically; give the number of rows."""
        ...
