"""Search logs whose columns always stand in the same order, with tabs between and no quotes: AOL's and Excite's.

AOL's of 2006, which many later logs share: AnonID, Query, QueryTime, ItemRank, ClickURL. A row with a ClickURL is a
click, any other a query; one row in is one row out. The data themselves do not belong in any project: people were
recognised. Excite's of the nineties: user, ``yymmddHHMMSS``, query, and never a line of names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import Layout, Plan, Recognition, Sample
from aidos.ingest.options import ReadOptions
from aidos.ingest.timestamps import parse_time

__all__ = ["AOL", "EXCITE", "FixedColumns"]

FIT = 0.9
"""The share of rows that must have the shape."""
STAMP_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedColumns:
    """A format by the order of its columns."""

    name: str
    title: str
    mapping: Mapping[str, str]
    """Column of aidos to the format's own name, in the order of the file."""
    time_format: str
    is_row: Callable[[Sequence[str]], bool]
    """Whether the cells of a line have the format's shape."""
    shape: Recognition
    has_names: bool
    """Whether a file may begin with the names of its columns."""

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:
        """By the names in the first line."""
        named = not columns and self._is_header(first, "\t")
        return f"the first line names the columns {', '.join(self.mapping.values())}" if named else ""

    def recognise(self, sample: Sample) -> Recognition | None:
        """By the shape of the rows."""
        rows = [line.split("\t") for line in sample.lines if line]
        fitting = sum(map(self.is_row, rows))
        return self.shape if rows and fitting >= FIT * len(rows) else None

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:  # noqa: ARG002
        """The columns in their order."""
        delimiter = options.separator or "\t"
        header = self._is_header(sample.first, delimiter)
        layout = Layout(
            schema=SEARCH_LOG,
            names=tuple(self.mapping.values()),
            mapping=self.mapping,
            delimiter=delimiter,
            quotes=options.quoting or "none",
            has_header=header if options.header is None else options.header,
            time_format=options.time_format or self.time_format,
        )
        return Plan(layout)

    def _is_header(self, line: str, delimiter: str) -> bool:
        names = [name.lower() for name in self.mapping.values()]
        return self.has_names and [cell.strip().lower() for cell in line.split(delimiter)] == names


def _is_aol(cells: Sequence[str]) -> bool:
    if len(cells) != len(AOL.mapping):
        return False
    person, _, time, rank, url = cells
    clicked = rank.isdecimal() and url != "" and " " not in url
    return person.isdecimal() and parse_time(time) is not None and (clicked or rank == url == "")


def _is_excite(cells: Sequence[str]) -> bool:
    return len(cells) == len(EXCITE.mapping) and _is_stamp(cells[1])


def _is_stamp(cell: str) -> bool:
    return len(cell) == STAMP_DIGITS and cell.isdecimal() and parse_time(cell) is not None


AOL = FixedColumns(
    name="aol",
    title="AOL search log",
    mapping={
        "client_id": "AnonID",
        "user_query": "Query",
        "timestamp": "QueryTime",
        "position": "ItemRank",
        "object_id": "ClickURL",
    },
    time_format="%Y-%m-%d %H:%M:%S",
    is_row=_is_aol,
    shape=Recognition(0.7, "five tab-separated columns: a number, a text, a time, and a rank with its address"),
    has_names=True,
)
"""With a line of names or without."""
EXCITE = FixedColumns(
    name="excite",
    title="Excite search log",
    mapping={"client_id": "user", "timestamp": "time", "user_query": "query"},
    time_format="%y%m%d%H%M%S",
    is_row=_is_excite,
    shape=Recognition(0.9, "three tab-separated columns, the second a time written as yymmddHHMMSS"),
    has_names=False,
)
