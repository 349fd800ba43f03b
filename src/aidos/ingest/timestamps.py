"""Points in time as logs write them, for the formats that Python reads line by line.

The result is always timezone-naive UTC. A text without a zone is taken as UTC, because nothing in a log says
otherwise. Whether a time is plausible is not judged here: 1970 is a time, and the facts about a log call it absurd.

How a column of texts seems to write its times is advice for the owner, never a decision.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

__all__ = ["parse_time", "suggest_time_format"]

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (naive on purpose: every time of the house is naive UTC)
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
STAMP_DIGITS = 12
LONGEST = 100
"""No time is written longer; Python refuses to make numbers of very long texts."""
UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
"""Numbers below the first are seconds, below the second milliseconds, below the third microseconds (of so many)."""
CENTURY_TURN = 69
"""Two-digit years from here on belong to the twentieth century, as POSIX has it."""


def parse_time(value: object) -> datetime | None:
    """The time that a value of a log stands for, in naive UTC; None when it cannot be read.

    Takes datetimes, ISO 8601 texts, and numbers (or digits in a text) since 1970 whose size tells seconds,
    milliseconds and microseconds apart. A text of twelve digits is ``yymmddHHMMSS`` where that is a real time.
    """
    if isinstance(value, datetime):
        return _naive_utc(value)
    if isinstance(value, str):
        return _parse_text(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _parse_number(value)
    return None


def _parse_text(text: str) -> datetime | None:
    if len(text) > LONGEST:
        return None
    if not NUMBER.fullmatch(text):
        try:
            return _naive_utc(datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            return None
    if len(text) == STAMP_DIGITS and text.isdecimal():
        stamp = _parse_stamp(text)
        if stamp is not None:
            return stamp
    return _parse_number(float(text) if "." in text else int(text))


def _parse_stamp(digits: str) -> datetime | None:
    year, *rest = (int(digits[start : start + 2]) for start in range(0, STAMP_DIGITS, 2))
    month, day, hour, minute, second = rest
    try:
        return datetime(year + (1900 if year >= CENTURY_TURN else 2000), month, day, hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None


def _parse_number(number: float) -> datetime | None:
    for below, microseconds in UNITS:
        if abs(number) < below:
            try:
                return EPOCH + timedelta(microseconds=round(number * microseconds))
            except OverflowError:
                return None
    return None


def _naive_utc(time: datetime) -> datetime | None:
    try:
        return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None


PATTERNS = tuple(
    f"{day}{time}"
    for day in ("%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d")
    for time in ("", " %H:%M:%S", " %H:%M", ":%H:%M:%S", "T%H%M%S", "%H%M%S", " %I:%M:%S %p", " %I:%M %p")
)
"""Ways of writing times that are suggested but never assumed: nothing tells March 4th from April 3rd."""


def suggest_time_format(cells: Sequence[str]) -> str:
    """The first pattern that all cells fit; empty when there is none."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    fitting = (pattern for pattern in PATTERNS if all(_fits(cell, pattern) for cell in filled))
    return next(fitting, "") if filled else ""


def _fits(cell: str, pattern: str) -> bool:
    try:
        datetime.strptime(cell, pattern)  # noqa: DTZ007 (only the shape matters)
    except ValueError:
        return False
    return True
