"""What a format is: the contract between the modules beside this one and the reader above them.

Python reads a `LineFormat` line by line. The engine reads a `DelimitedFormat` by its `Layout`: which character stands
between the columns, and what the columns are.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from aidos.core.records import Schema
from aidos.errors import Problem
from aidos.ingest.advice import Unused
from aidos.ingest.options import Quotes, ReadOptions
from aidos.ingest.problems import describe

__all__ = [
    "BadRow",
    "DelimitedFormat",
    "Layout",
    "LineFormat",
    "Plan",
    "Recognition",
    "Row",
    "Sample",
    "choose_delimiter",
    "declare_delimiter",
    "describe_delimiter",
    "header_delimiter",
    "in_words",
    "split_line",
    "split_lines",
    "suggest_delimiter",
    "usual_quotes",
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Everything the engine must know to read a delimited file."""

    schema: Schema
    names: tuple[str, ...]
    """The file's columns in order, c1 to cn where the file does not name them."""
    mapping: Mapping[str, str]
    """Column of the schema to column of the file."""
    delimiter: str
    quotes: Quotes
    """What double quotes are: around cells of one line, text, or as RFC 4180 has them."""
    has_header: bool
    time_format: str = ""
    """``iso`` (ISO 8601, with or without a zone), ``epoch`` (seconds, milliseconds or microseconds since 1970), or a
    pattern of strptime; each cell by itself when empty: twelve digits are ``yymmddHHMMSS``, other numbers epochs."""
    width_is_known: bool = True
    """Whether a header or the format says how many columns there are, and not the rows."""

    @property
    def quoted(self) -> bool:
        """Whether cells may stand between double quotes."""
        return self.quotes != "none"


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout with what is wrong with it; no layout when the file cannot be read at all."""

    layout: Layout | None
    problems: tuple[Problem, ...] = ()
    unused: tuple[Unused, ...] = ()
    """Columns of the file that become nothing."""


@runtime_checkable
class DelimitedFormat(Protocol):
    """A format that the engine reads: columns with a delimiter between."""

    @property
    def name(self) -> str:
        """What ``--format`` takes."""
        ...

    @property
    def title(self) -> str:
        """What people call it."""
        ...

    def by_header(self, first: str, columns: Mapping[str, str]) -> str:
        """Why the first line says that the file is of this format; empty when it does not."""
        ...

    def recognise(self, sample: Sample) -> Recognition | None:
        """Whether the file is of this format, as far as its rows tell."""
        ...

    def plan(self, file: str, sample: Sample, options: ReadOptions) -> Plan:
        """How to read it."""
        ...


def split_lines(lines: Sequence[str], delimiter: str, *, quoted: bool) -> list[list[str]]:
    """The cells of the rows that some lines hold, as the engine will see them; blank lines hold none."""
    if quoted:
        try:
            return [row for row in csv.reader([f"{line}\n" for line in lines], delimiter=delimiter) if row]
        except csv.Error:  # a cell that never ends, or is larger than the standard library likes
            pass
    return [line.split(delimiter) for line in lines if line]


USUAL = "\t,;|"
UNUSUAL = "^~\x01\x1f#!"
"""Delimiters that are suggested but never assumed: plain text has them too."""
LINES_LOOKED_AT = 50
AGREEMENT = 0.9
"""The share of rows that must have the same number of columns."""
MAJORITY = 0.5
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}
ESCAPES = {"\t": "'\\t'", "\x01": "$'\\x01'", "\x1f": "$'\\x1f'"}


def choose_delimiter(lines: Sequence[str], candidates: str = USUAL) -> str:
    """The delimiter that most lines agree on, empty when there is none; of several, the one that gives most columns."""
    looked_at = [line for line in lines if line][:LINES_LOOKED_AT]
    best, best_key = "", (0.0, 0)
    for delimiter in candidates:
        key = _fit(looked_at, delimiter)
        if key > best_key:
            best, best_key = delimiter, key
    return best


def suggest_delimiter(lines: Sequence[str], wrong: str) -> str:
    """A delimiter that fits better than ``wrong``, usual or not; empty when there is none."""
    return choose_delimiter(lines, USUAL.replace(wrong, "")) or choose_delimiter(lines, UNUSUAL.replace(wrong, ""))


def header_delimiter(header: str) -> str:
    """The delimiter that cuts the line of names into most columns; empty when none cuts it."""
    widths = {delimiter: len(split_line(header, delimiter)) for delimiter in USUAL}
    best = max(widths, key=lambda delimiter: widths[delimiter])
    return best if widths[best] > 1 else ""


def usual_quotes(header: str, delimiter: str) -> Quotes:
    """What double quotes are, by the first line alone.

    In a tab-separated file they are what somebody typed (a phrase to be searched for as it stands), unless the names
    of the columns stand in quotes too.
    """
    is_text = delimiter == "\t" and not any(cell.startswith('"') for cell in header.split(delimiter))
    return "none" if is_text else "line"


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of one line, quotes heeded."""
    return (split_lines([line], delimiter, quoted=True) or [[""]])[0]


def in_words(delimiter: str) -> str:
    """What people call it."""
    return NAMES.get(delimiter, f"the character {delimiter!r}")


def describe_delimiter(file: str, found: str, better: str) -> Problem:
    """The problem that columns are separated by something better than what was expected."""
    return describe(
        "wrong-delimiter", file, lines=(1,), found=found, better=in_words(better), option=declare_delimiter(better)
    )


def declare_delimiter(delimiter: str) -> str:
    """The option that says it."""
    return "--delimiter " + ESCAPES.get(delimiter, f"'{delimiter}'")


def _fit(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """How many rows agree on a number of columns, and on which; a bare majority must have the first row with it."""
    best = (0.0, 0)
    for quoted in (False, True):
        rows = split_lines(lines, delimiter, quoted=quoted)
        share, width = _agreement(rows)
        if width > 1 and (share >= AGREEMENT or (share > MAJORITY and len(rows[0]) == width)):
            best = max(best, (share, width))
    return best


def _agreement(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """The share of rows that have the most usual number of columns, and that number."""
    widths = Counter(map(len, rows)).most_common(1)
    return (widths[0][1] / len(rows), widths[0][0]) if widths else (0.0, 0)
