"""Cells of the formats that Python reads: from what a log wrote to what a column of the schema holds.

Each function returns a value that fits its column or raises UnreadableError, which a format turns into the BadRow of
the line. The sentences hold for every line of the same trouble and never quote a cell.
"""

from __future__ import annotations

import math
import re
from datetime import datetime

from aidos.ingest.formats.base import BadRow
from aidos.ingest.timestamps import parse_time

__all__ = ["LARGEST", "UnreadableError", "decimal", "moment", "person", "text", "whole"]

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
