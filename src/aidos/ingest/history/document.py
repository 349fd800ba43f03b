"""One thing that a person read, kept, wrote or searched for.

Documents stay on the machine and in memory: nothing of them is written, and no message quotes them. Their text is a
title, the words of an address (without its query string) and a body, as far as the source has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from aidos.ingest.history.address import address_words

__all__ = ["EPOCH", "EPOCH_OF_CHROME", "Document", "Kind", "make_document", "moment_after"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_OF_CHROME = datetime(1601, 1, 1, tzinfo=UTC)
"""Chrome counts microseconds from here."""
LONGEST = 1 << 14
"""Characters of a text that are kept: its beginning says what it is about."""


class Kind(StrEnum):
    """Where a document comes from."""

    FIREFOX_HISTORY = "firefox-history"
    FIREFOX_BOOKMARKS = "firefox-bookmarks"
    CHROME_HISTORY = "chrome-history"
    CHROME_BOOKMARKS = "chrome-bookmarks"
    HTML_BOOKMARKS = "html-bookmarks"
    SEARCH_LOG = "search-log"
    POSTS = "posts"
    TEXTS = "texts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page, a query, a post or a text."""

    kind: Kind
    text: str = field(repr=False)
    """Title, words of the address, body; at least one word."""
    time: datetime | None = field(default=None, repr=False)
    """When it was last seen or written; None where the source does not say."""
    visits: int = 1
    """How often it was seen or asked."""


def make_document(  # noqa: PLR0913 (what sources have of a document, each given by name)
    kind: Kind,
    *,
    title: str | None = None,
    address: str | None = None,
    body: str | None = None,
    time: datetime | None = None,
    visits: int = 1,
) -> Document | None:
    """A document of what a source has; None for a browser's own pages and for what has no words."""
    words = ""
    if address is not None:
        found = address_words(address)
        if found is None:
            return None
        words = found
    text = "\n".join(part for part in (title and title.strip(), words, body and body.strip()) if part)
    if not any(map(str.isalnum, text)):
        return None
    return Document(kind=kind, text=text[:LONGEST], time=time, visits=max(1, visits))


def moment_after(start: datetime, microseconds: object) -> datetime | None:
    """The time so many microseconds after the start of a calendar; None for nothing, zero and absurd numbers."""
    if isinstance(microseconds, str) and microseconds.isascii() and microseconds.isdigit() and len(microseconds) < 20:
        microseconds = int(microseconds)
    if isinstance(microseconds, bool) or not isinstance(microseconds, int) or microseconds <= 0:
        return None
    try:
        return start + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
