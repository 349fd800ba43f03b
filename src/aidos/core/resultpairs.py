"""Pairs of result lists: what a search service gave for one query without an account, and what it gave with it.

The audit of hidden profiles compares the two orders. A pair may carry a second list without an account, which shows
how much the service changes its answers for no reason of the person's. How each list was fetched (from where, when, as
which of the query, by which variant of the service) tells later what else may have moved results. Two results are the
same when their addresses are: letters of scheme and host count without case, and what follows ``#`` does not count
unless it is a route of the page (``#!``, ``#/``). Nothing here says why two lists differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, get_args

from aidos.errors import ParameterError

__all__ = [
    "SIDES",
    "Alignment",
    "Fetch",
    "Result",
    "ResultKind",
    "ResultPair",
    "Side",
    "align",
    "align_lists",
    "same_address",
]

ResultKind = Literal["organic", "ad", "other"]
"""A result proper, an advertisement, or anything else that a page of results holds."""
Side = Literal["vanilla", "personalised", "again"]
"""Which list of a pair: without an account, with it, or without it a second time."""
SIDES: tuple[Side, ...] = get_args(Side)
KINDS = frozenset(get_args(ResultKind))
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)(#[!/].*)?", re.DOTALL)
"""Scheme, host, path with what is asked, and a route of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One result of a list; its limits are checked by hand, since audits hold millions of results."""

    url: str = ""
    """Its address, or its id where it is no page of the web."""
    title: str = ""
    snippet: str = ""
    kind: ResultKind = "organic"
    words: str = ""
    """The words of its address; given where it has neither title nor snippet."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"Result: kind must be one of {', '.join(get_args(ResultKind))}")
        if not (self.url or self.title):
            raise ParameterError("Result: it needs an address or a title")

    @property
    def identity(self) -> str:
        """What it has in common with itself in other lists: the address, or the title where there is none."""
        return same_address(self.url) if self.url else f"title:{' '.join(self.title.split())}"

    @property
    def text(self) -> str:
        """Its title and snippet, or else the words of its address; empty where nothing is known of it."""
        return "\n".join(part for part in (self.title, self.snippet) if part) or self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """How one list was fetched; empty where the source does not say."""

    place: str = ""
    """From where it was asked."""
    when: datetime | None = None
    """In UTC."""
    turn: int | None = None
    """As which of the lists of its query it was asked: 1 for the first."""
    bucket: str = ""
    """The variant of the service that answered, where it tries out several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPair:
    """The lists of one query, each result at most once in each."""

    query: str
    vanilla: tuple[Result, ...]
    """Without an account, best first."""
    personalised: tuple[Result, ...]
    """With the account, best first."""
    again: tuple[Result, ...] | None = None
    """Without an account a second time; None where nobody asked again."""
    when: datetime | None = None
    """When the vanilla list was fetched, in UTC; None where the source does not say."""
    gap: timedelta | None = None
    """How much later the personalised list was fetched; below zero when it came first, None where it is not known."""
    place: str = ""
    """From where it was asked; empty where the source does not say."""
    fetches: tuple[Fetch, ...] = ()
    """How each list was fetched, in the order of the fields; empty where nothing is known beyond what stands above."""

    def __post_init__(self) -> None:
        for name, results in (("vanilla", self.vanilla), ("personalised", self.personalised), ("again", self.again)):
            if results is None:
                continue
            if not results:
                raise ParameterError(f"ResultPair: {name} must hold at least one result")
            if len({result.identity for result in results}) < len(results):
                raise ParameterError(f"ResultPair: {name} holds a result twice")
        if self.fetches and not (2 if self.again is None else 3) <= len(self.fetches) <= 3:
            raise ParameterError("ResultPair: fetches must hold one for each list")

    def fetch(self, side: Side) -> Fetch:
        """How one of its lists was fetched."""
        if self.fetches:
            return self.fetches[SIDES.index(side)]
        later = None if self.when is None or self.gap is None else self.when + self.gap
        times = {"vanilla": self.when, "personalised": later, "again": None}
        return Fetch(place=self.place, when=times[side])


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Two lists over the same items: what one of them lacks stands at its end, in the order of the other."""

    items: tuple[Result, ...]
    """In vanilla order, those that only the other list has last."""
    order: tuple[int, ...]
    """The other list: places in ``items``, counted from 0. One more is the rank under vanilla."""
    shared: int
    """How many items both lists had."""

    def __len__(self) -> int:
        return len(self.items)

    @property
    def is_unchanged(self) -> bool:
        """Whether both orders are the same."""
        return self.order == tuple(range(len(self.items)))


def align(pair: ResultPair) -> Alignment:
    """The personalised list against the vanilla one."""
    return align_lists(pair.vanilla, pair.personalised)


def align_lists(vanilla: Sequence[Result], other: Sequence[Result]) -> Alignment:
    """The two lists over the same items. Each result stands in each list once, as in a `ResultPair`."""
    items = list(vanilla)
    places = {result.identity: place for place, result in enumerate(vanilla)}
    order: list[int] = []
    for result in other:
        place = places.setdefault(result.identity, len(items))
        if place == len(items):
            items.append(result)
        order.append(place)
    shared = len(vanilla) + len(other) - len(items)
    given = set(order)
    order.extend(place for place in range(len(vanilla)) if place not in given)
    return Alignment(items=tuple(items), order=tuple(order), shared=shared)


@lru_cache(maxsize=1 << 14)  # a result is asked for its identity in every list that it stands in
def same_address(url: str) -> str:
    """The address as it is compared: the same for all ways to write it that lead to the same page."""
    found = ADDRESS.match(url.strip())
    if found is None:
        return url.strip()
    scheme, host, path, route = found.groups("")
    path = path if path[:1] == "/" else f"/{path}"
    return f"{scheme.lower()}://{host.lower()}{path}{route}".rstrip()
