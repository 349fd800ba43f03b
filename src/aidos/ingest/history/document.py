"""One thing that a person read, kept, wrote or searched for.

Documents stay on the machine and in memory: nothing of them is written, and no message quotes them. Their text is a
title, the words of an address (without its query string) and a body, as far as the source has them; of a page of search
results it is what was searched for.

The words of a web address are those of its host and its path, never of its query string. Query strings, fragments, user
names and passwords are cut off before anything is looked at: they carry searches, tokens and names of accounts. What is
left says much about a page that has no title. Numbers, codes and file endings are no words; neither are the parts of a
host that every host has, and the steps of a path that many sites have.

One field of a query string is read, that of what was searched for, where the page is one of results: then the query is
the document (`aidos.ingest.history.pages`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from aidos.core.profile import Kind
from aidos.errors import InputError
from aidos.ingest.history.pages import clean_title, searched_for

__all__ = [
    "EPOCH",
    "EPOCH_OF_CHROME",
    "Document",
    "address_words",
    "make_document",
    "moment_after",
    "unreadable",
]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_OF_CHROME = datetime(1601, 1, 1, tzinfo=UTC)
"""Chrome counts microseconds from here."""
LONGEST = 1 << 14
"""Characters of a text that are kept: its beginning says what it is about."""


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
    """A document of what a source has; None for pages of a browser or a search engine, and for what has no words."""
    words, query = "", searched_for(address or "")
    if query is not None:
        title = query
    elif title:
        title = clean_title(title, address or "")
    if address is not None and query is None:
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


ADDRESS = re.compile(r"(?i)\s*([a-z][a-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)")
WEB = frozenset({"http", "https", "ftp"})
PASSED_OVER = frozenset({"file"})
"""Pages on the machine itself: their paths name directories and people, so that the title alone counts."""
COMMON = frozenset(
    (
        *("www", "www2", "web", "m", "mobile", "amp", "co", "com", "net", "org", "edu", "gov", "info", "biz", "index"),
        *("default", "home", "page", "pages", "html", "htm", "php", "asp", "aspx", "jsp", "cgi", "xhtml", "shtml"),
        *("en", "de", "fr", "es", "it", "nl", "pt", "us", "uk", "eu"),
        *("watch", "wiki", "search", "results", "view", "show", "item", "items", "product", "products", "category"),
        *("categories", "tag", "tags", "topic", "topics", "thread", "threads", "forum", "forums", "post", "posts"),
        *(
            "article",
            "articles",
            "story",
            "user",
            "users",
            "login",
            "account",
            "question",
            "questions",
            "blog",
            "blogs",
        ),
    )
)
WORD = re.compile(r"[^\W\d_]{2,}")
CODE = re.compile(r"[0-9a-fA-F-]{8,}|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
"""Identifiers: their letters are no words."""
LONGEST_WORD = 1 << 11
MOST_WORDS = 40


def address_words(address: str) -> str | None:
    """The words of an address, maybe none; None where it is no page of the web, such as a page of settings."""
    found = ADDRESS.match(address[:LONGEST_WORD])
    if found is None:
        return None
    scheme = found[1].lower()
    if scheme in PASSED_OVER:
        return ""
    if scheme not in WEB or not found[2]:
        return None
    return f"{_host_words(found[2])} {_path_words(found[3])}".strip()


@lru_cache(maxsize=1 << 14)
def _host_words(authority: str) -> str:
    """Without the account, the port and the last label, which is a country or a kind of host."""
    host = authority.rpartition("@")[2].partition(":")[0].lower()
    labels = host.split(".")[:-1] or [host]
    words = [word for label in labels if "xn--" not in label for word in WORD.findall(label)]
    return " ".join(word for word in words if word not in COMMON)


def _path_words(path: str) -> str:
    if "%" in path:
        path = unquote(path, errors="replace").replace("\ufffd", " ")
    words = [
        word.lower()
        for part in path.split("/")
        if part and not CODE.fullmatch(part)
        for word in WORD.findall(part)
        if word.lower() not in COMMON
    ]
    return " ".join(words[:MOST_WORDS])


def unreadable(path: Path | str, error: OSError) -> InputError:
    """The error to raise: which file, and why, in the words of the operating system."""
    return InputError(f"{path} cannot be read: {error.strerror}", hint="name what is there and yours to read")
