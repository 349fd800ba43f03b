"""A page, described as a value and rendered to one HTML file that opens anywhere, offline, for years.

The file holds no scripts and no address of anything outside itself (its own content-security policy forbids both), and
follows the reader's light or dark scheme, a phone's width and a printer. The same page gives the same bytes.

A page knows where its numbers come from. One made of a `Release` shows the promise; one that holds a `Finding`, in any
chapter, is marked as not for release. The mark is a reminder to people: it does not stop anybody from sending the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from aidos.core.guarantee import NoGuarantee, statement
from aidos.core.mechanism import Finding, Release
from aidos.errors import ParameterError, Problem, install_command
from aidos.report.drawing import Chart
from aidos.report.values import Marked, Value, is_number, show

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = [
    "Block",
    "Callout",
    "Card",
    "Chapter",
    "Check",
    "CheckList",
    "Code",
    "DataTable",
    "Facts",
    "Figure",
    "Link",
    "Links",
    "ListedItem",
    "Page",
    "Problems",
    "Prose",
    "Source",
    "TwoLists",
    "render",
    "render_blocks",
]

Source = Release[Any] | Finding[Any] | None
"""Where the numbers come from; None for data about nobody, such as a generated sample."""
UNDRAWN = (
    "Figures are shown as tables, because the packages that draw charts are not installed: "
    f"`{install_command('report')}` brings them."
)


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
    titled: bool = True
    """Whether a terminal shows the caption too: what stands above the table may say it there."""

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
    """Letters as they stand: what to type to get the same (a command, Python, a recipe), or a drawing, or a name."""

    text: str
    language: Literal["command", "python", "recipe", "text"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One thing that was found, with its evidence: a quotation in which some words are marked, and notes beside it."""

    title: str
    marks: tuple[str, ...] = ()
    """What is to be known at a glance: "rank 1", "both words"."""
    quotation: tuple[tuple[str, bool], ...] = ()
    """The text in pieces, each with whether it is marked."""
    source: str = ""
    """Where the quotation is from."""
    notes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Lists of sentences, each under a label: why, what would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """One line of a list: what it is, where it is from, and what became of it."""

    title: str
    source: str = ""
    move: Literal["", "up", "down"] = ""
    """Drawn as an arrow beside the words."""
    words: str = ""
    """What became of it: "up 4 places: Hiking"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoLists:
    """Two numbered lists side by side, the second with what moved against the first."""

    title: str
    marks: tuple[str, ...] = ()
    """What is to be known at a glance."""
    names: tuple[str, str]
    lists: tuple[tuple[ListedItem, ...], tuple[ListedItem, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Another page of the same directory, and what is there."""

    label: str
    address: str
    """Relative to this page: pages lead nowhere else."""
    words: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(\w[\w-]*/)*\w[\w-]*\.html", self.address):
            raise ParameterError("a link leads to a page in the same directory or below it, and nowhere else")


@dataclass(frozen=True, slots=True)
class Links:
    """Pages to go on with."""

    pages: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Problems:
    """What is wrong with files: where, what to do, and the option to paste that would mend it."""

    problems: tuple[Problem, ...]

    @property
    def table(self) -> DataTable:
        """For a page, a row each."""
        return DataTable(
            caption="What is wrong",
            columns=("file", "problem", "where", "what to do"),
            rows=tuple(
                (
                    each.file,
                    each.sentence,
                    each.where(),
                    f"{each.remedy}: {each.option}" if each.option else each.remedy,
                )
                for each in self.problems
            ),
        )


Block = Prose | Facts | DataTable | Figure | Callout | Code | CheckList | Card | TwoLists | Links | Problems
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


def render(page: Page) -> str:
    """The page as one HTML file."""
    figures, places = count(1), count(1)
    chapters = [
        {
            "title": chapter.title,
            "standing": _standing(chapter.source),
            "blocks": [_placed(block, f"part-{next(places)}", figures) for block in chapter.blocks],
        }
        for chapter in page.chapters
    ]
    standings = [standing for source in (page.source, *page.findings()[:1]) if (standing := _standing(source))]
    return (
        _environment()
        .get_template("page.html")
        .render(
            page=page,
            chapters=chapters,
            standings=list(dict.fromkeys(standings)),
            closed=bool(page.findings()),
            remark=UNDRAWN if any(map(_is_undrawn, page.chapters)) else "",
        )
    )


def render_blocks(blocks: Sequence[Block]) -> str:
    """Blocks alone as a piece of HTML with its own style, for a notebook."""
    figures, places = count(1), count(1)
    placed = [_placed(block, f"part-{next(places)}", figures) for block in blocks]
    return _environment().get_template("piece.html").render(blocks_placed=placed)


def _placed(block: Block, identifier: str, figures: Iterator[int]) -> dict[str, object]:
    """A block with what only its place in the page can tell: its id, and its number if it is a figure."""
    number = next(figures) if isinstance(block, Figure) else 0
    return {"kind": type(block).__name__.lower(), "block": block, "id": identifier, "number": number}


def _is_undrawn(chapter: Chapter) -> bool:
    return any(isinstance(block, Figure) and block.chart.wide is None for block in chapter.blocks)


def _standing(source: Source) -> tuple[str, str, str] | None:
    """Kind, word and sentence of the mark that a page or chapter carries."""
    match source:
        case None:
            return None
        case Finding(about=about):
            return (
                "finding",
                "Finding: not for release",
                f"This holds truth about {about}: for the one who asked, not to be passed on.",
            )
        case Release(guarantee=NoGuarantee() as guarantee):
            return "caution", "No promise", statement(guarantee)
        case Release(guarantee=guarantee, noise_source=noise):
            return "promise", "Promise", f"{statement(guarantee)} Source of noise: {noise}."


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def written(value: object) -> object:
        """Every value the templates write passes here before it is escaped."""
        if isinstance(value, Marked):
            mark = Markup("<mark>{}</mark>")
            return Markup("").join(mark.format(show(text)) if marked else show(text) for text, marked in value.pieces)
        return value if isinstance(value, Markup) or not isinstance(value, str | int | float | None) else show(value)

    def inline(text: str) -> Markup:
        """Escaped text with the words between backticks set as code."""
        return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(show(text)))))  # noqa: S704  # escaped above

    def paragraphs(text: str) -> list[str]:
        return [part for part in re.split(r"\n\s*\n", text.strip()) if part]

    environment = Environment(
        loader=PackageLoader("aidos.report", "templates"),
        autoescape=True,
        finalize=written,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(inline=inline, paragraphs=paragraphs)
    return environment


def _require(value: object, otherwise: str) -> None:
    if not value or (isinstance(value, str) and not value.strip()):
        raise ParameterError(otherwise)
