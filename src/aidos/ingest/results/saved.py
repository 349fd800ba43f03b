"""Lists as they come out of files, before they are joined to pairs, and what all readers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aidos.core.resultpairs import Side
from aidos.ingest.formats.fields import UnreadableError, moment, text
from aidos.ingest.results.entries import Listed, pick_text
from aidos.ingest.results.troubles import Complaints, Place

__all__ = ["Key", "SavedList", "Search", "Shelf", "complain", "read_search"]

QUERIES = ("query", "user_query", "qry", "q")
TIMES = ("when", "fetched", "timestamp", "time")
PLACES = ("place", "location", "loc")
Key = tuple[str | int, ...]
"""What the lists of a pair have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is known of a search: its words, when and where it was made."""

    query: str = ""
    when: datetime | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedList:
    """One list of one file."""

    side: Side
    listed: Listed
    search: Search
    where: Place
    key: Key = ()
    """Empty where lists are joined by their query."""
    serp_id: str = ""
    """WebSearcher's name for the list, under which another file may hold the search."""
    spoiled: bool = False
    """Whether something is wrong with it, which was told: its pair is left out."""


@dataclass(slots=True)
class Shelf:
    """Everything that was read so far."""

    complaints: Complaints
    lists: list[SavedList] = field(default_factory=list)
    searches: dict[str, Search] = field(default_factory=dict)
    """By WebSearcher's name of the list."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What runs name, by id."""
    formats: dict[str, int] = field(default_factory=dict)
    """How many lists, pairs or rows came in which form."""
    passed_over: int = 0
    """Responses of HAR files that are no results."""

    def count(self, form: str) -> None:
        """One more of that form."""
        self.formats[form] = self.formats.get(form, 0) + 1


def read_search(known: Mapping[str, Any]) -> Search:
    """What an entry says of its search; UnreadableError where a cell holds something else."""
    stamp = next((known[name] for name in TIMES if known.get(name) not in (None, "")), None)
    name = next((name for name in TIMES if known.get(name) not in (None, "")), "")
    return Search(
        query=pick_text(known, QUERIES).strip(),
        when=None if stamp is None else moment(stamp, name),
        place=text(next((known[name] for name in PLACES if known.get(name)), None)) or "",
    )


def complain(shelf: Shelf, where: Place, error: UnreadableError) -> None:
    """Tell that something cannot be read: an error, or one more pair to leave out."""
    if error.kind == "no-address":
        shelf.complaints.add(where.problem("no-address"))
    else:
        shelf.complaints.add(where.problem("bad-cell", error.column, reason=error.sentence))
