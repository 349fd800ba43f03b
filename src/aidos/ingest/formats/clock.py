"""How a column of texts writes its times, as far as its first cells tell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from aidos.ingest.formats.layout import EPOCH, ISO

__all__ = ["guess_time_format", "suggest_time_format"]

STAMP = "%y%m%d%H%M%S"
PATTERNS = tuple(
    f"{day}{time}"
    for day in ("%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d")
    for time in ("", " %H:%M:%S", " %H:%M", ":%H:%M:%S", "T%H%M%S", "%H%M%S", " %I:%M:%S %p", " %I:%M %p")
)
"""Ways of writing times that are suggested but never assumed: nothing tells March 4th from April 3rd."""
ENOUGH = 0.5


def guess_time_format(cells: Sequence[str]) -> str:
    """`ISO`, `EPOCH`, or the pattern of twelve digits: the ways of writing a time that cannot be mistaken."""
    digits = [cell.strip().lstrip("+-") for cell in cells if cell.strip()]
    if digits and _share(all(part.isdecimal() for part in cell.split(".", 1)) for cell in digits) > ENOUGH:
        stamps = _share(len(cell) == 12 and _fits(cell, STAMP) for cell in digits)
        return STAMP if stamps > ENOUGH else EPOCH
    return ISO


def suggest_time_format(cells: Sequence[str]) -> str:
    """The first pattern that all cells fit; empty when there is none."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    fitting = (pattern for pattern in PATTERNS if all(_fits(cell, pattern) for cell in filled))
    return next(fitting, "") if filled else ""


def _share(verdicts: object) -> float:
    listed = list(verdicts)  # type: ignore[call-overload]
    return sum(listed) / len(listed) if listed else 0.0


def _fits(cell: str, pattern: str) -> bool:
    try:
        datetime.strptime(cell, pattern)  # noqa: DTZ007 (only the shape matters)
    except ValueError:
        return False
    return True
