"""One thing that a person read, kept, wrote or searched for.

Documents stay on the machine and in memory: nothing of them is written, and no message quotes them. Their text is a
title, the words of an address (without its query string) and a body, as far as the source has them; of a page of search
results it is what was searched for.

The words of a web address are those of its host and its path, never of its query string. Query strings, fragments, user
names and passwords are cut off before anything is looked at: they carry searches, tokens and names of accounts. What is
left says much about a page that has no title. Numbers, codes and file endings are no words; neither are the parts of a
host that every host has, and the steps of a path that many sites have.

One field of a query string is read, that of what was searched for, where the page is one of results: then the query is
the document.

What a page of the web is about: what was searched for, or its title without the name of its site. The title of a page
of results tells which engine was asked ("... - Google Search", "... at DuckDuckGo", "... - Bing"), and the words of an
engine's name are about other things than the query. So what was searched for is taken from the address, and nothing
else of the page; that is the one place where something behind the question mark is looked at, and only the field that
holds the query. A page of an engine without a query, such as its start page, is about nothing.

Where the address does not tell the query (a kept title, an engine that is asked by POST), the engine's name is cut off
the title. Other sites put their name there too, behind a bar or a dash: it is cut off where the host has the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from aidos.core.profile import Kind
from aidos.errors import InputError

__all__ = [
    "EPOCH",
    "EPOCH_OF_CHROME",
    "Document",
    "address_words",
    "clean_title",
    "make_document",
    "moment_after",
    "searched_for",
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


ENGINES: dict[str, tuple[str, ...]] = {
    "google": ("q",),
    "bing": ("q",),
    "duckduckgo": ("q",),
    "yahoo": ("p", "q"),
    "ecosia": ("q",),
    "startpage": ("query", "q"),
    "qwant": ("q",),
    "brave": ("q",),
    "kagi": ("q",),
    "mojeek": ("q",),
    "yandex": ("text",),
    "baidu": ("wd", "word"),
    "ask": ("q",),
    "aol": ("q",),
    "swisscows": ("query", "q"),
    "metager": ("eingabe", "q"),
    "dogpile": ("q",),
    "altavista": ("q",),
    "excite": ("search", "q"),
    "lycos": ("query", "q"),
}
"""The field of the address that holds the query, by the name of the host."""
ANY_SITE = ("q", "query", "search", "search_query", "searchterm", "keywords", "k", "_nkw", "text", "p")
RESULTS = re.compile(r"(?i)(?:^|/)(?:search|results|sch|s|suche|recherche|buscar)(?:\.\w{2,5})?(?:/|$)")
"""A step of a path that leads to results, on whatever site."""
HOST = re.compile(
    r"(?:(?:www|m|html|lite|search|images|news|scholar|books|[a-z]{2})\.){0,3}"
    rf"({'|'.join(ENGINES)})\.[a-z]{{2,4}}(?:\.[a-z]{{2}})?"
)
WEB_ADDRESS = re.compile(r"(?i)\s*https?://(?:[^/?#@]*@)?([^/?#:@]+)(?::\d+)?([^?#]*)(?:\?([^#]*))?")
AT_END = re.compile(
    r"(?i)(?:^|\s*[-\u2013\u2014|\u00b7:]\s)(?:google|bing|yahoo!?|ecosia|startpage|qwant|brave|kagi|mojeek|yandex|baidu|aol"
    r"|duckduckgo|altavista|excite|lycos|ask\.com)(?: (?:images?|news|videos?|maps|web))?(?: search)?(?: results?)?$"
    r"|[-\u2013\u2014] (?:google[- ]suche|recherche google|buscar con google)$| (?:at|on|bei) duckduckgo$"
)
BREAKS = (" - ", " \u2013 ", " \u2014 ", " | ", " \u00b7 ", " \u2022 ", " \u00bb ", ": ")
LONGEST_NAME = 1 << 10
"""Characters of a title, a query and an address that are looked at."""
SHORTEST_NAME = 3
"""Letters of a site's name: shorter ones are part of too many hosts."""


def searched_for(address: str) -> str | None:
    """What was searched for on the page; empty for a page of a search engine without it, None for any other page."""
    found = WEB_ADDRESS.match(address[: 2 * LONGEST_NAME])
    if found is None:
        return None
    path, fields = found[2], found[3] or ""
    engine = HOST.fullmatch(found[1].lower())
    if engine is None:
        return _field(fields, ANY_SITE) or None if RESULTS.search(path) else None
    query = _field(fields, ENGINES[engine[1]])
    return query if query or not path.strip("/") or RESULTS.search(path) else None


def clean_title(title: str, address: str = "") -> str:
    """A title without the name of the search engine, or of the site where the address says which it is."""
    if len(title) > LONGEST_NAME:
        return title
    plain = " ".join(title.split())
    cut = AT_END.sub("", plain)
    found = WEB_ADDRESS.match(address[: 2 * LONGEST_NAME])
    if cut != plain or found is None:
        return cut
    at = max((plain.rfind(mark), len(mark)) for mark in BREAKS)
    name = "".join(filter(str.isalnum, plain[sum(at) :])).casefold()
    labels = ["".join(filter(str.isalnum, label)) for label in found[1].lower().split(".")[:-1]]
    named = at[0] > 0 and len(name) >= SHORTEST_NAME and name.removeprefix("the") in labels
    return plain[: at[0]] if named else plain


def _field(fields: str, names: tuple[str, ...]) -> str:
    """The first of the fields that is there and holds a letter."""
    given = dict(reversed(parse_qsl(fields)))
    found = (given[name][:LONGEST_NAME].replace("\ufffd", " ").strip() for name in names if name in given)
    return next((value for value in found if any(map(str.isalpha, value))), "")
