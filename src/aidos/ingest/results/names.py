"""What the fields and columns of result lists are called in the wild, and which of a table's columns the user renames.

Names count without case. Of several names for the same thing the first in the order below counts. A rename says what a
file calls one of our columns; it holds for tables and for the fields of JSON objects, not for TREC runs.

Which list of a pair something belongs to is said by a column, an option, or the name of a file or of the directory it
lies in.

Where a list stands in JSON of any shape: names with dots between, a number for one entry of a list, * for each.
``data.items`` is the list under ``items`` of what stands under ``data``; ``searches.*.found`` is one list for each
search. The path of the query takes the same turns: with ``searches.*.words`` each list has the words beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from aidos.core.resultpairs import Side
from aidos.errors import ParameterError

__all__ = [
    "SERP",
    "FieldNames",
    "ListPaths",
    "Renames",
    "field_names",
    "is_documents",
    "shown_names",
    "side_of_path",
    "side_of_word",
]

SERP = "serp_id"
"""WebSearcher's name for a list, under which another file holds the search."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "user_query", "qry", "q"),
    "list": ("list", "side", "ranking"),
    "pair_id": ("pair_id", "query_id", "qid"),
    "position": ("position", "rank", "serp_rank"),
    "url": ("url", "link", "address", "object_id"),
    "title": ("title", "name"),
    "snippet": ("content", "snippet", "description", "abstract", "text"),
    "kind": ("kind", "type"),
    "account": ("account", "client_id", "account_id", "user_id", "user"),
    "when": ("when", "fetched", "timestamp", "time"),
    "gap": ("gap",),
    "place": ("place", "location", "loc"),
    "turn": ("turn", "order", "asking_order"),
    "bucket": ("bucket", "variant", "experiment"),
    "serp": (SERP,),
}
"""Our columns, and the names that are understood for each."""
IDENTIFYING = ("account", "list", "pair_id", "serp", "query")
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldNames:
    """The names that an object or a table has for each of our columns, as it writes them; the first that is filled."""

    query: tuple[str, ...]
    list: tuple[str, ...]
    pair_id: tuple[str, ...]
    position: tuple[str, ...]
    url: tuple[str, ...]
    title: tuple[str, ...]
    snippet: tuple[str, ...]
    kind: tuple[str, ...]
    account: tuple[str, ...]
    when: tuple[str, ...]
    gap: tuple[str, ...]
    place: tuple[str, ...]
    turn: tuple[str, ...]
    bucket: tuple[str, ...]
    serp: tuple[str, ...]
    identifying: tuple[str, ...]
    """All that says which list a row belongs to."""

    @property
    def has_result(self) -> bool:
        """Whether there is an address or a title."""
        return bool(self.url or self.title)

    @property
    def has_query(self) -> bool:
        """Whether a row can say what was searched for."""
        return bool(self.query or self.pair_id or self.serp)


@lru_cache(maxsize=256)
def field_names(names: tuple[str, ...]) -> FieldNames:
    """Which of the names stand for what; remembered, since the rows of a file all have the same names."""
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(name.strip().lower(), name)
    found = {group: tuple(known[name] for name in understood if name in known) for group, understood in GROUPS.items()}
    identifying = tuple(name for group in IDENTIFYING for name in found[group])
    return FieldNames(**found, identifying=identifying)


