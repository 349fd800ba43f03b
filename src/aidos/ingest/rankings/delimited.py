"""CSV and TSV: a line of column names, then one row for each ranked object."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from aidos.errors import Problem
from aidos.ingest.rankings.cells import labels_of, numbers_of_texts
from aidos.ingest.rankings.checks import Origin
from aidos.ingest.rankings.columns import BODY, HEAD, find_columns, missing_columns, naming_column
from aidos.ingest.rankings.flat import Heading, Row, group_rows, heading_of
from aidos.ingest.rankings.rows import RawRanking
from aidos.ingest.rankings.tablerows import duplicate_columns, table_rows
from aidos.ingest.rankings.troubles import Complaints, refuse
from aidos.ingest.sources import Source

__all__ = ["read_delimited"]


def read_delimited(
    source: Source, delimiter: str, renames: Mapping[str, str], system: str, complaints: Complaints
) -> Iterator[tuple[RawRanking, Origin]]:
    """The rankings of a table, unchecked."""
    names, rows = table_rows(source, delimiter)
    found = find_columns(names, renames)
    required = ("object_id", "score", "system") if system else ("object_id", "score")
    if problems := [
        *missing_columns(source.name, names, found, required, lines=(1,)),
        *duplicate_columns(source, names, list(found.values())),
    ]:
        raise refuse(*problems)
    origin = Origin(file=source.name, names=found)
    layout = _Layout(names, found)
    unnamed = naming_column(found)
    for raw in group_rows(
        _rows(rows, layout, system, complaints),
        head=layout.head,
        build=layout.build,
        tell_unnamed=lambda line: complaints.add(origin.problem("empty-id", line, unnamed)),
    ):
        yield raw, origin


@dataclass(slots=True)
class _Layout:
    """Which cells of a row say what."""

    names: Sequence[str]
    found: Mapping[str, str]
    heads: list[str] = field(init=False)
    bodies: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.heads = [column for column in HEAD if column in self.found]
        self.bodies = [column for column in BODY if column in self.found]

    def cells(self, columns: Sequence[str]) -> Callable[[Sequence[str]], Any]:
        """Takes those cells out of a row: a single one as it is, several as a tuple."""
        return itemgetter(*(self.names.index(self.found[column]) for column in columns))

    def head(self, key: Any) -> Heading:
        """What the rows of a ranking have in common."""
        return heading_of(dict(zip(self.heads, (key,) if len(self.heads) == 1 else key, strict=True)))

    def build(self, heading: Heading, held: list[tuple[str, ...]], lines: list[int]) -> RawRanking:
        """The ranking of those rows."""
        columns: dict[str, tuple[str, ...]] = dict(zip(self.bodies, zip(*held, strict=True), strict=True))
        ranks = columns.get("position")
        return RawRanking(
            ranking_id=heading.ranking_id,
            query_id=heading.query_id,
            searcher_id=heading.searcher_id,
            system=heading.system,
            object_ids=columns["object_id"],
            scores=numbers_of_texts(columns["score"]),
            positions=None if ranks is None else numbers_of_texts(ranks, otherwise=math.inf),
            groups=labels_of(columns.get("group", ())),
            actors=labels_of(columns.get("actor", ())),
            lines=lines,
        )


def _rows(
    rows: Iterator[tuple[int, list[str] | Problem]], layout: _Layout, system: str, complaints: Complaints
) -> Iterator[Row]:
    key_of, cells_of = layout.cells(layout.heads), layout.cells(layout.bodies)
    system_of = layout.cells(["system"]) if system else None
    for line, row in rows:
        if isinstance(row, Problem):
            complaints.add(row)
            yield line, None, None
        elif system_of is None or system_of(row) == system:
            yield line, key_of(row), cells_of(row)
