"""Tables with one row for each result, gathered into lists.

A row names its query (``query``), maybe its pair (``pair_id`` or ``query_id``, so that a query may be asked twice), its
account (``client_id``), its list (``list`` or ``ranking``; the file's own where the column is missing or blank) and its
place (``position``; the order of the file where a row of the list has none). WebSearcher's results and TREC runs are
such tables too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aidos.core.resultpairs import Result, ResultKind, Side
from aidos.ingest.formats.fields import UnreadableError, whole
from aidos.ingest.problems import refuse
from aidos.ingest.results.names import FieldNames, field_names, side_of_word
from aidos.ingest.results.saved import (
    ADD_QUERY,
    Key,
    Listed,
    Place,
    SavedList,
    Search,
    Shelf,
    complain,
    pick_id,
    pick_text,
    read_fields,
    read_search,
)

__all__ = ["FlatLists"]

Name = tuple[Side, str, str]
"""A list: its side, its account, and its pair, page or query."""
SHORT = 10  # numbers with fewer digits fit, and most are such


@dataclass(slots=True)
class _Rows:
    """The rows of one list."""

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
    _found: dict[Name, _Rows] = field(default_factory=dict)
    _last: Name | None = None
    _cells: list[Any] = field(default_factory=list)
    """What named the last list, as its row has it."""
    _taints_next: bool = False
    _tainted: set[Name] = field(default_factory=set)

    def add(self, row: Mapping[str, Any], where: Place, form: str) -> None:
        """One more row; ``form`` is counted, but for rows of accounts that are not wanted."""
        names = field_names(tuple(row))
        cells = [row[name] for name in names.identifying]
        try:
            if self._last is None or cells != self._cells:  # rows of a list mostly stand together
                self._cells = cells
                account = self.shelf.account_of(row, names, where)
                if account is None:
                    self._last, self._taints_next = None, False
                    return
                name = self._list_of(row, names, account, where)
                if name is None:
                    self.shelf.count(form)
                    self.spoil()
                    return
                self._last = name
            self.shelf.count(form)
            if self._taints_next:
                self._tainted.add(self._last)
                self._taints_next = False
            self._add(self._last, row, names, where)
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
                    side=name[0],
                    account=name[1],
                    listed=rows.listed(),
                    search=rows.search,
                    where=rows.where,
                    key=rows.key,
                    serp_id=rows.serp_id,
                    spoiled=name in self._tainted,
                )
            )

    def _list_of(self, row: Mapping[str, Any], names: FieldNames, account: str, where: Place) -> Name | None:
        """The list that the row belongs to; None when that cannot be said, which was told."""
        word = pick_text(row, names.list[:1])
        side = side_of_word(word) if word and not word.isspace() else self.side
        if side is None and word.strip():
            self.shelf.complaints.add(where.problem("bad-side", names.list[0]))
            return None
        if side is None:
            raise refuse(where.problem("unknown-side"))
        name = pick_id(row, names.pair_id) or pick_id(row, names.serp) or pick_text(row, names.query).strip()
        if not name:
            self.shelf.complaints.add(where.problem("no-query", remedy=ADD_QUERY))
            return None
        return side, account, name

    def _add(self, name: Name, row: Mapping[str, Any], names: FieldNames, where: Place) -> None:
        place = None
        for column in names.position:
            if (cell := row[column]) is not None and cell != "":
                plain = type(cell) is str and cell.isascii() and cell.isdecimal() and len(cell) < SHORT
                place = int(cell) if plain else whole(cell, column)
                break
        found = read_fields(row, names)
        rows = self._found.get(name)
        if rows is None:
            rows = self._found[name] = _begin(row, names, where)
        rows.held.append((place, found))


def _begin(row: Mapping[str, Any], names: FieldNames, where: Place) -> _Rows:
    """A list, from its first row."""
    serp_id = pick_id(row, names.serp)
    if names.serp:
        # A timestamp within WebSearcher's results is that of the page found, not of the search.
        names = replace(names, when=tuple(name for name in names.when if name.lower() != "timestamp"))
    pair, search = pick_id(row, names.pair_id), read_search(row, names)
    if pair and not search.query:
        search = replace(search, query=pair)
    key: Key = ("pair", pair) if pair else ()
    return _Rows(key, search, serp_id, where)