@dataclass(slots=True)
class Renames:
    """What the user says that files call our columns: ours to theirs."""

    given: Mapping[str, str]
    unused: dict[str, str] = field(default_factory=dict)
    """Theirs to ours, of those that no file had so far."""
    _ours: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if strange := sorted(set(self.given) - set(GROUP_OF)):
            shown = ", ".join(group for group in GROUPS if group not in {"serp", "gap"})
            raise ParameterError(
                f"result lists have no column called {', '.join(strange)}", hint=f"the columns are {shown}"
            )
        # The first name of a group counts most, so what the user says counts more than what a file calls itself.
        self._ours = {theirs.strip().lower(): GROUPS[GROUP_OF[ours]][0] for ours, theirs in self.given.items()}
        if len(set(self._ours.values())) < len(self.given) or len(self._ours) < len(self.given):
            raise ParameterError("a column can be renamed once, to one name", hint="name each column once")
        self.unused = dict(self._ours)

    def apply(self, names: Iterable[str]) -> list[str]:
        """The names of a table in our words; columns that a rename replaces get a name that means nothing."""
        if not self._ours:
            return list(names)
        replaced = {GROUP_OF[ours] for ours in self._ours.values()}
        found = []
        for name in names:
            plain = name.strip().lower()
            if plain in self._ours:
                self.unused.pop(plain, None)
                found.append(self._ours[plain])
            else:
                found.append(f"({name})" if GROUP_OF.get(plain) in replaced else name)
        return found

    def apply_to(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The same for one object."""
        return dict(zip(self.apply(entry), entry.values(), strict=True)) if self._ours else entry


def shown_names(names: Sequence[str], most: int = 12) -> str:
    """The names of a table for a message."""
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")


WORDS: dict[str, Side] = {
    "again": "again",
    "vanilla2": "again",
    "vanilla-again": "again",
    "second-vanilla": "again",
    "vanilla": "vanilla",
    "personalised": "personalised",
    "personalized": "personalised",
}
"""In the order of search: a file called vanilla-again is the second vanilla fetch."""
DOCUMENTS = frozenset({"documents", "docs"})
PART = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=256)
def side_of_word(word: str) -> Side | None:
    """The side that a cell or a tag names; None where it names none."""
    return WORDS.get(PART.sub("-", word.strip().lower()).strip("-"))


def side_of_path(path: Path, root: Path | None = None) -> Side | None:
    """The side that the file's name says, or else the nearest directory above it, up to ``root`` (or its parent).

    A directory whose name has both, such as vanilla-and-personalised, says nothing.
    """
    above = path.relative_to(root).parts[:-1] if root is not None else path.parts[-2:-1]
    named = (root.resolve().name, *above) if root is not None else above
    for part in (path.name, *reversed(named)):
        words = PART.split(part.lower())
        sides = {side: None for word, side in WORDS.items() if word in words}
        if sides and sides.keys() != {"vanilla", "personalised"}:
            return next(iter(sides))
    return None


def is_documents(path: Path) -> bool:
    """Whether the file's name says that it holds the texts of the documents that runs name."""
    return not DOCUMENTS.isdisjoint(PART.split(path.name.lower()))


EACH = "*"
Turns = tuple[str | int, ...]
"""Which entries were taken where a path says each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPaths:
    """Where the lists are, and the words that were searched for; nowhere in particular unless given."""

    results: str = ""
    query: str = ""

    def __post_init__(self) -> None:
        for path in (self.results, self.query):
            if path and not all(path.split(".")):
                raise ParameterError(
                    "a path into JSON is names with dots between", hint="for example data.items or searches.*.found"
                )
        if self.query and not self.results:
            raise ParameterError("the path of the query needs that of the results", hint="say --results-at, too")

    def __bool__(self) -> bool:
        return bool(self.results)

    def answers_in(self, document: object) -> Iterator[dict[str, Any]]:
        """The lists of a document as answers: ``results``, and ``query`` where its path leads to a text or a number."""
        asked = dict(_walk(document, self.query.split("."))) if self.query else {}
        fixed = (
            {name: value for name, value in document.items() if not isinstance(value, dict | list)}
            if isinstance(document, dict)
            else {}
        )
        for turns, found in _walk(document, self.results.split(".")):
            if isinstance(found, list):
                answer = {**fixed, "results": found}
                words = next((asked[turns[:end]] for end in range(len(turns), -1, -1) if turns[:end] in asked), None)
                if isinstance(words, str | int) and not isinstance(words, bool):
                    answer["query"] = str(words)
                yield answer


def _walk(value: object, steps: list[str], turns: Turns = ()) -> Iterator[tuple[Turns, object]]:
    """What stands at the end of a path, with the turns that lead there."""
    if not steps:
        yield turns, value
        return
    step, rest = steps[0], steps[1:]
    if step == EACH:
        entries: Iterator[tuple[str | int, object]] = iter(())
        if isinstance(value, list):
            entries = iter(enumerate(value))
        elif isinstance(value, Mapping):
            entries = iter(value.items())
        for name, entry in entries:
            yield from _walk(entry, rest, (*turns, name))
    elif isinstance(value, Mapping) and step in value:
        yield from _walk(value[step], rest, turns)
    elif isinstance(value, list) and step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < len(value):
        yield from _walk(value[int(step)], rest, turns)
