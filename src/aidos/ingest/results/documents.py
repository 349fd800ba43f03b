"""What one JSON object is: a pair, a list (an answer of SearXNG, a record of WebSearcher), a row, or a HAR file.

Of result pages that were saved as HTML, or stand in a HAR file, those of SearXNG's simple theme are read, whose
structure is stable. Instances of SearXNG often answer in HTML only. Each result is an ``article`` of the class
``result`` with its address and title in ``h3 a`` and its snippet in ``p.content``; the query stands in the field ``q``.
Articles without such a title (pictures) are left out. Pages of other services change their structure often and are not
read: a wrong list looks like a re-ordered one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.core.resultpairs import Side
from aidos.ingest.formats.fields import UnreadableError
from aidos.ingest.problems import refuse
from aidos.ingest.results.flat import FlatLists
from aidos.ingest.results.names import SERP, field_names, side_of_word
from aidos.ingest.results.saved import (
    Listed,
    Place,
    SavedList,
    Search,
    Shelf,
    complain,
    read_entry,
    read_search,
)
from aidos.ingest.timestamps import parse_time

__all__ = ["FORMS", "DocumentReader", "read_page"]

FORMS = (
    "pairs (query, vanilla, personalised), a table with one row for each result (query, list, url, title), "
    "answers and saved pages of SearXNG, records of WebSearcher, TREC runs, HAR files, "
    "and any JSON whose lists --results-at names"
)
FETCHES = "fetches"
"""The field of a pair that says how each list was fetched."""


@dataclass(slots=True)
class DocumentReader:
    """Puts the objects of one file on the shelf."""

    shelf: Shelf
    side: Side | None
    rows: FlatLists

    def add(self, document: Mapping[str, Any], where: Place) -> None:
        """One more object; InputError when it is nothing that is known."""
        if not self.shelf.paths and _is_row(tuple(document)):
            self.rows.add(document, where, "rows")
            return
        log = document.get("log")
        if isinstance(log, dict) and isinstance(log.get("entries"), list):
            self._add_archive(log["entries"], where)
        elif self.shelf.paths:
            self._add_by_path(document, where)
        elif sides := _sides(document):
            self._add_pair(document, sides, where)
        elif isinstance(document.get("results"), list):
            self._add_answer(document, where)
        elif document.get(SERP) and "qry" in document and "type" not in document:
            self._add_search(document, where)
        elif field_names(tuple(document)).has_result:
            self.rows.add(document, where, "WebSearcher rows" if SERP in document else "rows")
        else:
            raise refuse(where.problem("not-results", forms=FORMS))

    def _add_pair(self, document: Mapping[str, Any], sides: Mapping[Side, str], where: Place) -> None:
        key, names = ("line", where.file, where.number), field_names(tuple(document))
        account = self.shelf.account_of(document, names, where)
        if account is None:
            return
        self.shelf.count("pairs")
        found: dict[Side, Listed] = {}
        search, own = Search(), dict[Side, Search]()
        try:
            search = read_search(document, names)
            own = _own_searches(document.get(FETCHES))
            search = replace(search, when=own.get("vanilla", search).when or search.when)
            given = {side: name for side, name in sides.items() if side != "again" or document[name] is not None}
            found = {side: _listed(document[name] or (), name) for side, name in given.items()}
            if not search.query:
                self.shelf.complaints.add(where.problem("no-query", remedy="add a field query"))
        except UnreadableError as error:
            complain(self.shelf, where, error)
            found = {}
        for side, listed in (found or {"vanilla": Listed()}).items():
            saved = SavedList(
                side=side,
                account=account,
                listed=listed,
                search=own.get(side, search).over(search),
                where=where,
                key=key,
                spoiled=not (found and search.query),
            )
            self.shelf.lists.append(saved)

    def _add_answer(
        self,
        document: Mapping[str, Any],
        where: Place,
        known_of: Search | None = None,
        *,
        form: str = "SearXNG answers",
    ) -> None:
        if self.side is None:
            raise refuse(where.problem("unknown-side"))
        names = field_names(tuple(document))
        account = self.shelf.account_of(document, names, where)
        if account is None:
            return
        serp_id = document.get("serp_id")
        self.shelf.count("WebSearcher records" if serp_id else form)
        search, listed, spoiled = Search(), Listed(), False
        try:
            search = read_search(document, names).over(known_of or Search())
            listed = _listed(document["results"], "results", plain=not serp_id)
        except UnreadableError as error:
            complain(self.shelf, where, error)
            spoiled = True
        self.shelf.lists.append(
            SavedList(
                side=self.side,
                account=account,
                listed=listed,
                search=search,
                where=where,
                serp_id=str(serp_id or ""),
                spoiled=spoiled,
            )
        )

    def _add_by_path(self, document: Mapping[str, Any], where: Place) -> None:
        """The lists that stand where the user says."""
        found = self._at_paths(document)
        if not found:
            raise refuse(where.problem("no-list-there"))
        for answer in found:
            self._add_answer(answer, where, form="lists at a path")

    def _at_paths(self, document: object) -> list[dict[str, Any]]:
        """Lists where the user says they stand, with their fields called as ours are."""
        found = list(self.shelf.paths.answers_in(document))
        for answer in found:
            entries = answer["results"]
            answer["results"] = [
                self.shelf.renames.apply_to(entry) if isinstance(entry, dict) else entry for entry in entries
            ]
        return found

    def _add_search(self, document: Mapping[str, Any], where: Place) -> None:
        try:
            self.shelf.searches[str(document["serp_id"])] = read_search(document, field_names(tuple(document)))
        except UnreadableError as error:
            complain(self.shelf, where, error)

    def _add_archive(self, entries: list[Any], where: Place) -> None:
        """The responses of a HAR file whose bodies are lists of results, in JSON or as a page."""
        taken = 0
        for number, entry in enumerate(entries, start=1):
            body, at = _body(entry), replace(where, unit="response", number=number)
            if self.shelf.paths:
                lists = self._at_paths(body)
            else:
                lists = [body] if isinstance(body, dict) and isinstance(body.get("results"), list) else []
            for found in lists:
                self._add_answer(found, at, _request(entry))
            taken += bool(lists)
        if not taken:
            raise refuse(where.problem("no-answers", number=len(entries)))
        self.shelf.passed_over += len(entries) - taken


@lru_cache(maxsize=256)
def _is_row(names: tuple[str, ...]) -> bool:
    """Whether an object with these names is a row, whatever its fields hold: what most objects of large files are."""
    special = any(name in {"log", "results", SERP} or side_of_word(name) for name in names)
    return not special and field_names(names).has_result


def _sides(document: Mapping[str, Any]) -> dict[Side, str]:
    """The lists of a pair, by the names of their fields; none where it is no pair."""
    found: dict[Side, str] = {}
    for name, value in document.items():
        side = side_of_word(name) if value is None or isinstance(value, list) else None
        if side is not None:
            found.setdefault(side, name)
    return found


def _listed(entries: Any, column: str, *, plain: bool = False) -> Listed:
    """The list of a field; ``plain`` where the service has no kinds, so that fields called so mean something else."""
    listed = Listed()
    for place, entry in enumerate(entries, start=1):
        known = entry
        if plain and isinstance(entry, dict):
            known = {name: value for name, value in entry.items() if name not in {"type", "kind"}}
        try:
            listed.add(read_entry(known))
        except UnreadableError as error:
            raise UnreadableError("bad-cell", f"result {place} of {column}: {error.sentence}", column) from error
    return listed


def _own_searches(fetches: Any) -> dict[Side, Search]:
    """How each list of a pair was fetched, by its name; UnreadableError where that is something else."""
    if fetches is None:
        return {}
    if not isinstance(fetches, dict):
        raise UnreadableError("bad-cell", f"{FETCHES} is no object with an object for each list", FETCHES)
    found: dict[Side, Search] = {}
    for name, entry in fetches.items():
        side = side_of_word(name)
        if entry is None:
            continue
        if side is None or not isinstance(entry, dict):
            raise UnreadableError("bad-cell", f"{FETCHES} is no object with an object for each list", FETCHES)
        found[side] = read_search(entry, field_names(tuple(entry)))
    return found


def _body(entry: Any) -> object:
    """The JSON of a response, or the results of its page; None where it is neither."""
    response = entry.get("response") if isinstance(entry, dict) else None
    content = response.get("content") if isinstance(response, dict) else None
    body = content.get("text") if isinstance(content, dict) else None
    if not isinstance(body, str):
        return None
    try:
        if isinstance(content, dict) and content.get("encoding") == "base64":
            body = base64.b64decode(body, validate=True).decode("utf-8")
        return read_page(body) if body.lstrip()[:1] == "<" else parse_json(body)
    except ValueError:
        return None


def _request(entry: Mapping[str, Any]) -> Search:
    """When a request was made, and the words that its address or its form asked for."""
    request = entry.get("request")
    request = request if isinstance(request, dict) else {}
    form = request.get("postData")
    asked = [request.get("queryString"), form.get("params") if isinstance(form, dict) else None]
    words = {
        pair.get("name"): pair.get("value")
        for pairs in asked
        if isinstance(pairs, list)
        for pair in pairs
        if isinstance(pair, dict)
    }
    query = words.get("q") or words.get("query")
    return Search(query=query if isinstance(query, str) else "", when=parse_time(entry.get("startedDateTime")))


Attributes = list[tuple[str, str | None]]


def read_page(page: str) -> dict[str, Any] | None:
    """The query and the results of a page, as SearXNG's answers in JSON have them; None where it is no such page."""
    found = _Page()
    found.feed(page)
    found.close()
    if not found.is_results:
        return None
    return {"query": found.query, "results": [entry for entry in found.results if entry["url"] and entry["title"]]}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.query = ""
        self.is_results = False
        self.results: list[dict[str, str]] = []
        self._within = ""
        """The field of the result that text belongs to now."""
        self._in_result = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        known = dict(attrs)
        classes = (known.get("class") or "").split()
        if tag == "input" and known.get("id") == "q":
            self.query = self.query or known.get("value") or ""
        elif tag == "div" and known.get("id") == "urls":
            self.is_results = True
        elif tag == "article" and "result" in classes and self.is_results:
            self.results.append({"url": "", "title": "", "content": ""})
            self._in_result, self._within = True, ""
        elif not self._in_result:
            return
        elif tag == "h3":
            self._within = "title"
        elif tag == "p" and "content" in classes and "empty_element" not in classes:
            self._within = "content"
        elif tag == "a" and self._within == "title":
            self.results[-1]["url"] = self.results[-1]["url"] or (known.get("href") or "").strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in {"h3", "p"}:
            self._within = ""
        elif tag == "article":
            self._in_result, self._within = False, ""

    def handle_data(self, data: str) -> None:
        if self._in_result and self._within:
            held = f"{self.results[-1][self._within]}{data}"
            self.results[-1][self._within] = " ".join(held.split()) + (" " if held[-1:].isspace() else "")
