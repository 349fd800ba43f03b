"""From the engine's rows back to the lines of a delimited file.

The engine numbers the records of a file: the header, blank lines and rejected records count, line ends inside quotes
do not. A spooled row knows only its place among the rows that were kept. This walks the file in Python, only when a
message needs a line, and no farther than the last line it needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from aidos.ingest.sources import Source, open_bytes

__all__ = ["Records", "record_lines", "row_lines"]


@dataclass(frozen=True, slots=True)
class Records:
    """A delimited file as a sequence of records."""

    source: Source
    has_header: bool
    quoted: bool

    def __iter__(self) -> Iterator[tuple[int, int, bool]]:
        """Each record's number, its first line, and whether it is blank; all counted from 1."""
        record, line, open_quote = 0, 0, False
        with open_bytes(self.source) as stream:
            for text in stream:
                line += 1
                if not open_quote:
                    record += 1
                    yield record, line, not text.strip(b"\r\n")
                if self.quoted and text.count(b'"') % 2:
                    open_quote = not open_quote


def record_lines(records: Records, wanted: Collection[int]) -> dict[int, int]:
    """The first line of each wanted record."""
    if not records.quoted:
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
    row, lines, last = -1, {}, max(wanted, default=-1)
    for record, line, is_blank in records:
        if is_blank or record in rejected or (record == 1 and records.has_header):
            continue
        row += 1
        if row > last:
            break
        if row in wanted:
            lines[row] = line
    return lines
