"""The embedded engine: DuckDB inside this process.

Tables are lazy views; what does not fit into memory spills into a private directory. The engine never touches the
network: extensions are neither installed nor loaded, and it keeps no settings file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import duckdb

from aidos.core.checks import shown
from aidos.core.progress import SILENT, Progress
from aidos.engine.files import replace_when_done
from aidos.engine.scratch import scratch_directory
from aidos.errors import EngineError, InputError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EmbeddedEngine", "EmbeddedTable", "quote_name", "quote_text"]

Answer = TypeVar("Answer")
DAMAGED_FILE = ("parquet", "magic bytes", "tprotocol", "thrift", "decompress", "zstd", "column chunk", "page header")
MEMORY = re.compile(r"\d+(\.\d+)?\s*([KMGT]i?B|%)", re.IGNORECASE)
MOST_THREADS = 1_024


class EmbeddedEngine:
    """DuckDB with a memory limit, a number of threads and a private place to spill. Use it in a ``with``."""

    def __init__(
        self,
        *,
        memory: str = "",
        threads: int | None = None,
        scratch: Path | None = None,
        progress: Progress = SILENT,
    ) -> None:
        if memory and not (isinstance(memory, str) and MEMORY.fullmatch(memory)):
            raise ParameterError(f"memory must be a size such as 1GB or 512MB, got {memory!r}", hint="for example 4GB")
        if threads is not None and not (isinstance(threads, int) and 1 <= threads <= MOST_THREADS):
            words = f"threads must be at least 1 and at most {MOST_THREADS}, got {shown(threads)}"
            raise ParameterError(words, hint="give a whole number")
        self.memory = memory
        self.threads = threads or os.cpu_count() or 1
        self.progress = progress
        self._scratch_parent = scratch
        self._stack = ExitStack()
        self._numbers = count(1)
        self._connection: duckdb.DuckDBPyConnection | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """DuckDB's own, between the beginning and the end of the ``with``."""
        if self._connection is None:
            raise EngineError(
                "the engine is not open", hint="use it inside a with: with aidos.EmbeddedEngine() as engine:"
            )
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether it can be asked."""
        return self._connection is not None

    def __enter__(self) -> Self:
        self.scratch = self._stack.enter_context(scratch_directory(self._scratch_parent))
        spill = self.scratch / "spill"
        spill.mkdir()
        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": self.threads,
            "temp_directory": str(spill),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if self.memory:
            settings["memory_limit"] = self.memory
        try:
            self._connection = self._stack.enter_context(duckdb.connect(":memory:", config=settings))
        except duckdb.Error as error:
            self._stack.close()
            raise EngineError(f"the engine did not start: {_first_line(error)}") from error
        # The engine measures its progress only when asked to, and would print it.
        self.connection.execute("set enable_progress_bar = true; set enable_progress_bar_print = false")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection = None
        self._stack.close()

    def run(self, sql: str, parameters: Sequence[object] = (), *, label: str = "") -> list[tuple[object, ...]]:
        """Run a statement and fetch its result; ``label`` says what to show while it takes long."""
        return self._ask(lambda: self.connection.execute(sql, parameters).fetchall(), label)

    def fetch(self, sql: str, *, label: str = "") -> pa.Table:
        """Run a query and fetch its result by columns."""
        answer: pa.Table = self._ask(lambda: self.connection.sql(sql).to_arrow_table(), label)
        return answer

    def _ask(self, question: Callable[[], Answer], label: str) -> Answer:
        """Ask in a thread of its own: Python delivers Ctrl-C only to a main thread that is free."""
        with _spoken_errors(), ThreadPoolExecutor(1) as worker:
            answer = worker.submit(question)
            try:
                self._wait(answer, label)
            except BaseException:
                self.connection.interrupt()
                raise
            return answer.result()

    def _wait(self, answer: Future[Answer], label: str) -> None:
        if not label:
            wait([answer])
            return
        with self.progress.task(label, total=100, unit="%") as task:
            while not wait([answer], timeout=0.2).done:
                task.move_to(max(0.0, self.connection.query_progress()))

    def view(self, sql: str) -> EmbeddedTable:
        """A lazy table from a query."""
        name = self.fresh_name()
        with _spoken_errors():
            self.connection.execute(f"create temp view {name} as {sql}")
        return EmbeddedTable(self, name)

    def table(self, data: pa.Table) -> EmbeddedTable:
        """A table from values in memory."""
        name = self.fresh_name()
        self.connection.register(name, data)
        return EmbeddedTable(self, name)

    def parquet(self, *paths: Path) -> EmbeddedTable:
        """A lazy table over Parquet files of one schema."""
        listed = ", ".join(quote_text(str(path)) for path in paths)
        return self.view(f"select * from read_parquet([{listed}])")

    def fresh_name(self) -> str:
        """A relation name that nothing else uses."""
        return f"aidos_{next(self._numbers)}"


@dataclass(frozen=True, slots=True)
class EmbeddedTable:
    """A lazy relation in the embedded engine."""

    engine: EmbeddedEngine
    name: str

    @property
    def columns(self) -> Mapping[str, str]:
        """Column names and their types, in order."""
        described = self.engine.run(f"describe {self.name}")
        return {str(row[0]): str(row[1]) for row in described}

    def select(self, sql: str) -> EmbeddedTable:
        """The table that a query over ``{table}`` describes; nothing runs yet."""
        return self.engine.view(sql.replace("{table}", self.name))

    def rows(
        self, sql: str = "select * from {table}", parameters: Sequence[object] = (), *, label: str = ""
    ) -> list[tuple[object, ...]]:
        """Run a query over ``{table}`` and fetch its (small) result."""
        return self.engine.run(sql.replace("{table}", self.name), parameters, label=label)

    def fetch(self, sql: str = "select * from {table}", *, label: str = "") -> pa.Table:
        """Run a query over ``{table}`` and fetch its result by columns."""
        return self.engine.fetch(sql.replace("{table}", self.name), label=label)

    @contextmanager
    def held(self, *, label: str = "") -> Iterator[EmbeddedTable]:
        """The rows computed once and kept in a temporary table, until the ``with`` ends."""
        name = self.engine.fresh_name()
        self.engine.run(f"create temp table {name} as select * from {self.name}", label=label)
        try:
            yield EmbeddedTable(self.engine, name)
        finally:
            self.engine.run(f"drop table {name}")

    def beside(self, data: pa.Table) -> EmbeddedTable:
        """A table of values in memory, in the same engine."""
        return self.engine.table(data)

    def batches(self, rows_per_batch: int = 100_000) -> Iterator[pa.RecordBatch]:
        """All rows, a batch at a time, in bounded memory. Ask the engine nothing else meanwhile."""
        with _spoken_errors():
            yield from self.engine.connection.sql(f"select * from {self.name}").to_arrow_reader(rows_per_batch)

    def count(self) -> int:
        """How many rows."""
        return int(str(self.rows("select count(*) from {table}")[0][0]))

    def write_parquet(
        self, path: Path, *, notes: Mapping[str, str] | None = None, private: bool = False, label: str = ""
    ) -> int:
        """Write all rows to a Parquet file, atomically; give the number of rows."""
        listed = ", ".join(f"{quote_name(key)}: {quote_text(value)}" for key, value in (notes or {}).items())
        # DuckDB would put a file of its own in the place of one that is there, with other permissions.
        form = "format parquet, compression zstd, use_tmp_file false" + (
            f", kv_metadata {{{listed}}}" if listed else ""
        )
        with replace_when_done(path, private=private) as partial:
            target = quote_text(str(partial))
            written = self.engine.run(f"copy (select * from {self.name}) to {target} ({form})", label=label)
        return int(str(written[0][0]))


def quote_name(name: str) -> str:
    """A column or table name, safe inside SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A string literal, safe inside SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def _spoken_errors() -> Iterator[None]:
    """Say what the engine ran out of, without quoting data: DuckDB's own messages may hold cells."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise EngineError(
            "the engine ran out of memory", hint="give it more with --memory, or fewer threads with --threads 1"
        ) from error
    except duckdb.IOException as error:
        raise EngineError(
            _io_message(str(error)), hint="free some space, or choose another place with TMPDIR"
        ) from error
    except duckdb.Error as error:
        # What DuckDB says of a Parquet file that it cannot read has many names, and it counts none of them as input.
        # An error without a kind comes from what unpacks a file's description, or tells of extensions.
        said = str(error).lower()
        without_kind = type(error) is duckdb.Error and "extension" not in said
        if not without_kind and not any(word in said for word in DAMAGED_FILE):
            raise
        raise InputError("a Parquet file is damaged and cannot be read", hint="see: aidos check FILE") from error


def _io_message(text: str) -> str:
    full = "no space" in text.lower() or "file too large" in text.lower() or "failed to offload" in text.lower()
    return "the disk is full" if full else f"the engine could not read or write a file: {text.splitlines()[0]}"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
