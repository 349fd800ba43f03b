"""Files with one row for each ranked object: rows that follow each other and name the same ranking are a ranking.

A row that cannot be read may belong to the ranking before it or to the one after it: it spoils both, unless both are
the same. Only the rows of one ranking are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aidos.ingest.rankings.columns import name_ranking
from aidos.ingest.rankings.rows import RawRanking

__all__ = ["Heading", "Row", "group_rows", "heading_of"]

Row = tuple[int, Any, Any]
"""A line or row number, what the row says of its ranking, and what it says of the object; None for unreadable rows."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What the rows of a ranking have in common."""

    ranking_id: str
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""


def heading_of(cells: Mapping[str, str]) -> Heading:
    """The heading that those cells give; columns that the file does not have are left out."""
    query, system = cells.get("query_id", ""), cells.get("system", "")
    name = name_ranking(cells.get("ranking_id"), cells.get("ranking"), query, system)
    return Heading(name, query, cells.get("searcher_id", ""), system)


def group_rows(
    rows: Iterable[Row],
    *,
    head: Callable[[Any], Heading],
    build: Callable[[Heading, list[Any], list[int]], RawRanking],
    tell_unnamed: Callable[[int], None],
) -> Iterator[RawRanking]:
    """Rankings from rows; ``tell_unnamed`` hears of rows that do not say which ranking they belong to."""
    current: object = object()
    heading = Heading("")
    held: list[Any] = []
    lines: list[int] = []
    spoiled = tainted = False
    for line, key, cells in rows:
        if key == current:
            lines.append(line)
            held.append(cells)
            tainted = False
            continue
        named = head(key) if key is not None else Heading("")
        if not named.ranking_id:
            if key is not None:
                tell_unnamed(line)
            spoiled = tainted = True
            continue
        if held:
            yield _built(build, heading, held, lines, spoiled=spoiled)
        current, heading, held, lines = key, named, [cells], [line]
        spoiled, tainted = tainted, False
    if held:
        yield _built(build, heading, held, lines, spoiled=spoiled)


def _built(
    build: Callable[[Heading, list[Any], list[int]], RawRanking],
    heading: Heading,
    held: list[Any],
    lines: list[int],
    *,
    spoiled: bool,
) -> RawRanking:
    raw = build(heading, held, lines)
    raw.spoiled = spoiled
    return raw
