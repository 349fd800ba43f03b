"""Where a list stands in JSON of any shape: names with dots between, a number for one entry of a list, * for each.

``data.items`` is the list under ``items`` of what stands under ``data``; ``searches.*.found`` is one list for each
search. The path of the query takes the same turns: with ``searches.*.words`` each list has the words beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aidos.errors import ParameterError

__all__ = ["ListPaths"]

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
