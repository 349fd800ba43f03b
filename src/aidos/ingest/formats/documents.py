"""JSON documents, one a line: loading them, stepping over bulk action lines, and looking up dotted names.

Search engines export their documents in three dresses, and all are taken off here: plain documents, the bulk layout
(an action line before each document), and hits that carry the document in ``_source``. A JSON array over many lines
is not one document a line and is refused as bad JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aidos.ingest.formats.base import Sample
from aidos.ingest.formats.fields import UnreadableError

__all__ = ["Document", "bulk_index", "load_document", "look_up", "sample_documents"]

Document = dict[str, Any]

BULK_ACTIONS = frozenset({"index", "create", "update", "delete"})
DECODER = json.JSONDecoder()
LOOKED_AT = 40
"""How many lines of a sample are loaded for recognising it: enough for both kinds of documents of a bulk file."""


def load_document(line: str) -> Document | None:
    """The document of a line; None for blank lines and bulk action lines; UnreadableError when it is no document."""
    if not line.startswith("{"):
        line = line.strip()
        if not line:
            return None
    try:
        loaded, end = DECODER.raw_decode(line)  # spares the two searches for white space of json.loads
    except (ValueError, RecursionError):  # RecursionError: somebody nested thousands of brackets
        end = -1
    if end < len(line) and (end < 0 or not line[end:].isspace()):
        raise UnreadableError("bad-json", "the line is not a JSON document")
    if not isinstance(loaded, dict):
        raise UnreadableError("bad-json", "the line is JSON but not an object with named fields")
    if "\\u" in line and not _encodable(loaded, line):
        raise UnreadableError("bad-json", "the line holds half of an escaped character pair, which is not text")
    if len(loaded) == 1 and not BULK_ACTIONS.isdisjoint(loaded):
        return None
    source = loaded.get("_source")
    return source if isinstance(source, dict) else loaded


def bulk_index(document: Document) -> str | None:
    """The index that a bulk action line names (empty when it names none); None when it is not an action line."""
    name, value = next(iter(document.items()))
    if name not in BULK_ACTIONS or not isinstance(value, dict):
        return None
    return str(value.get("_index", ""))


def look_up(document: Document, name: str) -> Any:
    """The field of a dotted name, whether the dots are written in the key or stand for nesting; None when absent."""
    if name in document:
        return document[name]
    end = name.find(".")
    while end > 0:
        inner = document.get(name[:end])
        if isinstance(inner, dict):
            found = look_up(inner, name[end + 1 :])
            if found is not None:
                return found
        end = name.find(".", end + 1)
    return None


def sample_documents(sample: Sample) -> tuple[Document, ...]:
    """The first documents of a file, bulk action lines included; none when most lines are not JSON objects."""
    lines = [line for line in sample.lines if line.strip()][:LOOKED_AT]
    documents = tuple(_objects(lines))
    return documents if 2 * len(documents) > len(lines) else ()


def _objects(lines: list[str]) -> Iterator[Document]:
    for line in lines:
        try:
            loaded = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(loaded, dict) and loaded:
            source = loaded.get("_source")
            yield source if isinstance(source, dict) and source else loaded


def _encodable(document: Document, line: str) -> bool:
    if "\\ud" not in line and "\\uD" not in line:
        return True
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True
