"""Lists as they come out of files, before they are joined to pairs, and what all readers share.

One result is an object or a row whose fields are called as search services call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from aidos.core.resultpairs import Result, ResultKind, Side
from aidos.errors import Problem
from aidos.ingest.formats.fields import UnreadableError, moment, text, whole
from aidos.ingest.history.document import address_words
from aidos.ingest.problems import PAIRS, Complaints
from aidos.ingest.results.names import FieldNames, ListPaths, Renames, field_names

__all__ = [
    "ADD_QUERY",
    "ADD_SEARCHES",
    "Key",
    "Listed",
    "Place",
    "SavedList",
    "Search",
    "Shelf",
    "complain",
    "has_result_fields",
    "pick_fields",
    "pick_id",
    "pick_text",
    "read_entry",
    "read_fields",
    "read_search",
]

Key = tuple[str | int, ...]
"""What the lists of a pair have in common."""
ADD_QUERY = "add a column query, or pair_id"
ADD_SEARCHES = "name the file of the searches too, in which WebSearcher keeps qry for each serp_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands: a file, and a line, a row or an entry in it."""

    file: str
    unit: str = "line"
    number: int = 0
    """Counted from 1; 0 stands for the whole file."""

    def at(self, number: int) -> Place:
        """The same file, another line."""
        return Place(file=self.file, unit=self.unit, number=number)

    def problem(self, slug: str, column: str = "", **words: Any) -> Problem:
        """A problem there."""
        lines = (self.number,) if self.number else ()
        return PAIRS.tell(slug, self.file, lines=lines, column=column, place=self.unit, **words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is known of a search: its words, when and where it was made."""

    query: str = ""
    when: datetime | None = None
    gap: timedelta | None = None
    """How much later the personalised list of a pair was fetched, where the pair says it."""
    place: str = ""
    turn: int | None = None
    bucket: str = ""

    def over(self, other: Search) -> Search:
        """What this says, and where it says nothing what the other says."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(other, **{name: value for name, value in known.items() if value not in (None, "")})


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
    paths: ListPaths = field(default_factory=ListPaths)
    """Where lists stand in JSON of other shapes."""
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
        turn=next((whole(entry[name], name) for name in names.turn if entry.get(name) not in (None, "")), None),
        bucket=pick_id(entry, names.bucket).strip(),
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


ORGANIC = frozenset({"", "organic", "general", "web", "webpage", "result", "default"})
ADS = frozenset({"ad", "ads", "advert", "advertisement", "sponsored", "promoted", "shopping_ad", "shopping_ads"})
"""Other names of kinds are other things on a page of results: news boxes, maps, questions that people ask."""


def pick_text(entry: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first text under one of the names, in that order; of a field with several values, the first.

    UnreadableError where something else than a text stands there.
    """
    for name in names:
        value = entry.get(name)
        if isinstance(value, list):
            value = value[0] if value else None
        if value is None:
            continue
        if not isinstance(value, str):
            raise UnreadableError("bad-cell", f"{name} is no text", name)
        if not value.isascii() and not _is_encodable(value):
            raise UnreadableError("bad-cell", f"{name} holds half of a character pair, which is no text", name)
        if value:
            return value
    return ""


def pick_id(entry: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first id under one of the names: a text or a number that is written out; empty where there is none."""
    for name in names:
        if found := text(entry.get(name)):
            return found
    return ""


def pick_fields(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Address, title and snippet of an entry, each maybe empty."""
    names = field_names(tuple(entry))
    return pick_text(entry, names.url), pick_text(entry, names.title), pick_text(entry, names.snippet)


def has_result_fields(names: Iterable[str]) -> bool:
    """Whether one of the names is that of an address or a title."""
    return field_names(tuple(names)).has_result


def read_entry(entry: object) -> Result | ResultKind:
    """The organic result that an entry of a list is, or else what it is; UnreadableError where it is no result."""
    if isinstance(entry, str):
        entry = {"url": entry}
    if not isinstance(entry, dict):
        raise UnreadableError("bad-cell", "a result is no object with named fields and no address")
    return read_fields(entry, field_names(tuple(entry)))


def read_fields(entry: Mapping[str, Any], names: FieldNames) -> Result | ResultKind:
    """The same of an entry whose names are known."""
    kind = _kind(pick_text(entry, names.kind)) if names.kind else "organic"
    if kind != "organic":
        return kind
    url = pick_text(entry, names.url).strip()
    title = pick_text(entry, names.title).strip()
    snippet = pick_text(entry, names.snippet).strip()
    if not (url or title):
        if isinstance(entry.get("details"), dict):  # what WebSearcher could not parse
            return "other"
        raise UnreadableError("no-address", "the result has neither an address nor a title")
    words = "" if title or snippet else address_words(url) or ""
    return Result(url=url, title=title, snippet=snippet, words=words)


@dataclass(slots=True)
class Listed:
    """A list that is being read: organic results, each address once, and how much was left out."""

    results: dict[str, Result] = field(default_factory=dict)
    ads: int = 0
    others: int = 0
    repeated: int = 0

    def add(self, found: Result | ResultKind) -> None:
        """One more, in the order of the list; of the same address the first counts."""
        if isinstance(found, Result):
            if self.results.setdefault(found.identity, found) is not found:
                self.repeated += 1
        elif found == "ad":
            self.ads += 1
        else:
            self.others += 1


def _kind(name: str) -> ResultKind:
    plain = name.strip().lower()
    return "organic" if plain in ORGANIC else "ad" if plain in ADS else "other"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
