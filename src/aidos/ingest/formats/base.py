"""What a format is: the contract between the modules beside this one and the reader above them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from aidos.core.records import Schema

__all__ = ["BadRow", "LineFormat", "Recognition", "Row", "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a file, for recognising it."""

    name: str
    """The file's name without its compression suffix, lower case."""
    lines: tuple[str, ...] = ()
    """The first complete lines (up to 200), without line ends and without a byte order mark."""
    further: tuple[str, ...] = ()
    """The lines behind these that were read with them: for advice, not for recognising."""

    @property
    def first(self) -> str:
        """The first line that is not blank: the header, where there is one."""
        return next(filter(None, self.lines), "")


@dataclass(frozen=True, slots=True)
class Recognition:
    """How sure a format is that a file is its own, and the reason in words (no cells quoted)."""

    confidence: float
    """1: its own header or marks were seen; 0.5: the shape fits; below: a guess."""
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row in the columns of the format's schema; a column that is absent or None is null."""

    line: int
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that could not be read. The sentence says why without quoting the line."""

    line: int
    kind: str
    sentence: str
    column: str = ""


class LineFormat(Protocol):
    """A format that Python reads line by line (the delimited ones are read by the engine instead)."""

    name: str
    """What ``--format`` takes: ubi, elastic, solr, trec-run..."""
    title: str
    """What people call it."""
    schema: Schema

    def recognise(self, sample: Sample) -> Recognition | None:
        """Whether the file is of this format."""
        ...

    def columns(self) -> Mapping[str, str]:
        """The format's own field names and the column of the schema each becomes, for the check report."""
        ...

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        """Rows from numbered lines (blank ones included); times are timezone-naive UTC datetimes.

        Never raises on bad content: every line that cannot be read becomes a BadRow.
        """
        ...
