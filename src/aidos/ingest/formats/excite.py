"""The layout of the Excite search logs of the nineties: user, ``yymmddHHMMSS``, query, with tabs and no header."""

from __future__ import annotations

from collections.abc import Mapping

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import Recognition, Sample
from aidos.ingest.formats.layout import Layout, Plan
from aidos.ingest.options import ReadOptions
from aidos.ingest.timestamps import parse_time

__all__ = ["Excite"]

NAMES = ("user", "time", "query")
MAPPING = {"client_id": "user", "timestamp": "time", "user_query": "query"}
TIME_FORMAT = "%y%m%d%H%M%S"
STAMP_DIGITS = 12
FIT = 0.9


class Excite:
    """Excite search logs."""

    name = "excite"
    title = "Excite search log"

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:  # noqa: ARG002
        """These logs have no header."""
        return ""

    def recognise(self, sample: Sample) -> Recognition | None:
        """By three columns, the second a time of twelve digits."""
        rows = [line.split("\t") for line in sample.lines if line]
        fitting = sum(len(row) == len(NAMES) and _is_stamp(row[1]) for row in rows)
        if rows and fitting >= FIT * len(rows):
            return Recognition(0.9, "three tab-separated columns, the second a time written as yymmddHHMMSS")
        return None

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:  # noqa: ARG002
        """The three columns in their order."""
        layout = Layout(
            schema=SEARCH_LOG,
            names=NAMES,
            mapping=MAPPING,
            delimiter=options.delimiter or "\t",
            quotes=options.quotes or "none",
            has_header=bool(options.has_header),
            time_format=options.time_format or TIME_FORMAT,
        )
        return Plan(layout)


def _is_stamp(cell: str) -> bool:
    return len(cell) == STAMP_DIGITS and cell.isdecimal() and parse_time(cell) is not None
