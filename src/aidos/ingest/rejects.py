"""The records of a delimited file that the engine set aside, as problems with lines.

The engine's own messages quote cells, so only the kind of each, its record and its column are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aidos.engine.embedded import EmbeddedEngine
from aidos.errors import Problem
from aidos.ingest.formats.base import Sample
from aidos.ingest.formats.clock import suggest_time_format
from aidos.ingest.formats.layout import Layout, split_lines
from aidos.ingest.locate import Records, record_lines
from aidos.ingest.problems import LINES_SHOWN, describe

__all__ = ["Rejects"]

WIDTH_ERRORS = ("MISSING COLUMNS", "TOO MANY COLUMNS")
SLUGS = {"WIDTH": "ragged-rows", "INVALID ENCODING": "invalid-utf8", "LINE SIZE OVER MAXIMUM": "line-too-long"}


@dataclass(frozen=True, slots=True)
class Rejects:
    """A table of the engine with one row for each error in each record."""

    engine: EmbeddedEngine
    table: str
    file: Records
    layout: Layout
    sample: Sample

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
        slug = self._slug(kind, name)
        found = describe(
            slug,
            self.file.source.name,
            lines=lines,
            count=count,
            column=name,
            expected=len(self.layout.names),
            encoding="UTF-8",
            better="latin-1",
        )
        return self._with_time_format(found) if slug == "unreadable-time" else found

    def _slug(self, kind: str, name: str) -> str:
        if kind != "CAST":
            return SLUGS.get(kind, "bad-line")
        return "unreadable-time" if name == self.layout.mapping.get("timestamp") else "bad-number"

    def _with_time_format(self, found: Problem) -> Problem:
        """Suggest how times are written where the first rows share a way that is not understood without being told."""
        place = self.layout.names.index(found.column)
        rows = split_lines(self.sample.lines, self.layout.delimiter, quoted=self.layout.quoted)
        cells = [row[place] for row in rows[self.layout.has_header :] if len(row) > place]
        pattern = suggest_time_format(cells)
        if not pattern or pattern == self.layout.time_format:
            return found
        remedy = "say how times are written (check the order of day and month)"
        return replace(found, remedy=remedy, option=f"--time-format '{pattern}'")
