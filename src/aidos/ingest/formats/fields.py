"""Cells of the formats that Python reads, from what a log wrote to what a column holds, and JSON documents by line.

Each function returns a value that fits its column or raises UnreadableError, which a format turns into the BadRow of
the line. The sentences hold for every line of the same trouble and never quote a cell.

Documents are loaded line by line, bulk action lines are stepped over, and dotted names looked up. Search engines export
their documents in three dresses, and all are taken off here: plain documents, the bulk layout (an action line before
each document), and hits that carry the document in ``_source``. A JSON array over many lines is not one document a line
and is refused as bad JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from aidos.core.jsontext import parse_json
from aidos.ingest.formats.base import BadRow, Sample
from aidos.ingest.timestamps import parse_time

__all__ = [
    "LARGEST",
    "Document",
    "UnreadableError",
    "bulk_index",
    "decimal",
    "load_document",
    "look_up",
    "moment",
    "person",
    "sample_documents",
    "text",
    "whole",
]

LONGEST_TIME = 40
WHOLE = re.compile(r"[+-]?[0-9]{1,12}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
LARGEST = 2**31 - 1
"""What the engine's INTEGER holds."""


class UnreadableError(Exception):
    """A cell or a line that cannot be read: the kind of trouble and the sentence for its BadRow."""

    def __init__(self, kind: str, sentence: str, column: str = "") -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.column = column

    def at(self, line: int) -> BadRow:
        """The bad row of that line."""
        return BadRow(line, self.kind, self.sentence, self.column)


def text(value: object) -> str | None:
    """An identifier or a word: numbers are written out (9.0 as 9), blank and nested values are none."""
    if isinstance(value, str):
        return value if value and not value.isspace() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def person(value: object, column: str) -> str:
    """Whose row it is; missing-person when the cell is blank or absent."""
    found = text(value)
    if found is None:
        raise UnreadableError(
            "missing-person", f"the row does not say whose it is: {column} is missing or blank", column
        )
    return found


def moment(value: object, column: str) -> datetime:
    """When, in naive UTC; unreadable-time when the cell is absent or is no time."""
    if type(value) is str:
        if value[4:5] == "-":  # the common ISO layout takes the short way: this is the hottest spot of most formats
            try:
                time = datetime.fromisoformat(value[:-1] if value[-1] == "Z" else value)
            except ValueError:
                pass
            else:
                if time.tzinfo is None:
                    return time
        if len(value) > LONGEST_TIME:
            raise UnreadableError("unreadable-time", f"{column} is not a time that can be read", column)
    found = parse_time(value)
    if found is None:
        what = "missing" if value is None or value == "" else "not a time that can be read"
        raise UnreadableError("unreadable-time", f"{column} is {what}", column)
    return found


def whole(value: object, column: str) -> int | None:
    """A whole number that the engine can hold; None when the cell is blank; bad-number otherwise."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = value.strip()
        number = int(value) if WHOLE.fullmatch(value) else None
    elif isinstance(value, float):
        number = int(value) if value.is_integer() else None
    else:
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if number is None or abs(number) > LARGEST:
        raise UnreadableError("bad-number", f"{column} is not a whole number of ordinary size", column)
    return number


def decimal(value: str, column: str) -> float:
    """A finite number; bad-number otherwise."""
    number = float(value) if len(value) < 400 and DECIMAL.fullmatch(value) else math.inf
    if not math.isfinite(number):
        raise UnreadableError("bad-number", f"{column} is not a number", column)
    return number


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
            loaded = parse_json(line)
        except ValueError:
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
