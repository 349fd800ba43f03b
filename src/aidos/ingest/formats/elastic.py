"""Elastic behavioural analytics: search, search_click and page_view events, one JSON document a line.

Keys may be nested objects or hold the dots themselves, as exports have both. A search becomes the action ``query``, a
search_click the action ``click``; other actions keep their name. The person is ``user.id``; where an event has none,
``session.id`` stands in for it, so one person's visits then count as several people. A click's position is where its
document stands among the results that the event lists; it is null when they are not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import (
    Document,
    UnreadableError,
    load_document,
    look_up,
    moment,
    person,
    sample_documents,
    text,
)

__all__ = ["ElasticAnalytics"]

ACTIONS = {"search": "query", "search_click": "click", "page_view": "page_view", "pageview": "page_view"}


class ElasticAnalytics:
    """Events of an Elastic behavioural analytics collection."""

    name = "elastic"
    title = "Elastic behavioural analytics"
    schema = SEARCH_LOG

    def recognise(self, sample: Sample) -> Recognition | None:
        """By ``@timestamp`` together with one of the three actions."""
        events = [document for document in sample_documents(sample) if "@timestamp" in document]
        known = sum(look_up(event, "event.action") in tuple(ACTIONS) for event in events)
        if events and 2 * known > len(events):
            return Recognition(1.0, "JSON documents with @timestamp and the actions of behavioural analytics")
        return None

    def columns(self) -> Mapping[str, str]:
        return {
            "user.id": "client_id",
            "@timestamp": "timestamp",
            "search.query": "user_query",
            "session.id": "session_id",
            "event.action": "action",
            "document.id": "object_id",
            "search.results.items.document.id": "position",
        }

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        for number, line in lines:
            try:
                document = load_document(line)
                if document is not None:
                    yield Row(number, _event(document))
            except UnreadableError as bad:
                yield bad.at(number)


def _event(document: Document) -> dict[str, object]:
    action = text(look_up(document, "event.action"))
    if action is None:
        raise UnreadableError("bad-line", "the document has no event.action", "event.action")
    session = text(look_up(document, "session.id"))
    typed = look_up(document, "search.query")
    shown = text(look_up(document, "document.id"))
    return {
        "client_id": person(text(look_up(document, "user.id")) or session, "user.id"),
        "timestamp": moment(document.get("@timestamp"), "@timestamp"),
        "user_query": typed if isinstance(typed, str) else None,
        "session_id": session,
        "query_id": None,
        "action": ACTIONS.get(action, action),
        "object_id": shown,
        "position": _position(document, shown) if shown is not None else None,
    }


def _position(document: Document, shown: str) -> int | None:
    items = look_up(document, "search.results.items")
    if isinstance(items, list):
        listed = [look_up(item, "document.id") if isinstance(item, dict) else None for item in items]
    else:
        flat = look_up(document, "search.results.items.document.id")
        listed = flat if isinstance(flat, list) else [flat]
    names = [text(name) for name in listed]
    return names.index(shown) + 1 if shown in names else None
