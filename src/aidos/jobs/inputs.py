"""Data as people have them: paths, patterns, a table of pandas, Polars, Arrow or DuckDB, or what was read before.

Jobs read files. A table is written to a private file for as long as the job runs, so that it passes through the same
reader, with the same checks and the same names of columns, as a file does. Data that were read before are read again,
in the same way: every job reads by its own rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from aidos.errors import InputError, ParameterError
from aidos.ingest.problems import TABLE
from aidos.ingest.sources import TableFile

if TYPE_CHECKING:
    from contextlib import ExitStack

    import pyarrow as pa

__all__ = ["Data", "Lasting", "as_files", "how_read"]

Data = str | Path | Sequence[str] | Sequence[Path] | Any
"""A path or a glob pattern, several of them, a table (pandas, Polars, Arrow, a DuckDB relation), or what `aidos.read`
gave."""
ONE_TYPE = "give every column one type: texts or numbers"


@runtime_checkable
class Lasting(Protocol):
    """An answer that reads its files later, and is itself data to other jobs."""

    @property
    def files(self) -> tuple[str, ...]:
        """What was read."""
        ...

    @property
    def how(self) -> Any:
        """How it was read: a dataclass of options."""
        ...

    @property
    def holds(self) -> ExitStack:
        """What must last as long as the answer."""
        ...


@contextmanager
def as_files(data: Data) -> Iterator[tuple[str, ...]]:
    """The names of files that hold the data, while the context lasts."""
    if isinstance(data, str | Path):
        yield (str(data),)
    elif isinstance(data, Lasting):
        yield data.files
    elif isinstance(data, list | tuple) and all(isinstance(each, str | Path) for each in data):
        yield tuple(map(str, data))
    else:
        import pyarrow.parquet as pq

        from aidos.engine.scratch import scratch_directory

        table = _as_table(data)
        with scratch_directory(None) as private:
            file = str(private / "table.parquet")
            pq.write_table(table, file)
            try:
                yield (TableFile(file),)
            except InputError as error:
                raise _about_the_table(error, file) from error


def how_read(data: Data) -> dict[str, Any]:
    """The options by which data were read before, as far as they are not the usual ones."""
    if not isinstance(data, Lasting):
        return {}
    usual = type(data.how)()
    given = {each.name: getattr(data.how, each.name) for each in fields(data.how)}
    return {name: value for name, value in given.items() if value != getattr(usual, name)}


def _about_the_table(error: InputError, file: str) -> InputError:
    """The same error about what the caller gave, not about our file."""
    problems = [replace(each, file=each.file.replace(file, TABLE)) for each in error.problems]
    return InputError(error.message.replace(file, TABLE), hint=error.hint.replace(file, TABLE), problems=problems)


def _as_table(data: Any) -> pa.Table:
    import duckdb
    import pyarrow as pa

    kind = type(data).__name__
    if kind == "Series":  # one column of pandas or Polars has the same protocol as a table
        raise ParameterError("data cannot be a Series, which is one column", hint="give the whole table")
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, duckdb.DuckDBPyRelation):
            held: pa.Table = data.to_arrow_table()
            return held
        if type(data).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
        if kind == "LazyFrame":
            data = data.collect()
        if hasattr(data, "__arrow_c_stream__"):
            return _with_plain_categories(pa.table(data))
    except duckdb.Error as error:
        hint = "keep its connection open until it was read, or give relation.to_arrow_table()"
        raise InputError("the DuckDB relation cannot be read any more", hint=hint) from error
    except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
        # The exception's own words may quote cells.
        raise InputError(f"the {kind} cannot be read as a table", hint=ONE_TYPE) from error
    raise ParameterError(
        f"data cannot be a {kind}",
        hint="give a path, a list of paths, or a table of pandas, Polars, Arrow or DuckDB",
    )


def _with_plain_categories(table: pa.Table) -> pa.Table:
    """Categories as Parquet can hold them: those of Polars are views of texts."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        kind: Any = field.type
        if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            chunks: list[Any] = table.column(place).chunks
            plain = [pa.DictionaryArray.from_arrays(each.indices, each.dictionary.cast(pa.string())) for each in chunks]
            column: Any = pa.chunked_array(plain, pa.dictionary(kind.index_type, pa.string()))  # type: ignore[call-overload]
            table = table.set_column(place, field.name, column)
    return table
