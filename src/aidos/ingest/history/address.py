"""The words of a web address: of its host and its path, never of its query string.

Query strings, fragments, user names and passwords are cut off before anything is looked at: they carry searches,
tokens and names of accounts. What is left says much about a page that has no title. Numbers, codes and file endings
are no words; neither are the parts of a host that every host has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

__all__ = ["address_words"]

ADDRESS = re.compile(r"(?i)\s*([a-z][a-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)")
WEB = frozenset({"http", "https", "ftp"})
PASSED_OVER = frozenset({"file"})
"""Pages on the machine itself: their paths name directories and people, so that the title alone counts."""
COMMON = frozenset(
    (
        *("www", "www2", "web", "m", "mobile", "amp", "co", "com", "net", "org", "edu", "gov", "info", "biz", "index"),
        *("default", "home", "page", "pages", "html", "htm", "php", "asp", "aspx", "jsp", "cgi", "xhtml", "shtml"),
        *("en", "de", "fr", "es", "it", "nl", "pt", "us", "uk", "eu"),
    )
)
WORD = re.compile(r"[^\W\d_]{2,}")
CODE = re.compile(r"[0-9a-fA-F-]{8,}|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*")
"""Identifiers: their letters are no words."""
LONGEST = 1 << 11
MOST_WORDS = 40


def address_words(address: str) -> str | None:
    """The words of an address, maybe none; None where it is no page of the web, such as a page of settings."""
    found = ADDRESS.match(address[:LONGEST])
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
