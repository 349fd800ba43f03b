"""Asking: each query with the account and without it, in an order that a coin decides, slowly, and stopping early.

The lists of a query are asked one right after the other, so that time moves them as little as may be; which comes first
is drawn anew for each query, and the queries are shuffled, so that what the service learns from one list favours no
side. Between queries there is a pause that varies. What is drawn comes from the operating system.

It stops at once where the service says that it wants no machine (a captcha, a refusal, a wish to slow down), where the
account is not signed in any more, and after three queries in a row without a result. Nothing is got round. What was
collected until then stays, and the same question goes on from there.

What a site asks of machines: its robots.txt by RFC 9309, with the pauses that some sites ask for. The longest rule that
fits an address decides, and of equals the one that allows. ``*`` stands for anything, ``$`` for the end; Python's own
parser knows neither, and takes the first rule that fits. Rules for the name ``aidos`` come before those for everybody.
A site that has no such file (any status from 400 to 499) asks for nothing; one whose file cannot be had is not asked at
all.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random, SystemRandom
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from aidos.core.progress import Task
from aidos.core.resultpairs import Side
from aidos.errors import ServiceError
from aidos.rooms.audit.collect.keeping import Collection
from aidos.rooms.audit.collect.site import Seen, Site, TroubleError

__all__ = ["NAME", "Asks", "Pace", "Recorder", "Robots", "Tally", "draw_order", "read_robots"]

REFUSALS = frozenset({401, 403, 429, 451, 503})
"""Statuses by which a service says that it does not want to be asked now, or by us."""
MOST_IN_A_ROW = 3
WITHIN = (2.0, 6.0)
"""Seconds between the lists of a query."""
STOPPED = "what was collected is kept, and the same command goes on from there"
CAPTCHA = "leave it for today: aidos solves none and gets round none; ask by hand, with aidos audit bookmarklet"


class Asks(Protocol):
    """Whoever can look at a page of results."""

    def look(self, address: str, site: Site, *, with_account: bool) -> Seen:
        """The results of a page; TroubleError where there is no such page."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How slowly to ask."""

    queries_per_hour: float
    least: float = 0.0
    """Seconds between two pages, as the site wants it."""
    chance: Random = field(default_factory=SystemRandom)
    wait: Callable[[float], None] = time.sleep

    def between_lists(self) -> None:
        """Wait before the next list of the same query."""
        self.wait(max(self.chance.uniform(*WITHIN), self.least))

    def between_queries(self, spent: float) -> None:
        """Wait before the next query, half to one and a half of what the rate asks for, less what was spent."""
        pause = 3600 / self.queries_per_hour * self.chance.uniform(0.5, 1.5) - spent
        self.wait(max(pause, self.least, WITHIN[0]))


@dataclass(slots=True)
class Tally:
    """What came of asking."""

    asked: int = 0
    """Queries whose lists are kept."""
    empty: int = 0
    """Queries of which a list had no result: none of their lists is kept."""
    troubled: int = 0
    """Queries with a page that could not be read."""
    trouble: str = ""
    """What was wrong with the last of these."""
    left_out: int = 0
    """Advertisements."""
    in_a_row: int = 0


