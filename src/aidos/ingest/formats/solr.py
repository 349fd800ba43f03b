"""Solr request logs: the lines with ``path=/select params={q=...} hits=4 status=0 QTime=1``.

Solr knows no people: whoever sends the request has to pass them along as a parameter. The names tried are ``user``,
``user_id``, ``uid`` and ``client_id``, and ``session`` and ``sid`` for the visit; others are given with the column
mapping, ``client_id`` being read from the parameter of that name. A query without the parameter is a missing person.

Lines of other kinds give no row and are not bad: updates, other handlers, requests without ``q``, messages of the
server, and the requests that a cluster's nodes send each other (``isShard=true``), which repeat a person's query.
Times are taken as UTC unless the line says otherwise. Results and clicks are not in these logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote_to_bytes

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import UnreadableError, moment, text

__all__ = ["SolrRequests"]

PERSON_PARAMETERS = ("user", "user_id", "uid", "client_id")
SESSION_PARAMETERS = ("session", "sid")
HANDLERS = frozenset({"/select", "/query"})
REQUEST = re.compile(r"(?:^|\s)path=(\S+)\s+params=\{")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?", re.ASCII)
TIME_WITHIN = 80
"""A line's time stands in so many first characters; behind them a query might hold one."""


class SolrRequests:
    """Queries in a Solr request log."""

    name = "solr"
    title = "Solr request log"
    schema = SEARCH_LOG

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        """Take the person, session or query from parameters other than the usual: ``{"client_id": "visitor"}``."""
        given = columns or {}
        self.parameters = {
            "client_id": (given["client_id"],) if "client_id" in given else PERSON_PARAMETERS,
            "session_id": (given["session_id"],) if "session_id" in given else SESSION_PARAMETERS,
            "user_query": (given.get("user_query", "q"),),
        }

    def fitted(self, sample: Sample, columns: Mapping[str, str], *, declared: bool = False) -> SolrRequests:  # noqa: ARG002
        """The format for one file: the parameters that the user named for columns."""
        return SolrRequests(columns)

    def recognise(self, sample: Sample) -> Recognition | None:
        """By request lines; a log that begins with other messages, by the names of Solr's classes."""
        if any(REQUEST.search(line) for line in sample.lines):
            return Recognition(1.0, "lines with path= and params={...}, as Solr logs its requests")
        if any("o.a.s." in line or "org.apache.solr." in line for line in sample.lines):
            return Recognition(0.7, "messages of Solr, though no request among the first lines")
        return None

    def columns(self) -> Mapping[str, str]:
        return {name: column for column, names in self.parameters.items() for name in names} | {
            "(line start)": "timestamp"
        }

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        for number, line in lines:
            try:
                values = self._values(line)
                if values is not None:
                    yield Row(number, values)
            except UnreadableError as bad:
                yield bad.at(number)

    def _values(self, line: str) -> dict[str, object] | None:
        request = REQUEST.search(line)
        if request is None or request[1] not in HANDLERS:
            return None
        end = line.find("} ", request.end() - 1)  # blanks inside are written as plus, so the first one is behind
        if end < 0:
            if not line.endswith("}"):
                raise UnreadableError("bad-line", "the request is cut off: its params have no closing brace")
            end = len(line) - 1
        parameters = _parameters(line[request.end() : end])
        typed = self._first(parameters, "user_query")
        if typed is None or parameters.get("isShard") == "true":
            return None
        time = TIME.search(line, 0, min(request.start(), TIME_WITHIN))
        return {
            "client_id": self._person(parameters),
            "timestamp": moment(time[0].replace(",", ".") if time else None, "the time at the line's start"),
            "user_query": typed,
            "session_id": text(self._first(parameters, "session_id")),
            "action": "query",
        }

    def _person(self, parameters: Mapping[str, str]) -> str:
        found = text(self._first(parameters, "client_id"))
        if found is None:
            names = self.parameters["client_id"]
            sentence = (
                f"no parameter says who asked ({', '.join(names)}); name another with --column client_id=PARAMETER"
            )
            raise UnreadableError("missing-person", sentence, names[0])
        return found

    def _first(self, parameters: Mapping[str, str], column: str) -> str | None:
        return next((parameters[name] for name in self.parameters[column] if name in parameters), None)


def _parameters(encoded: str) -> dict[str, str]:
    """Names and values, the first of each name as Solr itself takes it."""
    parameters: dict[str, str] = {}
    for pair in encoded.split("&"):
        name, _, value = pair.partition("=")
        parameters.setdefault(_decode(name), _decode(value))
    return parameters


def _decode(encoded: str) -> str:
    if "+" in encoded:
        encoded = encoded.replace("+", " ")
    if "%" not in encoded:
        return encoded
    try:
        return unquote_to_bytes(encoded).decode()
    except UnicodeError:
        raise UnreadableError("bad-line", "a parameter is not UTF-8 once its percent signs are decoded") from None
