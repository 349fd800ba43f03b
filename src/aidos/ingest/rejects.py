"""The records of a delimited file that the engine set aside, as problems with lines.

The engine's own messages quote cells, so only the kind of each, its record and its column are looked at.

The way from the engine's rows back to the lines of the file is here, too. The engine numbers the records of a file: the
header, blank lines and rejected records count, line ends inside quotes do not. A spooled row knows only its place among
the rows that were kept. This walks the file in Python, only when a message needs a line, and no farther than the last
line it needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import Problem
from aidos.ingest.formats.layout import Layout
from aidos.ingest.problems import LINES_SHOWN, describe
from aidos.ingest.sources import Source, open_bytes

__all__ = ["Records", "Rejects", "record_lines", "row_lines"]

WIDTH_ERRORS = ("MISSING COLUMNS", "TOO MANY COLUMNS")
SLUGS = {
    "WIDTH": "ragged-rows",
    "CAST": "bad-number",
    "INVALID ENCODING": "invalid-utf8",
    "LINE SIZE OVER MAXIMUM": "line-too-long",
}


@dataclass(frozen=True, slots=True)
class Rejects:
    """A table of the engine with one row for each error in each record."""

    engine: EmbeddedEngine
    table: str
    file: Records
    layout: Layout

    def records(self) -> frozenset[int]:
        """The numbers of all records that were set aside."""
        found = self.engine.run(f"select distinct line from {self.table}")
        return frozenset(int(str(row[0])) for row in found)

    def problems(self) -> list[Problem]:
        """One problem for each kind and column, with the first lines of each."""
        grouped = self.engine.run(
            f"""
            select kind, place, count(*), min(record, {LINES_SHOWN}) from (
                select distinct line as record,
                    if(error_type in {WIDTH_ERRORS}, 'WIDTH', error_type::varchar) as kind,
                    if(error_type = 'CAST', column_name, '') as place
                from {self.table}
            ) group by all order by min(record)
            """
        )
        return [
            self._problem(str(kind), str(place), int(str(count)), records) for kind, place, count, records in grouped
        ]

    def _problem(self, kind: str, place: str, count: int, records: object) -> Problem:
        lines = sorted(record_lines(self.file, list(records)).values())  # type: ignore[call-overload]
        name = self.layout.names[int(place.removeprefix("c")) - 1] if place else ""
        return describe(
            SLUGS.get(kind, "bad-line"),
            self.file.source.name,
            lines=lines,
            count=count,
            column=name,
            expected=len(self.layout.names),
            encoding="UTF-8",
            better="latin-1",
        )


@dataclass(frozen=True, slots=True)
class Records:
    """A delimited file as a sequence of records."""

    source: Source
    has_header: bool
    spans_lines: bool
    """Whether a record may hold line ends inside quotes."""

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        """Each record's number, its first line, and whether it is blank; all counted from 1."""
        record, line, open_quote = 0, 0, False
        with open_bytes(self.source) as stream:
            for text in stream:
                line += 1
                if not open_quote:
                    record += 1
                    yield record, line, not text.strip(b"\r\n")
                if self.spans_lines and text.count(b'"') % 2:
                    open_quote = not open_quote


def record_lines(records: Records, wanted: Collection[int]) -> dict[int, int]:
    """The first line of each wanted record."""
    if not records.spans_lines:
        return {number: number for number in wanted}
    last, lines = max(wanted, default=0), {}
    for record, line, _ in records:
        if record > last:
            break
        if record in wanted:
            lines[record] = line
    return lines


def row_lines(records: Records, wanted: Collection[int], rejected: Collection[int]) -> dict[int, int]:
    """The first line of each wanted row, rows counted from 0 among the records that were not rejected."""
    row, lines, last = -1 - records.has_header, {}, max(wanted, default=-1)
    for record, line, is_blank in records:
        if is_blank or record in rejected:
            continue
        row += 1
        if row > last:
            break
        if row in wanted:
            lines[row] = line
    return lines
