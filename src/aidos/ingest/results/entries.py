"""One result as files write it: an object or a row whose fields are called as search services call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aidos.core.resultpairs import Result, ResultKind
from aidos.ingest.formats.fields import UnreadableError, text
from aidos.ingest.history.address import address_words
from aidos.ingest.results.names import FieldNames, field_names

__all__ = ["Listed", "has_result_fields", "pick_fields", "pick_id", "pick_text", "read_entry", "read_fields"]

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
    if plain in ORGANIC:
        return "organic"
    return "ad" if plain in ADS else "other"


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
