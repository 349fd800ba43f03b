"""Recipes for every job: a file that says what is asked, and a description of what may be asked.

A recipe is TOML: ``job`` names the job, every other line one of its parameters, by the name it has in Python. Paths are
those of the directory in which the recipe is run, as on the command line.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aidos.core.checks import did_you_mean
from aidos.core.jsontext import parse_toml
from aidos.engine.inputs import read_text
from aidos.errors import InputError, ParameterError
from aidos.jobs.answer import Answer, Finding
from aidos.jobs.asking import Asked, answer_of, ask_job, json_schema, parameters_of
from aidos.jobs.desk import Desk
from aidos.jobs.extras import checked
from aidos.jobs.job import RequiredInTerminal
from aidos.surfaces.registry import find_job, places

if TYPE_CHECKING:
    from aidos.report.page import Block

__all__ = ["DescribeJob", "DescribedJob", "RunRecipe", "read_job", "recipe_text"]

LARGEST = 1 << 20
"""Bytes of a recipe."""
ITSELF = ("run", "describe")


@dataclass(frozen=True, slots=True)
class RunRecipe:
    """Ask a job whose name and parameters stand in a file.

    The answer is the one that the job's command gives. `aidos describe` writes
    a recipe to begin with.

    For example:
        aidos describe fair rerank > recipe.toml
        aidos run recipe.toml
        aidos run recipe.toml --json
    """

    recipe: Path
    """The file: TOML, with job = "fair rerank" and the parameters of that job."""
    _: KW_ONLY

    def run(self, desk: Desk) -> Answer:
        """The answer of the job."""
        words, given = read_job(self.recipe)
        job = find_job(words)
        for each in parameters_of(job):
            if _must_say_where(each) and each.name not in given:
                hint = f'add a line: {each.name} = "FILE"'
                raise ParameterError(f"{self.recipe} does not say where to write", hint=hint)
        try:
            question = ask_job(job, given, called=f"{self.recipe}: {words}")
        except ParameterError as error:
            # By the names that the recipe has for them, not by those of options.
            wrong = "; ".join(map(str, error.parameters))
            raise ParameterError(f"{self.recipe}: {wrong}" if wrong else error.message, hint=error.hint) from error
        return checked(words, answer_of)(question, desk)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DescribedJob(Finding):
    """What a job takes: a recipe for people, a JSON schema for machines."""

    about: str = "nobody"
    words: str
    job: type[Any]

    def facts(self) -> Mapping[str, object]:
        """The JSON schema of the parameters."""
        return {"job": self.words, **json_schema(self.job)}

    def blocks(self) -> Sequence[Block]:
        """The recipe with all defaults."""
        from aidos.report.page import Code

        return (Code(text=recipe_text(self.words, self.job), language="recipe"),)


@dataclass(frozen=True, slots=True)
class DescribeJob:
    """Tell what a job takes: a recipe with every parameter, or with --json the schema of its parameters.

    For example:
        aidos describe fair rerank > recipe.toml
        aidos describe fair rerank --json
    """

    words: tuple[str, ...]
    """The words of the job, as on the command line: fair rerank."""
    _: KW_ONLY

    def run(self, desk: Desk) -> DescribedJob:  # noqa: ARG002  # every job is asked at a desk
        """The job of these words, described."""
        words = _known(" ".join(self.words))
        return DescribedJob(words=words, job=find_job(words))


def recipe_text(words: str, job: type) -> str:
    """A recipe to begin with: what must be given is open, the rest stands at its default."""
    lines = [f"# {inspect.cleandoc(job.__doc__ or '').partition(chr(10))[0]}", f"job = {json.dumps(words)}"]
    for each in parameters_of(job):
        lines += ["", f"# {each.help}"]
        if each.required:
            lines.append(f"# {each.name} =          (must be given)")
        elif each.default in (None, (), ""):
            lines.append(f"# {each.name} =")
        else:
            lines.append(f"{each.name} = {json.dumps(each.default, default=_plain)}")
    return "\n".join(lines)


def _must_say_where(asked: Asked) -> bool:
    return any(isinstance(mark, RequiredInTerminal) for mark in getattr(asked.kind, "__metadata__", ()))


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple | set | frozenset) else str(value)


def read_job(path: Path) -> tuple[str, Mapping[str, Any]]:
    """The words of a recipe's job, and its parameters."""
    try:
        content = dict(parse_toml(read_text(path, most=LARGEST, hint="name the recipe's file")))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}", hint="see: aidos describe --help") from error
    words = content.pop("job", None)
    if not isinstance(words, str):
        hint = "a recipe of a release is read by: aidos publish --recipe" if "mechanism" in content else ""
        raise InputError(f"{path} names no job", hint=hint or 'add a line: job = "fair rerank"')
    return _known(words), content


def _known(words: str) -> str:
    askable = [each for each in places() if each not in ITSELF]
    if words not in askable:
        raise ParameterError(f"there is no job called {words!r}", hint=did_you_mean(words, askable))
    return words
