"""A searcher's own rules about sites: never show, move up, move down. They can be taken to other search tools.

A rule for a site holds for everything below it: one for ``example.org`` also covers ``www.example.org``. Where several
match, the most specific decides, and blocking goes before moving.

They are kept in a TOML file that people can read: a list ``block`` of sites, and tables ``[boost]`` and ``[downrank]``
of sites with a strength from 1 to 10.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from aidos.core.checks import check_parameters
from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.jobs.answer import Finding
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named, Short

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["STRONGEST", "ExportRules", "ExportedRules", "SiteRules", "read_rules"]

STRONGEST = 10
"""The largest strength of a rule, as in Goggles."""
SITE = re.compile(r"(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+")
PARTS = {"block": list, "boost": dict, "downrank": dict}
SHAPE = 'a rules file is TOML: block = ["site"], and under [boost] and [downrank] lines such as "site" = 3'


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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExportedRules(Finding):
    """Rules in the form of another search tool."""

    about: str = "one person's rules about sites"
    form: str
    text: str
    output: Path | None = None
    """Where they were written."""

    def facts(self) -> Mapping[str, object]:
        """The rules as a text."""
        output = None if self.output is None else str(self.output)
        return {"format": self.form, "rules": self.text, "output": output}

    def blocks(self) -> Sequence[Block]:
        """The rules, or where they were written."""
        from aidos.report.page import Code

        return (Code(text=self.text.rstrip("\n") if self.output is None else str(self.output), language="text"),)


@dataclass(frozen=True, slots=True)
class ExportRules:
    """Export rules as a Goggle for Brave Search, or as settings of SearXNG.

    The rules are a TOML file: block = ["site"], and under [boost] and
    [downrank] lines such as "site" = 3, with a strength from 1 to 10. SearXNG
    knows no strengths. A Goggle stands at a public address: who finds it reads
    your rules.

    For example:
        aidos shield rules export rules.toml --format goggles -o mine.goggle
        aidos shield rules export rules.toml --format searxng
    """

    file: Path
    """Your rules."""
    _: KW_ONLY
    form: Annotated[Literal["goggles", "searxng"], Named("--format")]
    """The search tool they are for."""
    name: str = "My rules"
    """What the Goggle is called."""
    output: Annotated[Path | None, Short("-o")] = None
    """The file to write; if unset they are printed."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def run(self, desk: Desk) -> ExportedRules:  # noqa: ARG002  # every job is asked at a desk
        """Read the rules and write them in the other form."""
        from aidos.engine.files import write_text
        from aidos.report.values import fit

        read = read_rules(self.file)
        text = read.as_goggles(fit(self.name, 100)) if self.form == "goggles" else read.as_searxng()
        if self.output is not None:
            write_text(self.output, text, private=True)
        return ExportedRules(form=self.form, text=text, output=self.output)


def read_rules(path: Path) -> SiteRules:
    """The rules of a file; InputError says what is wrong with it."""
    try:
        content = parse_toml(read_text(path, hint="name the file of your rules"))
    except ValueError as error:
        raise InputError(f"{path} is not TOML", hint=SHAPE) from error
    if wrong := _misshapen(content):
        raise InputError(f"{path}: {wrong}", hint=SHAPE)
    blocked, boosts, downranks = (content.get(name, kind()) for name, kind in PARTS.items())
    try:
        return SiteRules(blocked=blocked, boosts=boosts, downranks=downranks)
    except ParameterError as error:
        raise InputError(f"{path}: {error.message}", hint=error.hint) from error


def _misshapen(content: dict[str, Any]) -> str:
    """What is wrong with the shape of the file; empty where it is right."""
    if unknown := sorted(content.keys() - PARTS.keys()):
        return f"rules have no part {unknown[0][:60]!r}"
    for name, kind in PARTS.items():
        if not isinstance(content.get(name, kind()), kind):
            return f"{name} is no {'list of sites' if kind is list else 'table of sites and strengths'}"
    if not all(isinstance(site, str) for site in content.get("block", ())):
        return "block holds something that is no text"
    strengths = [strength for name in ("boost", "downrank") for strength in content.get(name, {}).values()]
    if any(type(strength) is not int for strength in strengths):
        return "the strength of a rule must be a whole number from 1 to 10"
    return "" if any(content.values()) else "there is no rule in it"
