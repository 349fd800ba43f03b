"""Lists as they come out of files, before they are joined to pairs, and what all readers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aidos.core.resultpairs import Side
from aidos.ingest.formats.fields import UnreadableError, moment, text
from aidos.ingest.results.entries import Listed, pick_id, pick_text
from aidos.ingest.results.names import FieldNames, Renames
from aidos.ingest.results.troubles import Complaints, Place

__all__ = ["Key", "SavedList", "Search", "Shelf", "complain", "read_search"]

Key = tuple[str | int, ...]
"""What the lists of a pair have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is known of a search: its words, when and where it was made."""

    query: str = ""
    when: datetime | None = None
    gap: timedelta | None = None
    """How much later the personalised list of a pair was fetched, where the pair says it."""
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedList:
    """One list of one file."""

    side: Side
    listed: Listed
    search: Search
    where: Place
    account: str = ""
    """Whose list it is; empty where the file does not say."""
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
    account: str = ""
    """The account whose lists are wanted; empty where nobody said it."""
    renames: Renames = field(default_factory=lambda: Renames({}))
    lists: list[SavedList] = field(default_factory=list)
    searches: dict[str, Search] = field(default_factory=dict)
    """By WebSearcher's name of the list."""
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What runs name, by id."""
    formats: dict[str, int] = field(default_factory=dict)
    """How many lists, pairs or rows came in which form."""
    accounts: dict[str, tuple[Place, str]] = field(default_factory=dict)
    """Every account that was met: where first, and in which column."""
    passed_over: int = 0
    """Responses of HAR files that are no results."""

    def count(self, form: str) -> None:
        """One more of that form."""
        self.formats[form] = self.formats.get(form, 0) + 1

    def account_of(self, entry: Mapping[str, Any], names: FieldNames, where: Place) -> str | None:
        """Whose an object or a row is, empty where it does not say; None when it is of an account not wanted."""
        found = pick_id(entry, names.account).strip()
        if not found:
            return ""
        if found not in self.accounts:
            self.accounts[found] = where, names.account[0]
        return None if self.account and found != self.account else found


def read_search(entry: Mapping[str, Any], names: FieldNames) -> Search:
    """What an entry says of its search; UnreadableError where a cell holds something else."""
    stamped = next((name for name in names.when if entry.get(name) not in (None, "")), "")
    return Search(
        query=pick_text(entry, names.query).strip(),
        when=moment(entry[stamped], stamped) if stamped else None,
        gap=_gap(entry, names),
        place=text(next((entry[name] for name in names.place if entry.get(name)), None)) or "",
    )


def complain(shelf: Shelf, where: Place, error: UnreadableError) -> None:
    """Tell that something cannot be read: an error, or one more pair to leave out."""
    if error.kind == "no-address":
        shelf.complaints.add(where.problem("no-address"))
    else:
        shelf.complaints.add(where.problem("bad-cell", error.column, reason=error.sentence))


def _gap(entry: Mapping[str, Any], names: FieldNames) -> timedelta | None:
    value = next((entry[name] for name in names.gap if entry.get(name) is not None), None)
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError
        return timedelta(seconds=value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnreadableError("bad-cell", "gap is no number of seconds", "gap") from error
