"""One result as files write it: an object or a row whose fields are called as search services call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aidos.core.resultpairs import Result, ResultKind
from aidos.ingest.formats.fields import UnreadableError
from aidos.ingest.history.address import address_words

__all__ = ["Listed", "has_result_fields", "lower_names", "pick_fields", "pick_text", "read_entry"]

ADDRESSES = ("url", "link", "address")
TITLES = ("title", "name")
SNIPPETS = ("content", "snippet", "description", "abstract", "text")
KIND_NAMES = ("kind", "type")
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


def pick_fields(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Address, title and snippet of an entry, each maybe empty; names of fields count without case."""
    known = lower_names(entry)
    return pick_text(known, ADDRESSES), pick_text(known, TITLES), pick_text(known, SNIPPETS)


def has_result_fields(names: Iterable[str]) -> bool:
    """Whether one of the names is that of an address or a title."""
    return not {name.lower() for name in names}.isdisjoint((*ADDRESSES, *TITLES))


def lower_names(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The entry with its names in lower case; of names that become the same the first counts."""
    found: dict[str, Any] = {}
    for name, value in entry.items():
        found.setdefault(name.strip().lower(), value)
    return found


def read_entry(entry: object) -> Result | ResultKind:
    """The organic result that an entry of a list is, or else what it is; UnreadableError where it is no result."""
    if isinstance(entry, str):
        entry = {"url": entry}
    if not isinstance(entry, dict):
        raise UnreadableError("bad-cell", "a result is no object with named fields and no address")
    known = lower_names(entry)
    kind = _kind(pick_text(known, KIND_NAMES))
    if kind != "organic":
        return kind
    url, title, snippet = (pick_text(known, names).strip() for names in (ADDRESSES, TITLES, SNIPPETS))
    if not (url or title):
        if isinstance(known.get("details"), dict):  # what WebSearcher could not parse
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
    if plain in ORGANIC:
        return "organic"
    return "ad" if plain in ADS else "other"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
