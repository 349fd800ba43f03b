"""Tables of subjects with ratings: each rating column is a query, each rating the subject's relevance for it.

A blank cell means that nobody rated the subject: it is absent from that query. Ratings are finite and not negative;
anything else is told with its row and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from aidos.errors import Problem
from aidos.ingest.bytescan import Tally
from aidos.ingest.problems import RANKINGS, refuse
from aidos.ingest.rows import (
    DAMAGED,
    Floats,
    as_numbers,
    as_texts,
    duplicate_columns,
    is_number,
    is_text_like,
    numbers_of_texts,
    opened_parquet,
    table_rows,
)
from aidos.ingest.sources import Source, find_sources

__all__ = ["RatingTable", "read_ratings"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingTable:
    """Subjects and their ratings."""

    subject_ids: tuple[str, ...]
    columns: tuple[str, ...]
    """The rating columns, in the order of the file or of the asking."""
    ratings: Floats = field(repr=False)
    """Subjects by columns; not a number where a subject is not rated."""
    groups: tuple[str, ...] = field(default=(), repr=False)
    """One per subject, or none at all."""
    actors: tuple[str, ...] = field(default=(), repr=False)
    """One per subject, or none at all."""

    def __len__(self) -> int:
        return len(self.subject_ids)


def read_ratings(
    path: str,
    *,
    id_column: str = "subject_id",
    columns: Sequence[str] = (),
    group_column: str = "",
    actor_column: str = "",
) -> RatingTable:
    """Read a CSV, TSV or Parquet table of subjects; InputError with all problems that it has.

    Without ``columns`` every column whose first filled cell is a number holds ratings.
    """
    sources, problems = find_sources([path])
    problems += [RANKINGS.tell("empty-file", source.name) for source in sources if not source.size]
    if problems:
        raise refuse(*problems)
    source = sources[0]
    named = [name for name in (id_column, group_column, actor_column) if name]
    cells = _parquet_cells if source.is_parquet else _text_cells
    table = cells(source, named, columns)
    if not table.rows:
        raise refuse(RANKINGS.tell("header-only", source.name))
    problems = [*_bad_ids(source, table, id_column), *_bad_ratings(source, table)]
    if problems:
        raise refuse(*problems)
    return RatingTable(
        subject_ids=tuple(table.texts[id_column]),
        columns=tuple(table.ratings),
        ratings=np.column_stack(list(table.ratings.values())),
        groups=tuple(table.texts.get(group_column, ())),
        actors=tuple(table.texts.get(actor_column, ())),
    )


@dataclass(slots=True)
class _Cells:
    """The columns of a table, unchecked."""

    rows: Sequence[int]
    """The line or row of each subject."""
    unit: str
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    ratings: dict[str, Floats] = field(default_factory=dict)
    """Not a number where the cell is blank, minus infinity where it holds something else."""


def _text_cells(source: Source, named: Sequence[str], asked: Sequence[str]) -> _Cells:
    names, rows = table_rows(source, RANKINGS, "\t" if source.plain_name.endswith(".tsv") else "")
    _check_names(source, names, [*named, *asked])
    lines: list[int] = []
    held: list[list[str]] = []
    for line, row in rows:
        if isinstance(row, Problem):
            raise refuse(replace(row, remedy="mend the line, or take it out", option="", rows_can_be_skipped=False))
        lines.append(line)
        held.append(row)
    table = _Cells(lines, "line")
    column = dict(zip(names, zip(*held, strict=True), strict=True)) if held else {}
    table.texts = {name: column[name] for name in named if held}
    for name in asked or [name for name in column if name not in named]:
        numbers = numbers_of_texts(column.get(name, ()), otherwise=-inf)
        filled = numbers[~np.isnan(numbers)]
        if asked or (len(filled) and filled[0] != -inf):
            table.ratings[name] = numbers
    return table


def _parquet_cells(source: Source, named: Sequence[str], asked: Sequence[str]) -> _Cells:
    with opened_parquet(source) as file:
        schema = file.schema_arrow
        _check_names(source, schema.names, [*named, *asked])
        fitting = [name for name in schema.names if name not in named and is_number(schema.field(name).type)]
        unfit = [(name, "texts or whole numbers") for name in named if not is_text_like(schema.field(name).type)]
        unfit += [(name, "numbers") for name in asked if name not in fitting]
        if unfit:
            raise refuse(
                *(RANKINGS.tell("bad-column", source.name, column=name, wanted=wanted) for name, wanted in unfit)
            )
        try:
            read = file.read(columns=[*named, *(asked or fitting)]).combine_chunks()
            table = _Cells(range(1, read.num_rows + 1), "row")
            table.texts = {name: [str(cell) for cell in as_texts(_whole(read, name)).to_pylist()] for name in named}
            table.ratings = {name: as_numbers(_whole(read, name)) for name in asked or fitting}
        except DAMAGED as error:
            raise refuse(RANKINGS.tell("unreadable-file", source.name, reason="its data are damaged")) from error
    return table


def _whole(table: pa.Table, name: str) -> pa.Array[Any]:
    """The column in one piece."""
    column = table.column(name)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _check_names(source: Source, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a table without the columns asked for; a first line with numbers in it is no line of names."""
    if any(numbers_of_texts([name]) < inf for name in names):
        raise refuse(RANKINGS.tell("no-header", source.name, lines=(1,), columns=", ".join(wanted)))
    missing = [name for name in wanted if name not in names]
    problems = [RANKINGS.tell("absent-column", source.name, column=name, columns=", ".join(names)) for name in missing]
    if problems := problems or duplicate_columns(source, RANKINGS, names, names):
        raise refuse(*problems)


def _bad_ids(source: Source, table: _Cells, id_column: str) -> list[Problem]:
    blank, twice, seen = Tally(), Tally(), set[str]()
    for row, name in zip(table.rows, table.texts[id_column], strict=True):
        if not name.strip():
            blank.add(row)
        elif name in seen:
            twice.add(row)
        seen.add(name)
    tallies = {"unnamed-subject": blank, "repeated-subject": twice}
    return [_counted(source, table, slug, tally, id_column) for slug, tally in tallies.items() if tally.count]


def _bad_ratings(source: Source, table: _Cells) -> list[Problem]:
    if not table.ratings:
        return [RANKINGS.tell("no-ratings", source.name)]
    problems = []
    for column, numbers in table.ratings.items():
        for bad, reason in (
            (numbers == -inf, "not a number"),
            (numbers == inf, "infinite"),
            ((numbers < 0) & (numbers > -inf), "negative"),
        ):
            rows = [table.rows[at] for at in np.flatnonzero(bad).tolist()]
            if rows:
                problems.append(_counted(source, table, "bad-rating", Tally(len(rows), rows), column, reason=reason))
        if not (numbers > 0).any():
            problems.append(RANKINGS.tell("no-rating-above-zero", source.name, column=column))
    return problems


def _counted(source: Source, table: _Cells, slug: str, tally: Tally, column: str, **words: Any) -> Problem:
    where: dict[str, Any] = {"lines": tally.lines, "count": tally.count, "place": table.unit}
    return RANKINGS.tell(slug, source.name, column=column, **where, **words)