def draw_order(chance: Random, *, again: bool) -> tuple[Side, ...]:
    """The lists of a query, in the order in which they are asked: every order is as likely as every other."""
    sides: list[Side] = ["vanilla", "personalised", *(("again",) if again else ())]
    chance.shuffle(sides)
    return tuple(sides)


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Asks the queries of one site and keeps their lists."""

    asks: Asks
    site: Site
    kept: Collection
    pace: Pace
    place: str = ""
    again: bool = True
    tally: Tally = field(default_factory=Tally)

    def record(self, queries: Iterable[str], task: Task) -> Tally:
        """Ask what was not asked before; ServiceError where it must stop."""
        left = [query for query in dict.fromkeys(queries) if query not in self.kept.queries]
        self.pace.chance.shuffle(left)
        for number, query in enumerate(left):
            begun = time.monotonic()
            self._one(query)
            task.advance(1)
            if number + 1 < len(left):
                self.pace.between_queries(time.monotonic() - begun)
        return self.tally

    def _one(self, query: str) -> None:
        """All lists of a query, or none."""
        rows: list[dict[str, Any]] = []
        for order, side in enumerate(draw_order(self.pace.chance, again=self.again), start=1):
            if order > 1:
                self.pace.between_lists()
            when = datetime.now(UTC)
            try:
                seen = self.asks.look(self.site.address_of(query), self.site, with_account=side == "personalised")
                self._stop_if_unwanted(seen, side)
                if seen.status >= 400:
                    raise TroubleError(f"status {seen.status}")
            except TroubleError as error:
                self.tally.troubled += 1
                self.tally.trouble = str(error)
                self._stop_if_stuck(f"the last three pages could not be read: {error}")
                return
            if not seen.rows:
                self.tally.empty += 1
                self._stop_if_stuck("the last three queries had a page on which no result was found")
                return
            rows += self._rows(query, side, order, when, seen.rows)
            self.tally.left_out += seen.left_out
        self.tally.in_a_row = 0
        self.tally.asked += 1
        self.kept.add(query, rows)

    def _rows(
        self, query: str, side: Side, order: int, when: datetime, found: Sequence[dict[str, str]]
    ) -> list[dict[str, Any]]:
        fixed = {"when": when.isoformat(timespec="seconds"), "order": order, "place": self.place}
        return [
            {"query": query, "list": side, "position": position, **each, **fixed}
            for position, each in enumerate(found, start=1)
        ]

    def _stop_if_stuck(self, words: str) -> None:
        self.tally.in_a_row += 1
        if self.tally.in_a_row >= MOST_IN_A_ROW:
            raise ServiceError(
                words, hint=f"save such a page and look with --example what the selectors find; {STOPPED}"
            )

    def _stop_if_unwanted(self, seen: Seen, side: Side) -> None:
        if seen.captcha:
            raise ServiceError("the service asks whether a person is there (a captcha)", hint=f"{CAPTCHA}; {STOPPED}")
        if seen.status in REFUSALS:
            raise ServiceError(
                f"the service refuses to answer (status {seen.status})", hint=f"do not ask on; later, slower: {STOPPED}"
            )
        if seen.signed_in is (side != "personalised"):
            words = "without the account a page looks signed in" if seen.signed_in else "the account is not signed in"
            raise ServiceError(words, hint=f"sign in again (--sign-in), or mend the selector signed_in; {STOPPED}")


NAME = "aidos"
"""What we are called in robots.txt."""
LONGEST = 512 << 10
"""Characters that are read of one: what the RFC demands at least."""
LONGEST_PAUSE = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules that hold for us."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Beginnings of paths, and whether they are allowed."""
    pause: float = 0.0
    """Seconds that the site wants between two pages."""

    def allow(self, address: str) -> bool:
        """Whether this page may be asked for."""
        parts = urlsplit(address)
        path = _plain((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        fitting = [(len(rule), allowed) for rule, allowed in self.rules if _fits(rule, path)]
        return max(fitting, default=(0, True))[1]


NOBODY = Robots(rules=(("/", False),))
"""A site whose rules are not known."""


def read_robots(status: int, text: str) -> Robots:
    """The rules of a file that came with this status; 0 where none came."""
    if 400 <= status < 500:
        return Robots()
    if not 200 <= status < 300:
        return NOBODY
    groups = _groups(text[:LONGEST])
    lines = groups.get(NAME, groups.get("*", []))
    rules = tuple((_plain(value), name == "allow") for name, value in lines if name in {"allow", "disallow"} and value)
    return Robots(
        rules=rules, pause=max((_seconds(value) for name, value in lines if name == "crawl-delay"), default=0)
    )


def _groups(text: str) -> dict[str, list[tuple[str, str]]]:
    """The lines of each name, in small letters; groups of the same name are one."""
    groups: dict[str, list[tuple[str, str]]] = {}
    names: list[str] = []
    begun = False
    for line in text.removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if name == "user-agent":
            names = [value.lower()] if begun else [*names, value.lower()]
            begun = False
            groups.setdefault(names[-1], [])
        elif name in {"allow", "disallow", "crawl-delay"}:
            begun = True
            for each in names:
                groups[each].append((name, value))
    return groups


def _plain(path: str) -> str:
    """Paths as they are compared: letters that are written in two ways are written in one."""
    return quote(unquote(path, errors="surrogateescape"), safe="/?&=*$:;,+@!'()~", errors="surrogateescape")


def _fits(rule: str, path: str) -> bool:
    """By hand where a rule has stars, since an expression with many of them can be made to run for ever."""
    ends = rule.endswith("$")
    first, *parts = re.sub(r"\*+", "*", rule.removesuffix("$")).split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(parts, start=1):
        if ends and number == len(parts):
            return path.endswith(part) and len(path) - len(part) >= at
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return not ends or at == len(path)


def _seconds(value: str) -> float:
    try:
        found = float(value)
    except ValueError:
        return 0.0
    return min(max(found, 0.0), LONGEST_PAUSE) if found == found else 0.0  # noqa: PLR0124 (no number is not itself)
