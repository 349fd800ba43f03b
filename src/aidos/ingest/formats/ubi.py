"""OpenSearch User Behavior Insights: the documents of ``ubi_queries`` and ``ubi_events``, in bulk or plain ndjson.

A query document becomes a row with the action ``query``; an event keeps its own action name. An event without a
query text takes it from the query document of the same person and ``query_id`` seen before it, and failing that from
its message when that is of the type QUERY, because then the message is what was typed. UBI counts ordinals from 0, so
the position is the ordinal plus one; a producer that counts from 1 is not told apart and comes out one too deep. The
person is ``client_id``, or ``user_id`` where that is blank.

The texts of all queries are held in memory while the file is read: about 300 bytes a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aidos.core.records import SEARCH_LOG
from aidos.ingest.formats.base import BadRow, Recognition, Row, Sample
from aidos.ingest.formats.fields import (
    LARGEST,
    Document,
    UnreadableError,
    bulk_index,
    load_document,
    moment,
    person,
    sample_documents,
    text,
    whole,
)

__all__ = ["UserBehaviorInsights"]

OWN_FIELDS = frozenset(
    {
        "application",
        "object_id_field",
        "query_attributes",
        "query_response_hit_ids",
        "query_response_id",
        "query_response_object_ids",
    }
)
"""Fields of a query document that no other log has."""


class UserBehaviorInsights:
    """UBI queries and events."""

    name = "ubi"
    title = "OpenSearch User Behavior Insights"
    schema = SEARCH_LOG

    def recognise(self, sample: Sample) -> Recognition | None:
        """By the index named in bulk lines, or by the fields of the documents."""
        documents = sample_documents(sample)
        if any("ubi_" in (bulk_index(document) or "") for document in documents):
            return Recognition(1.0, "bulk lines name an index of User Behavior Insights")
        plain = [document for document in documents if bulk_index(document) is None]
        if not plain:
            return None
        sure = sum(
            _is_event(document) or (_is_query(document) and not OWN_FIELDS.isdisjoint(document)) for document in plain
        )
        if 2 * sure > len(plain):
            return Recognition(1.0, "JSON documents with the fields of UBI queries or events")
        if 2 * sum(map(_is_query, plain)) > len(plain):
            return Recognition(0.8, "JSON documents with client_id, query_id and user_query, as UBI queries have")
        return None

    def columns(self) -> Mapping[str, str]:
        return {
            "client_id": "client_id",
            "timestamp": "timestamp",
            "user_query": "user_query",
            "session_id": "session_id",
            "query_id": "query_id",
            "action_name": "action",
            "event_attributes.object.object_id": "object_id",
            "event_attributes.position.ordinal": "position",
        }

    def parse(self, lines: Iterable[tuple[int, str]]) -> Iterator[Row | BadRow]:
        queries: dict[tuple[str, str], str] = {}
        for number, line in lines:
            try:
                document = load_document(line)
                if document is None:
                    continue
                if "action_name" in document:
                    yield Row(number, _event(document, queries))
                elif "user_query" in document or "query_id" in document:
                    yield Row(number, _query(document, queries))
                else:
                    raise UnreadableError("bad-line", "the document is neither a UBI query nor a UBI event")
            except UnreadableError as bad:
                yield bad.at(number)


def _is_event(document: Document) -> bool:
    return "action_name" in document and "client_id" in document


def _is_query(document: Document) -> bool:
    return "client_id" in document and "query_id" in document and "user_query" in document and "action" not in document


def _query(document: Document, queries: dict[tuple[str, str], str]) -> dict[str, object]:
    query_id, typed = text(document.get("query_id")), _typed(document.get("user_query"))
    client = person(document.get("client_id") or document.get("user_id"), "client_id")
    if query_id is not None and typed:
        queries[client, query_id] = typed
    return {
        "client_id": client,
        "timestamp": moment(document.get("timestamp"), "timestamp"),
        "user_query": typed,
        "session_id": text(document.get("session_id")),
        "query_id": query_id,
        "action": "query",
    }


def _event(document: Document, queries: dict[tuple[str, str], str]) -> dict[str, object]:
    query_id = text(document.get("query_id"))
    typed = _typed(document.get("user_query"))
    client = person(document.get("client_id") or document.get("user_id"), "client_id")
    if not typed and query_id is not None:
        typed = queries.get((client, query_id))  # of the same person: ids are what their producers send
    if not typed and document.get("message_type") == "QUERY":
        typed = _typed(document.get("message"))
    session, object_id, position = document.get("session_id"), None, None
    attributes = document.get("event_attributes")
    if isinstance(attributes, dict):
        session = session or attributes.get("session_id")
        thing, place = attributes.get("object"), attributes.get("position")
        object_id = text(thing.get("object_id")) if isinstance(thing, dict) else None
        position = _position(place.get("ordinal")) if isinstance(place, dict) else None
    return {
        "client_id": client,
        "timestamp": moment(document.get("timestamp"), "timestamp"),
        "user_query": typed,
        "session_id": text(session),
        "query_id": query_id,
        "action": text(document["action_name"]),
        "object_id": object_id,
        "position": position,
    }


def _typed(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _position(ordinal: object) -> int | None:
    number = whole(ordinal, "event_attributes.position.ordinal")
    if number is None:
        return None
    if not 0 <= number < LARGEST:
        raise UnreadableError(
            "bad-number", "an ordinal is below zero or too large", "event_attributes.position.ordinal"
        )
    return number + 1
