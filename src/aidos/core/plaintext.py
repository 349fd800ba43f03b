r"""Text that only says something: what acts on a terminal or changes how a line reads is made visible.

A query, a topic's name or a file's name may hold escape sequences (a terminal obeys them: it moves the cursor, renames
the window, hides lines), marks that turn the direction of reading (a line then reads as what it is not), and
characters that nobody sees. They are written as Python would write them: ``\x1b``, ``\u202e``. Joiners stay: Persian,
Indic scripts and many emoji need them.
"""

from __future__ import annotations

import re

__all__ = ["ACTING", "harmless", "one_line", "sheet_cell"]

ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but for tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction of reading
    "\u180e\u200b\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb"  # unseen, and line ends by another name
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e0fff]"  # no characters at all, and tags
)
"""Characters that act instead of being read."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell for a formula."""


def harmless(text: str) -> str:
    """The text with everything visible that would act; tabs and line ends stay."""
    return ACTING.sub(_visible, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The same without line ends, for what must not look like several messages."""
    return harmless(text).replace("\n", "\\n")


def sheet_cell(text: str) -> str:
    """The text for a file that people open in a spreadsheet, which would run what looks like a formula."""
    return harmless(f"'{text}" if text.startswith(FORMULA_STARTS) else text)


def _visible(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
