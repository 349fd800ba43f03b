"""Lists that everybody may know, from a file or from values: candidate queries, results of queries.

Nothing here can tell whether a list is public. One that was made from the log it is used on is not, and takes the
promise away that rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from aidos.core.table import Table
from aidos.errors import InputError, ParameterError

__all__ = ["public_list"]


def public_list(log: Table, source: Path | Sequence[str] | Sequence[tuple[str, ...]], columns: Sequence[str]) -> Table:
    """The distinct rows of a public list, beside the log in its engine; a file has lines, with tabs between columns."""
    rows = _lines(source, len(columns)) if isinstance(source, Path) else map(_cells, source)
    distinct = dict.fromkeys(row for row in rows if all(row))
    cells: Iterable[tuple[str, ...]] = zip(*distinct, strict=True) if distinct else ((),) * len(columns)
    arrays = [pa.array(column, pa.string()) for column in cells]
    return log.beside(pa.table(arrays, names=list(columns)))


def _cells(row: str | tuple[str, ...]) -> tuple[str, ...]:
    return (row.strip(),) if isinstance(row, str) else tuple(cell.strip() for cell in row)


def _lines(path: Path, width: int) -> Iterator[tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text", hint="write the list in UTF-8, one entry on each line") from error
    except OSError as error:
        raise ParameterError(f"the list {path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            cells = tuple(cell.strip() for cell in line.split("\t"))
            if len(cells) != width:
                raise InputError(
                    f"{path}, line {number}: {len(cells)} columns where {width} were expected",
                    hint="put one tab between the columns, and none elsewhere",
                )
            yield cells
