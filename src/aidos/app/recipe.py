"""A release written down: which mechanism, which items, which parameters. TOML, so that people can read and keep it.

Every parameter from outside (a file, an option) passes here and is refused with all problems at once. A recipe holds no
seed and no data: running it again draws new noise.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter, ValidationError

from aidos.app.catalogue import BUILT_IN, SETTINGS, find_mechanism
from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.rooms.publish.multi import HistogramMechanism, LogRelease
from aidos.rooms.publish.tables import TableRelease
from aidos.rooms.publish.wholelog import WHOLE_LOG_MECHANISMS, WholeLog, WholeLogMechanism

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Recipe", "build_mechanism", "fill_parameters", "parse_recipe", "read_recipe"]

ELSEWHERE = {
    "aidos.rooms.audit.": "aidos audit learn",
    "aidos.rooms.risk.": "aidos risk rank",
    "aidos.rooms.exposure.": "aidos expose compute",
    "aidos.rooms.fairness.": "aidos fair rerank",
    "aidos.rooms.shield.profile.": "aidos shield explain",
    "aidos.rooms.shield.": "aidos mediate assign",
}
"""Commands of the mechanisms that do not publish, by where they stand; the narrower place comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One release, as its maker wants it."""

    mechanism: str = "steered-counts"
    """A name from the catalogue."""
    items: tuple[str, ...] = ("queries",)
    """Kinds of items of a search log; empty for another table."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Of the mechanism."""
    shares: tuple[float, ...] = ()
    """Of the budget, one for each kind; equal when empty."""
    person: str = ""
    """For tables that are no search logs: the column that says whose row it is."""
    columns: tuple[str, ...] = ()
    """For such tables: the columns that make one item."""
    largest_set: int = 1
    """For such tables: publish sets of up to so many items."""
    results: str = ""
    """For click counts: the file of the public list of results."""

    def build(self) -> LogRelease | TableRelease | WholeLog:
        """The mechanism that the recipe describes."""
        mechanism = build_mechanism(self.mechanism, self.parameters)
        if isinstance(mechanism, WHOLE_LOG_MECHANISMS):
            return WholeLog(mechanism=mechanism, results=Path(self.results) if self.results else None)
        if self.person:
            columns, largest = self.columns, self.largest_set
            return TableRelease(mechanism=mechanism, person=self.person, columns=columns, largest_set=largest)
        return LogRelease(mechanism=mechanism, kinds=self.items, shares=self.shares)

    def complete(self) -> Recipe:
        """The same recipe with every parameter of the mechanism written out, also those at their defaults."""
        mechanism = build_mechanism(self.mechanism, self.parameters)
        values = {each.name: getattr(mechanism, each.name) for each in fields(cast("DataclassInstance", mechanism))}
        written = {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}
        return replace(self, parameters={name: value for name, value in written.items() if value is not None})

    def to_toml(self) -> str:
        """The recipe as a file; what is at its default stays out."""
        default = Recipe()
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "parameters"}
        lines = [
            f"{name} = {json.dumps(value)}"
            for name, value in kept.items()
            if value != getattr(default, name) or name in {"mechanism", "items"}
        ]
        lines += ["", "[parameters]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in self.parameters.items() if value is not None]
        return "\n".join(lines) + "\n"


def build_mechanism(name: str, parameters: Mapping[str, object]) -> HistogramMechanism | WholeLogMechanism:
    """A mechanism that publishes, with these parameters; ParameterError names everything that is wrong."""
    kind = find_mechanism(name)
    if kind is LogRelease:
        hint = "name the mechanism of the parts, and the kinds of items: --items queries,clicks"
        raise ParameterError("log-release is what several kinds of items make", hint=hint)
    place = (BUILT_IN | SETTINGS).get(name, "")
    if command := next((command for start, command in ELSEWHERE.items() if place.startswith(start)), ""):
        raise ParameterError(f"{name} publishes nothing", hint=f"see: {command} --help")
    return cast("HistogramMechanism | WholeLogMechanism", fill_parameters(name, kind, parameters))


def fill_parameters(name: str, kind: type[Any], parameters: Mapping[str, object]) -> Any:
    """A mechanism of that kind; ParameterError names everything that is wrong."""
    known = {field.name for field in fields(kind)}
    problems = [f"{unknown}: no such parameter" for unknown in sorted(set(parameters) - known)]
    given = {key: value for key, value in parameters.items() if key in known}
    made = None
    try:
        made = TypeAdapter(kind).validate_python(given)
    except ValidationError as error:
        problems += [f"{'.'.join(map(str, each['loc']))}: {each['msg'].lower()}" for each in error.errors()]
    if problems or made is None:
        raise ParameterError(f"{name}: " + "; ".join(problems), hint=f"it takes {', '.join(sorted(known))}")
    return made


LARGEST = 1 << 20
"""Bytes of a recipe."""


def parse_recipe(text: str) -> Recipe:
    """The recipe that a text describes; errors of TOML and of validation are the caller's to put into words."""
    content = parse_toml(text)
    if unknown := sorted(set(content) - {field.name for field in fields(Recipe)}):
        raise InputError(f"a recipe has no {', '.join(unknown)}", hint="parameters stand under [parameters]")
    return TypeAdapter(Recipe).validate_python(content)


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file."""
    try:
        return parse_recipe(read_text(path, most=LARGEST, hint="name the recipe's file"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}", hint="see `aidos publish --help`") from error
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg'].lower()}" for each in error.errors())
        raise InputError(f"{path}: {words}", hint="the recipe of a release stands in its MANIFEST.json") from error
