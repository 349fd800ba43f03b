"""Tables with one row for each result: which list a row belongs to, and in which order the rows of a list stand.

A row names its query (``query``), maybe its pair (``pair_id`` or ``query_id``, so that a query may be asked twice), its
list (``list``; the file's own where the column is missing or blank) and its place (``position``; the order of the file
where a row of the list has none). WebSearcher's results and TREC runs are such tables too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aidos.core.resultpairs import Result, ResultKind, Side
from aidos.ingest.formats.fields import UnreadableError, text, whole
from aidos.ingest.results.entries import Listed, lower_names, pick_text, read_entry
from aidos.ingest.results.saved import QUERIES, Key, SavedList, Search, Shelf, complain, read_search
from aidos.ingest.results.sides import side_of_word
from aidos.ingest.results.troubles import Place, refuse

__all__ = ["PAIR_IDS", "FlatLists", "names_query"]

LISTS = ("list", "side")
PAIR_IDS = ("pair_id", "query_id", "qid")
POSITIONS = ("position", "rank", "serp_rank")
SERP = "serp_id"
ADD_QUERY = "add a column query, or pair_id"
ADD_SEARCHES = "name the file of the searches too, in which WebSearcher keeps qry for each serp_id"


def names_query(names: Mapping[str, Any]) -> bool:
    """Whether a row with these columns (in lower case) can say what was searched for."""
    return any(name in names for name in (*QUERIES, *PAIR_IDS, SERP))


@dataclass(slots=True)
class _Rows:
    """The rows of one list."""

    side: Side
    key: Key
    search: Search
    serp_id: str
    where: Place
    held: list[tuple[int | None, Result | ResultKind]] = field(default_factory=list)

    def listed(self) -> Listed:
        """In order of position where every row has one."""
        rows = self.held
        if all(place is not None for place, _ in rows):
            rows = sorted(rows, key=lambda row: row[0] or 0)
        listed = Listed()
        for _, found in rows:
            listed.add(found)
        return listed


@dataclass(slots=True)
class FlatLists:
    """Gathers the rows of one file."""

    shelf: Shelf
    side: Side | None
    """What the file's name or an option says."""
    _found: dict[tuple[Side, str], _Rows] = field(default_factory=dict)
    _last: tuple[Side, str] | None = None
    _taints_next: bool = False
    _tainted: set[tuple[Side, str]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any], where: Place) -> None:
        """One more row."""
        known = lower_names(row)
        try:
            name = self._list_of(known, where)
            if name is None:
                self.spoil()
                return
            self._last = name
            if self._taints_next:
                self._tainted.add(name)
                self._taints_next = False
            self._add(name, known, where)
        except UnreadableError as error:
            complain(self.shelf, where, error)
            self.spoil()

    def spoil(self) -> None:
        """A row could not be read: it may belong to the list before it or to the one after it."""
        if self._last is not None:
            self._tainted.add(self._last)
        self._taints_next = True

    def finish(self) -> None:
        """Put the lists on the shelf."""
        for name, rows in self._found.items():
            self.shelf.lists.append(
                SavedList(
                    side=rows.side,
                    listed=rows.listed(),
                    search=rows.search,
                    where=rows.where,
                    key=rows.key,
                    serp_id=rows.serp_id,
                    spoiled=name in self._tainted,
                )
            )

    def _list_of(self, known: Mapping[str, Any], where: Place) -> tuple[Side, str] | None:
        """The list that the row belongs to; None when that cannot be said, which was told."""
        column = next((name for name in LISTS if name in known), "")
        word = pick_text(known, (column,)) if column else ""
        side = side_of_word(word) if word.strip() else self.side
        if side is None and word.strip():
            self.shelf.complaints.add(where.problem("bad-side", column))
            return None
        if side is None:
            raise refuse(where.problem("unknown-side"))
        name = _id(known, PAIR_IDS) or _id(known, (SERP,)) or pick_text(known, QUERIES).strip()
        if not name:
            self.shelf.complaints.add(where.problem("no-query", remedy=ADD_QUERY))
            return None
        return side, name

    def _add(self, name: tuple[Side, str], known: Mapping[str, Any], where: Place) -> None:
        column = next((column for column in POSITIONS if known.get(column) not in (None, "")), "")
        place = whole(known.get(column), column)
        found = read_entry(known)
        rows = self._found.get(name)
        if rows is None:
            # A timestamp within WebSearcher's results is that of the page found, not of the search.
            told = {field: value for field, value in known.items() if field != "timestamp"} if SERP in known else known
            pair, search = _id(known, PAIR_IDS), read_search(told)
            if pair and not search.query:
                search = Search(query=pair, when=search.when, place=search.place)
            key: Key = ("pair", pair) if pair else ()
            rows = self._found[name] = _Rows(name[0], key, search, _id(known, (SERP,)), where)
        rows.held.append((place, found))


def _id(known: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := text(known.get(name)))), "")
