"""What a page of the web is about: what was searched for, or its title without the name of its site.

The title of a page of results tells which engine was asked ("... - Google Search", "... at DuckDuckGo", "... - Bing"),
and the words of an engine's name are about other things than the query. So what was searched for is taken from the
address, and nothing else of the page; that is the one place where something behind the question mark is looked at, and
only the field that holds the query. A page of an engine without a query, such as its start page, is about nothing.

Where the address does not tell the query (a kept title, an engine that is asked by POST), the engine's name is cut off
the title. Other sites put their name there too, behind a bar or a dash: it is cut off where the host has the same name.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

__all__ = ["clean_title", "searched_for"]

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
ADDRESS = re.compile(r"(?i)\s*https?://(?:[^/?#@]*@)?([^/?#:@]+)(?::\d+)?([^?#]*)(?:\?([^#]*))?")
AT_END = re.compile(
    r"(?i)(?:^|\s*[-\u2013\u2014|\u00b7:]\s)(?:google|bing|yahoo!?|ecosia|startpage|qwant|brave|kagi|mojeek|yandex|baidu|aol"
    r"|duckduckgo|altavista|excite|lycos|ask\.com)(?: (?:images?|news|videos?|maps|web))?(?: search)?(?: results?)?$"
    r"|[-\u2013\u2014] (?:google[- ]suche|recherche google|buscar con google)$| (?:at|on|bei) duckduckgo$"
)
BREAKS = (" - ", " \u2013 ", " \u2014 ", " | ", " \u00b7 ", " \u2022 ", " \u00bb ", ": ")
LONGEST = 1 << 10
"""Characters of a title, a query and an address that are looked at."""
SHORTEST_NAME = 3
"""Letters of a site's name: shorter ones are part of too many hosts."""


def searched_for(address: str) -> str | None:
    """What was searched for on the page; empty for a page of a search engine without it, None for any other page."""
    found = ADDRESS.match(address[: 2 * LONGEST])
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
    if len(title) > LONGEST:
        return title
    plain = " ".join(title.split())
    cut = AT_END.sub("", plain)
    found = ADDRESS.match(address[: 2 * LONGEST])
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
    found = (given[name][:LONGEST].replace("\ufffd", " ").strip() for name in names if name in given)
    return next((value for value in found if any(map(str.isalpha, value))), "")
