"""The same facts and tables for a console: plain text first, style where there is a terminal to show it.

The functions give rich renderables; `write` prints them, and the caller chooses where to (results go to stdout).
Nothing depends on colour, so NO_COLOR, a pipe and a log file lose nothing. In a narrow terminal tables become a list of
records. What a reader will paste or open, an option or a path, is never broken over lines nor cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import assert_never

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from aidos.core.plaintext import harmless
from aidos.errors import Problem
from aidos.report.page import (
    Block,
    Callout,
    Card,
    CheckList,
    Code,
    DataTable,
    Facts,
    Figure,
    Links,
    ListedItem,
    Problems,
    Prose,
    TwoLists,
)
from aidos.report.values import Value, is_number, show

__all__ = ["blocks_shown", "facts_table", "problem_list", "rows_table", "write"]

_NARROW = 60


def blocks_shown(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks of a page for a terminal; a figure is its table, and its caption."""
    for block in blocks:
        match block:
            case Facts(items):
                yield facts_table(items)
            case DataTable(caption=caption, columns=columns, rows=rows, titled=titled):
                yield rows_table(columns, rows, title=caption if titled else "")
            case Problems(problems):
                yield problem_list(problems)
            case Figure(caption=caption, table=table):
                yield Text(show(caption))
                yield rows_table(table.columns, table.rows, title=table.caption)
            case Prose(text) | Callout(text=text):
                yield _text(text)
            case Code(text=text):
                yield _unbroken(text)
            case Card() | TwoLists() | CheckList() | Links():
                yield from _list_shown(block)
            case _:
                assert_never(block)


def _list_shown(block: Card | TwoLists | CheckList | Links) -> Iterator[RenderableType]:
    match block:
        case CheckList(checks):
            for check in checks:
                yield _text(f"{check.outcome}: {check.label}" + (f" ({check.detail})" if check.detail else ""))
        case Card() as card:
            yield from _card(card)
        case TwoLists(title=title, names=names, lists=lists):
            rows = tuple(zip_longest(*([_listed(each) for each in side] for side in lists), fillvalue=""))
            yield rows_table(names, rows, title=title)
        case Links(pages):
            yield facts_table([(link.label, link.address) for link in pages])


def _card(card: Card) -> Iterator[RenderableType]:
    yield _text(" \u00b7 ".join((card.title, *card.marks)), "bold")
    if card.quotation:
        marked = [(show(piece), "bold underline" if is_marked else "") for piece, is_marked in card.quotation]
        yield Text.assemble(*marked, overflow="fold")
    if card.source:
        yield _text(card.source, "dim")
    for label, sentences in card.notes:
        for sentence in sentences:
            yield _text(f"{label}: {sentence}")


def _listed(item: ListedItem) -> str:
    return f"{item.title} ({item.words})" if item.words else item.title


def facts_table(facts: Sequence[tuple[str, Value]]) -> RenderableType:
    """Labels and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", overflow="fold")
    grid.add_column(overflow="fold")
    for label, value in facts:
        grid.add_row(_text(label), _text(value))
    return grid


def rows_table(columns: Sequence[str], rows: Sequence[Sequence[Value]], *, title: str = "") -> RenderableType:
    """A table with numbers flush right; a list of records where the terminal is too narrow for it."""
    return _RowsTable(tuple(columns), tuple(map(tuple, rows)), title)


def problem_list(problems: Iterable[Problem]) -> RenderableType:
    """All problems, by file: what is wrong, how often and on which lines, what to do, and the option to paste."""
    ordered = sorted(problems, key=lambda problem: problem.file)
    parts: list[RenderableType] = []
    for file, found in groupby(ordered, key=lambda problem: problem.file):
        if parts:
            parts.append(Text())
        parts.append(_unbroken(file, "bold"))
        for problem in found:
            parts += _problem(problem)
    return Group(*parts)


def write(console: Console, renderable: RenderableType) -> None:
    """Print it without cutting lines at the console's width: the terminal itself wraps what is longer.

    Whatever made it, no text in it acts on the terminal; styles, which are the console's own, do.
    """
    console.print(_Harmless(renderable), crop=False)


def _problem(problem: Problem) -> list[RenderableType]:
    column = f" (column {show(problem.column)})" if problem.column else ""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(" *"), _text(f"{problem.sentence}{column}"))
    for words in (problem.where(), problem.remedy):
        if words:
            grid.add_row("", _text(words, "dim"))
    return [grid, _unbroken(f"   {problem.option}", "bold")] if problem.option else [grid]


@dataclass(frozen=True, slots=True)
class _Harmless:
    """Anything that can be printed, with everything visible in it that would act."""

    inner: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self.inner, options):
            yield segment if segment.control else segment._replace(text=harmless(segment.text))


@dataclass(frozen=True, slots=True)
class _RowsTable:
    """Decides between table and records only when it is printed, for then the width is known."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title:
            yield _text(self.title, "bold")
        table = self._table()
        if not self.rows:
            yield _text("no rows", "dim")
        elif options.max_width >= min(_NARROW, Measurement.get(console, options.update(width=_NARROW), table).maximum):
            yield table
        else:
            yield from self._records()

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
        for index, column in enumerate(self.columns):
            cells = [row[index] for row in self.rows if row[index] is not None]
            numeric = bool(cells) and all(map(is_number, cells))
            table.add_column(_text(column), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
        for row in self.rows:
            table.add_row(*map(_text, row))
        return table

    def _records(self) -> RenderResult:
        for number, row in enumerate(self.rows):
            if number:
                yield Text()
            yield facts_table(tuple(zip(self.columns, row, strict=True)))


def _text(value: Value, style: str = "") -> Text:
    """Text as it is: brackets are not markup, control characters are gone."""
    return Text(show(value), style=style, overflow="fold")


def _unbroken(words: str, style: str = "") -> Text:
    """Text that the terminal may wrap but rich may not, so that it can be copied whole."""
    return Text(show(words), style=style, no_wrap=True, overflow="ignore")
