"""A page, described as a value and rendered to one HTML file that opens anywhere, offline, for years.

The file holds no scripts and no address of anything outside itself (its own content-security policy forbids both), and
follows the reader's light or dark scheme, a phone's width and a printer. The same page gives the same bytes.

A page knows where its numbers come from. One made of a `Release` shows the promise; one that holds a `Finding`, in any
chapter, is marked as not for release. The mark is a reminder to people: it does not stop anybody from sending the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from aidos.core.mechanism import Finding, Release
from aidos.errors import ParameterError
from aidos.report.drawing import Chart
from aidos.report.values import Value, is_number

__all__ = [
    "Block",
    "Callout",
    "Chapter",
    "Check",
    "CheckList",
    "Code",
    "DataTable",
    "Facts",
    "Figure",
    "Page",
    "Prose",
    "Source",
]

Source = Release[Any] | Finding[Any] | None
"""Where the numbers come from; None for data about nobody, such as a generated sample."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs, parted by an empty line. Words between backticks are set as code; there is no other markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A few numbers that matter, as tiles of (label, value)."""

    items: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTable:
    """Rows under named columns; the first column names the row."""

    caption: str
    """What the table holds; it stands above it."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    numeric: tuple[str, ...] | None = None
    """Columns set flush right, for cells such as "12 MB"; unless given, those that hold numbers only."""

    def __post_init__(self) -> None:
        _require(self.caption, "a table needs a caption")
        _require(self.columns, f"the table {self.caption!r} has no columns")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise ParameterError(
                    f"row {number} of the table {self.caption!r} has {len(row)} cells for {len(self.columns)} columns",
                    hint="give every row one cell a column, None where there is nothing",
                )

    def is_numeric(self, index: int) -> bool:
        """Whether a column, by its place, is set flush right."""
        if self.numeric is not None:
            return self.columns[index] in self.numeric
        cells = [row[index] for row in self.rows if row[index] is not None]
        return bool(cells) and all(map(is_number, cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart, the finding it shows, and the numbers behind it for whoever cannot see it or does not believe it."""

    chart: Chart
    caption: str
    """The finding in a sentence ("Half of all queries occur once"), not a name of the axes."""
    table: DataTable

    def __post_init__(self) -> None:
        _require(self.caption, "a figure needs a caption that states what it shows")


@dataclass(frozen=True, slots=True)
class Callout:
    """One thing the reader must not miss; its kind is told by a word and a shape, never by colour alone."""

    kind: Literal["promise", "finding", "caution"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What to type to get the same: a command, Python, or a recipe."""

    text: str
    language: Literal["command", "python", "recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was checked, and how it came out."""

    label: str
    outcome: Literal["passed", "failed", "skipped"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CheckList:
    """What was checked, each with its outcome as a word and a shape."""

    checks: tuple[Check, ...]


Block = Prose | Facts | DataTable | Figure | Callout | Code | CheckList
"""Whatever may stand in a chapter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]
    source: Source = None

    def __post_init__(self) -> None:
        _require(self.title, "a chapter needs a title")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One report."""

    title: str
    lead: str
    """The gist in a sentence or two, under the title."""
    chapters: tuple[Chapter, ...]
    source: Source = None
    """What the whole page is about; a chapter may name its own."""
    colophon: str = ""
    """The last line: which version made it, from what. A time here costs the page its reproducible bytes."""

    def __post_init__(self) -> None:
        _require(self.title, "a page needs a title")

    def findings(self) -> tuple[Finding[Any], ...]:
        """Every finding the page holds, its own first; one is enough to keep the page in the building."""
        sources = (self.source, *(chapter.source for chapter in self.chapters))
        return tuple(source for source in sources if isinstance(source, Finding))


def _require(value: object, otherwise: str) -> None:
    if not value or (isinstance(value, str) and not value.strip()):
        raise ParameterError(otherwise)
