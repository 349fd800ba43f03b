"""A page of results in words: its address with a gap for the query, and CSS selectors of what stands on it.

It is a small TOML file that the person writes, who knows the page and its terms. None is shipped. Selectors are tried
on a saved page before anything is asked (``--example``).

    address = "https://search.example/find?q={query}"
    results = ".result"
    link = "a"
    title = "h3"
    snippet = ".summary"

What is taken from a page of results, how much of it at most, and the script that reads it. The script is the same in
the browser that aidos drives and in the bookmark that a person presses.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, unquote_plus, urlsplit

from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError

__all__ = ["GAP", "SELECTORS", "Limits", "Seen", "Site", "TroubleError", "read_site", "script"]

GAP = "{query}"
EXAMPLE = 'for example address = "https://search.example/find?q={query}" and results = ".result"'
SELECTORS = ("results", "link", "title", "snippet", "leave_out", "captcha", "signed_in")
"""The fields of a site that are CSS selectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where results are asked for, and where they stand on the page."""

    address: str
    """The address of a page of results, with {query} in the place of the query."""
    results: str
    """Each result."""
    link: str = "a[href]"
    """Within a result, what leads to the page found."""
    title: str = ""
    """Within a result, its title; the text of the link unless given."""
    snippet: str = ""
    """Within a result, its text."""
    leave_out: str = ""
    """Results that are these, or stand in them, are left out: advertisements."""
    captcha: str = ""
    """What shows when the service asks whether a person is there, beside the usual signs of that."""
    signed_in: str = ""
    """What shows only to somebody who is signed in: looked for with the account, and not found without."""
    language: str = ""
    """The language that the browser asks for, with and without the account: en-GB."""

    def __post_init__(self) -> None:
        if self.address.count(GAP) != 1:
            raise ParameterError("the address must hold {query} once", hint=EXAMPLE)
        try:
            parts = urlsplit(self.address)
            parts.port  # noqa: B018 - reading it is the check
        except ValueError:
            raise ParameterError("the address cannot be read", hint=EXAMPLE) from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or GAP in parts.netloc:
            raise ParameterError("the address must begin with http:// or https:// and a host", hint=EXAMPLE)
        if "@" in parts.netloc:
            # Not quoted: a message ends in logs.
            raise ParameterError("the address carries credentials", hint="leave them out, and name an --account")
        if not self.results.strip():
            raise ParameterError("the selector of results is empty", hint=EXAMPLE)

    @property
    def host(self) -> str:
        """Scheme, host and port: where a page may lead to and still be this site's."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}".lower()

    def address_of(self, query: str) -> str:
        """Where the results of a query are."""
        return self.address.replace(GAP, quote(query, safe=""))

    def query_of(self, address: str) -> str:
        """The query that an address asks for; empty where it is none of this site's."""
        before, _, after = self.address.partition(GAP)
        if not address.startswith(before):
            return ""
        rest = address.removeprefix(before)
        end = rest.find(after[0]) if after else -1
        return unquote_plus(rest[:end] if end >= 0 else rest.partition("&")[0].partition("#")[0])

    def selectors(self) -> dict[str, str]:
        """The selectors by name, those that are given."""
        return {name: selector for name in SELECTORS if (selector := getattr(self, name).strip())}


def read_site(path: Path) -> Site:
    """The site of a file; InputError when it does not say what it should."""
    try:
        table = parse_toml(read_text(path, most=1 << 16))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML", hint=EXAMPLE) from error
    known = {each.name for each in fields(Site)}
    if strange := sorted(set(table) - known):
        raise InputError(f"{path}: there is no {strange[0]}", hint=f"what there is: {', '.join(sorted(known))}")
    if lacking := sorted({"address", "results"} - set(table)):
        raise InputError(f"{path}: {lacking[0]} is missing", hint=EXAMPLE)
    if wrong := sorted(name for name, value in table.items() if not isinstance(value, str)):
        raise InputError(f"{path}: {wrong[0]} is no text", hint=EXAMPLE)
    try:
        return Site(**table)
    except ParameterError as error:
        raise InputError(f"{path}: {error.message}", hint=error.hint) from error


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
