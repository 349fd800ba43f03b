"""The layout of the AOL search log of 2006, which many later logs share.

Tab-separated and never quoted: AnonID, Query, QueryTime, ItemRank, ClickURL. A row with a ClickURL is a click, any
other a query; one row in is one row out. The data themselves do not belong in any project: people were recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import Recognition, Sample
from aidos.ingest.formats.layout import Layout, Plan
from aidos.ingest.options import ReadOptions
from aidos.ingest.timestamps import parse_time

__all__ = ["Aol"]

NAMES = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
MAPPING = dict(zip(("client_id", "user_query", "timestamp", "position", "object_id"), NAMES, strict=True))
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
FIT = 0.9


class Aol:
    """AOL search logs, with their header or without."""

    name = "aol"
    title = "AOL search log"

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:
        """By the five names in the first line."""
        return "" if columns or not _is_header(first) else f"the first line names the columns {', '.join(NAMES)}"

    def recognise(self, sample: Sample) -> Recognition | None:
        """By the shape of the rows."""
        rows = [line.split("\t") for line in sample.lines if line]
        fitting = sum(map(_is_row, rows))
        if rows and fitting >= FIT * len(rows):
            return Recognition(0.7, "five tab-separated columns: a number, a text, a time, and a rank with its address")
        return None

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:  # noqa: ARG002
        """The five columns in their order."""
        header = _is_header(sample.first, options.delimiter or "\t")
        layout = Layout(
            schema=SEARCH_LOG,
            names=NAMES,
            mapping=MAPPING,
            delimiter=options.delimiter or "\t",
            quotes=options.quotes or "none",
            has_header=header if options.has_header is None else options.has_header,
            time_format=options.time_format or TIME_FORMAT,
        )
        return Plan(layout)


def _is_row(cells: Sequence[str]) -> bool:
    if len(cells) != len(NAMES):
        return False
    person, _, time, rank, url = cells
    clicked = rank.isdecimal() and url != "" and " " not in url
    return person.isdecimal() and parse_time(time) is not None and (clicked or rank == url == "")


def _is_header(line: str, delimiter: str = "\t") -> bool:
    return [cell.strip().lower() for cell in line.split(delimiter)] == [name.lower() for name in NAMES]
