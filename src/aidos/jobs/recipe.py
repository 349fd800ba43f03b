"""A recipe: a mechanism or a job's parameters written down, so that they can be kept and run again. It is TOML.

Every parameter from outside (a file, an option) passes here and is refused with all problems at once. A recipe holds no
seed and no data: running it again draws new noise. What becomes of it is for the job to say that takes it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError

__all__ = ["Recipe", "fill_parameters", "name_of", "parse_recipe", "read_recipe"]

Kind = TypeVar("Kind")
LARGEST = 1 << 20
"""Bytes of a recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is asked, in a file; all but mechanism and parameters is for releases."""

    mechanism: str = "steered-counts"
    """What is wanted, by name: a mechanism, or the parameters of another job."""
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


def name_of(kind: type) -> str:
    """What recipes call a class: ``CountGaussian`` is ``count-gaussian``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


def fill_parameters(name: str, kind: type[Kind], parameters: Mapping[str, object]) -> Kind:
    """A value of that kind; ParameterError names everything that is wrong."""
    from pydantic import TypeAdapter, ValidationError

    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
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


def parse_recipe(text: str) -> Recipe:
    """The recipe that a text describes; errors of TOML and of validation are the caller's to put into words."""
    from pydantic import TypeAdapter

    content: dict[str, Any] = parse_toml(text)
    if unknown := sorted(set(content) - {field.name for field in fields(Recipe)}):
        raise InputError(f"a recipe has no {', '.join(unknown)}", hint="parameters stand under [parameters]")
    return TypeAdapter(Recipe).validate_python(content)


def read_recipe(path: Path) -> Recipe:
    """The recipe in a file."""
    from pydantic import ValidationError

    try:
        return parse_recipe(read_text(path, most=LARGEST, hint="name the recipe's file"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}", hint="see `aidos publish --help`") from error
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg'].lower()}" for each in error.errors())
        raise InputError(f"{path}: {words}", hint="the recipe of a release stands in its MANIFEST.json") from error
