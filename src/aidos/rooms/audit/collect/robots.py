"""What a site asks of machines: its robots.txt by RFC 9309, with the pauses that some sites ask for.

The longest rule that fits an address decides, and of equals the one that allows. ``*`` stands for anything, ``$`` for
the end; Python's own parser knows neither, and takes the first rule that fits. Rules for the name ``aidos`` come before
those for everybody. A site that has no such file (any status from 400 to 499) asks for nothing; one whose file cannot
be had is not asked at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

__all__ = ["NAME", "Robots", "read_robots"]

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
