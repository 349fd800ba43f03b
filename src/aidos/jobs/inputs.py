"""Data as people have them: a path, a pattern, several of them, or a table of pandas, Polars, Arrow or DuckDB.

Jobs read files. A table is written to a private file for as long as the job runs, so that it passes through the same
reader, with the same checks and the same names of columns, as a file does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aidos.errors import InputError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Data", "as_files"]

TABLE = "the table"
Data = str | Path | Sequence[str] | Sequence[Path] | Any
"""A path or a glob pattern, several of them, or a table (pandas, Polars, Arrow, a DuckDB relation)."""


@contextmanager
def as_files(data: Data) -> Iterator[tuple[str, ...]]:
    """The names of files that hold the data, while the context lasts."""
    if isinstance(data, str | Path):
        yield (str(data),)
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
                yield (file,)
            except InputError as error:
                raise _about_the_table(error, file) from error


def _about_the_table(error: InputError, file: str) -> InputError:
    """The same error about what the caller gave, not about our file."""
    problems = [replace(each, file=each.file.replace(file, TABLE)) for each in error.problems]
    return InputError(error.message.replace(file, TABLE), hint=error.hint.replace(file, TABLE), problems=problems)


def _as_table(data: Any) -> pa.Table:
    import pyarrow as pa

    try:
        if isinstance(data, pa.Table):
            return data
        if hasattr(data, "to_arrow_table"):  # a DuckDB relation
            held: pa.Table = data.to_arrow_table()
            return held
        if type(data).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        # The exception's own words may quote cells.
        raise InputError(
            f"the {type(data).__name__} cannot be read as a table", hint="give every column one type: texts or numbers"
        ) from error
    raise ParameterError(
        f"data cannot be a {type(data).__name__}",
        hint="give a path, a list of paths, or a table of pandas, Polars, Arrow or DuckDB",
    )
