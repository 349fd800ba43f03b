"""The records of a delimited file that the engine set aside, as problems with lines.

The engine's own messages quote cells, so only the kind of each, its record and its column are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import Problem
from aidos.ingest.formats.layout import Layout
from aidos.ingest.locate import Records, record_lines
from aidos.ingest.problems import LINES_SHOWN, describe

__all__ = ["Rejects"]

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
