"""What is taken from a page of results, how much of it at most, and the script that reads it.

The script is the same in the browser that aidos drives and in the bookmark that a person presses.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

__all__ = ["Limits", "Seen", "TroubleError", "script"]


class TroubleError(Exception):
    """A page that could not be read: why, in words that hold nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a page is taken."""

    seconds: float = 30.0
    """For a page, until its results are read."""
    megabytes: float = 30.0
    """What a page may load, unpacked."""
    results: int = 100
    """Results of a list."""
    letters: int = 2000
    """Of an address, a title or a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What stood on a page."""

    rows: tuple[dict[str, str], ...] = ()
    """Addresses, titles and texts of results, in order."""
    matched: int = 0
    """How many things the selector of results fits."""
    left_out: int = 0
    captcha: bool = False
    signed_in: bool | None = None
    """None where the site does not say how that shows."""
    status: int = 200
    text: str = ""
    """Of a page that was read as plain text."""


def script() -> str:
    """The script that reads a page: the same in the recorder and in the bookmarklet."""
    return (files("aidos.rooms.audit.collect") / "results.js").read_text(encoding="utf-8").strip()
