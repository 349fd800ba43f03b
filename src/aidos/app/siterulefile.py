"""A searcher's rules about sites, as a TOML file that people can read and keep.

It has a list ``block`` of sites, and tables ``[boost]`` and ``[downrank]`` of sites with a strength from 1 to 10.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.rooms.shield.profile.siterules import SiteRules

__all__ = ["read_rules"]

PARTS = {"block": list, "boost": dict, "downrank": dict}
SHAPE = 'a rules file is TOML: block = ["site"], and under [boost] and [downrank] lines such as "site" = 3'


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
