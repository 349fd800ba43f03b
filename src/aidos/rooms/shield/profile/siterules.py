"""A searcher's own rules about sites: never show, move up, move down. They can be taken to other search tools.

A rule for a site holds for everything below it: one for ``example.org`` also covers ``www.example.org``. Where several
match, the most specific decides, and blocking goes before moving.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from aidos.errors import ParameterError

__all__ = ["STRONGEST", "SiteRules"]

STRONGEST = 10
"""The largest strength of a rule, as in Goggles."""
SITE = re.compile(r"(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRules:
    """Sites by what is done with their results."""

    blocked: Collection[str] = frozenset()
    """Never shown."""
    boosts: Mapping[str, int] = field(default_factory=dict)
    """Moved up, with a strength from 1 to 10."""
    downranks: Mapping[str, int] = field(default_factory=dict)
    """Moved down, with a strength from 1 to 10."""

    def __post_init__(self) -> None:
        named = [*self.blocked, *self.boosts, *self.downranks]
        if wrong := [site for site in named if not SITE.fullmatch(site)]:
            raise ParameterError(
                f"{'1 rule does' if len(wrong) == 1 else f'{len(wrong)} rules do'} not name a site",
                hint="write the site's name in small letters, such as example.org, without a path",
            )
        if twice := sorted({site for site in named if named.count(site) > 1}):
            raise ParameterError(f"a site has one rule, but there are more for {', '.join(twice[:5])}")
        strengths = [*self.boosts.values(), *self.downranks.values()]
        if any(not 1 <= strength <= STRONGEST for strength in strengths):
            raise ParameterError(f"the strength of a rule must be from 1 to {STRONGEST}")
        object.__setattr__(self, "blocked", frozenset(self.blocked))
        object.__setattr__(self, "boosts", MappingProxyType(dict(self.boosts)))
        object.__setattr__(self, "downranks", MappingProxyType(dict(self.downranks)))

    def is_blocked(self, site: str) -> bool:
        """Whether results of this site are left out."""
        return any(name in self.blocked for name in _names(site))

    def strength(self, site: str) -> int:
        """How far results of this site move: up above 0, down below 0."""
        for name in _names(site):
            if name in self.boosts:
                return self.boosts[name]
            if name in self.downranks:
                return -self.downranks[name]
        return 0

    def as_goggles(self, name: str, description: str = "") -> str:
        """The rules as a Goggle for Brave Search."""
        head = [f"! name: {name}", f"! description: {description or name}", "! public: false", ""]
        rules = [f"$discard,site={site}" for site in sorted(self.blocked)]
        rules += [f"$boost={strength},site={site}" for site, strength in sorted(self.boosts.items())]
        rules += [f"$downrank={strength},site={site}" for site, strength in sorted(self.downranks.items())]
        return "\n".join([*head, *rules]) + "\n"

    def as_searxng(self) -> str:
        """The rules as a ``hostnames`` section of SearXNG's settings, which knows no strengths."""
        lines = ["hostnames:"]
        for key, sites in (
            ("remove", self.blocked),
            ("high_priority", self.boosts),
            ("low_priority", self.downranks),
        ):
            if sites:
                lines += [f"  {key}:", *(f"    - '(.*\\.)?{re.escape(site)}$'" for site in sorted(sites))]
        return "\n".join(lines if len(lines) > 1 else ["hostnames: {}"]) + "\n"


def _names(site: str) -> list[str]:
    """The site and all that it is below, the most specific first."""
    parts = site.lower().rstrip(".").split(".")
    return [".".join(parts[start:]) for start in range(len(parts))]
