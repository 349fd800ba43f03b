"""The layout of the AOL search log of 2006, which many later logs share.

Tab-separated and never quoted: AnonID, Query, QueryTime, ItemRank, ClickURL. A row with a ClickURL is a click, any
other a query; one row in is one row out. The data themselves do not belong in any project: people were recognised.
"""

from __future__ import annotations

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

    def recognise(self, sample: Sample) -> Recognition | None:
        """By the five names in the first line, or else by the shape of the rows."""
        if sample.lines and _is_header(sample.lines[0]):
            return Recognition(1.0, f"the first line names the columns {', '.join(NAMES)}")
        rows = [line.split("\t") for line in sample.lines if line]
        fitting = sum(len(row) == len(NAMES) and row[0].isdecimal() and parse_time(row[2]) is not None for row in rows)
        if rows and fitting >= FIT * len(rows):
            return Recognition(0.7, "five tab-separated columns: a number, a text and a time come first")
        return None

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:  # noqa: ARG002
        """The five columns in their order."""
        header = bool(sample.lines) and _is_header(sample.lines[0], options.delimiter or "\t")
        layout = Layout(
            schema=SEARCH_LOG,
            names=NAMES,
            mapping=MAPPING,
            delimiter=options.delimiter or "\t",
            quoted=False,
            has_header=header if options.has_header is None else options.has_header,
            time_format=options.time_format or TIME_FORMAT,
        )
        return Plan(layout)


def _is_header(line: str, delimiter: str = "\t") -> bool:
    return [cell.strip().lower() for cell in line.split(delimiter)] == [name.lower() for name in NAMES]
