"""A question made of plain values: what Python's verbs, recipes and, later, requests and forms have in common.

A job's parameters are named flatly, those of the dataclasses inside it too: whoever asks need not know where a
parameter stands. Everything that is wrong with the values is told at once, by the names that were used.

A job as Python calls it, by a verb or by a method of an answer: what is wrong is told in Python's words. Jobs, readers
and mechanisms tell what to do with the options of the command line. Here these become parameters.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import pairwise
from os import PathLike
from pathlib import Path
from textwrap import dedent
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from aidos.core.checks import check_parameters, did_you_mean, wrong_kind
from aidos.engine.inputs import refuse_special
from aidos.errors import AidosError, InputError, ParameterError, WrongParameter
from aidos.jobs.answer import Answer
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas, Named

__all__ = [
    "Asked",
    "answer_of",
    "ask_job",
    "bare",
    "call_job",
    "json_schema",
    "made_of",
    "nested",
    "parameters_of",
    "told_in_python",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A parameter of a job, as every surface shows it."""

    name: str
    kind: Any
    """Its type, with its limits beside it."""
    default: Any
    """Or ``MISSING``."""
    help: str
    first: bool = False
    """Named without an option, as the first thing one says."""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


def parameters_of(job: type) -> Iterator[Asked]:
    """Every parameter of a job, those of the dataclasses inside it in their place."""
    hints = get_type_hints(job, include_extras=True)
    told = _explained(job)
    for each in fields(job):
        inner = nested(hints[each.name])
        if inner is not None:
            yield from (replace(one, first=False) for one in parameters_of(inner))
        else:
            factory = each.default_factory
            yield Asked(
                name=each.name,
                kind=hints[each.name],
                default=each.default if factory is MISSING else factory(),
                help=told.get(each.name, ""),
                first=not each.kw_only,
            )


def ask_job(job: type, given: Mapping[str, Any], *, called: str) -> Any:
    """The question: a job with these parameters. ``called`` is what the surface calls it."""
    known = list(dict.fromkeys([each.name for each in parameters_of(job)] + [each.name for each in fields(job)]))
    for name in given:
        if name not in known:
            raise ParameterError(f"{called} has no parameter {name}", hint=did_you_mean(name, known))
    lacking = [each.name for each in parameters_of(job) if each.required and each.name not in given]
    if lacking:
        raise ParameterError(f"{called} needs {', '.join(lacking)}", hint=f"it takes {', '.join(known)}")
    try:
        return _filled(job, given)
    except ParameterError as error:
        if error.hint:
            raise
        # Whoever asks knows the parameters, not the class inside the job that has them.
        message = "; ".join(map(str, error.parameters)) or error.message
        raise ParameterError(message, hint=f"{called} takes {', '.join(known)}", parameters=error.parameters) from error


def answer_of(question: Any, desk: Desk) -> Answer:
    """The answer to a question."""
    answer: Answer = question.run(desk)
    return answer


def json_schema(job: type) -> dict[str, Any]:
    """The parameters of a job as a JSON schema, with their limits, defaults and meaning."""
    from pydantic import TypeAdapter

    properties: dict[str, Any] = {}
    for each in parameters_of(job):
        shape = TypeAdapter(each.kind).json_schema()
        default = {} if each.required else {"default": TypeAdapter(each.kind).dump_python(each.default, mode="json")}
        properties[each.name] = {**shape, **default, "description": each.help}
    return {
        "title": job.__name__,
        "description": inspect.cleandoc(job.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": [each.name for each in parameters_of(job) if each.required],
        "additionalProperties": False,
    }


def nested(hint: Any) -> type | None:
    """The dataclass that a parameter is, or may be."""
    kind = bare(hint)
    return next((part for part in (kind, *get_args(kind)) if is_dataclass(part) and isinstance(part, type)), None)


def bare(hint: Any) -> Any:
    """A type without what stands beside it: limits are checked, in the house's words, when the job is made."""
    if get_origin(hint) is Annotated:
        return bare(get_args(hint)[0])
    if get_origin(hint) in {Union, UnionType}:
        return Union[tuple(map(bare, get_args(hint)))]  # noqa: UP007 (made at run time)
    return hint


def made_of(kind: type, given: Mapping[str, Any]) -> Any:
    """A value of a dataclass, with the limits of its fields checked whether or not it does so itself."""
    value = kind(**given)
    check_parameters(value)
    return value


def _filled(kind: type, given: Mapping[str, Any]) -> Any:
    """A dataclass with these parameters, and what is inside it; an inner one that may be missing is, if none is its."""
    hints = get_type_hints(kind, include_extras=True)
    made: dict[str, Any] = {}
    wrong: list[ParameterError] = []
    for each in fields(kind):
        inner = nested(hints[each.name])
        try:
            if each.name in given:
                value = given[each.name]
                as_table = inner is not None and isinstance(value, Mapping)
                made[each.name] = _filled(inner, value) if as_table else _settled(each.name, value, hints[each.name])  # type: ignore[arg-type]
            elif inner is not None:
                own = {one.name: given[one.name] for one in parameters_of(inner) if one.name in given}
                if own:
                    made[each.name] = _filled(inner, own)
        except ParameterError as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        broken = [one for error in wrong for one in error.parameters]
        raise ParameterError("; ".join(map(str, broken or wrong)), hint=wrong[0].hint, parameters=broken)
    return made_of(kind, made)


def _settled(name: str, value: Any, hint: Any) -> Any:
    """A value as its job declares it: a text may be a path, or a list with commas between; a list is a tuple."""
    value = _plain(value)
    commas = any(isinstance(mark, Commas) for mark in getattr(hint, "__metadata__", ()))
    if commas and isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    hint = bare(hint)
    if words := wrong_kind(value, hint):
        remedy = f"write {name}=[{value!r}]" if words == "a list" and isinstance(value, str) else f"give {words}"
        problem = WrongParameter("", f"must be {words}, got a {type(value).__name__}", name)
        raise ParameterError(str(problem), hint=remedy, parameters=[problem])
    if isinstance(value, list | tuple):
        paths = hint == tuple[Path, ...]
        return tuple(_path(each) if paths and isinstance(each, str | PathLike) else each for each in value)
    return _path(value) if isinstance(value, str | PathLike) and Path in (hint, *get_args(hint)) else value


def _path(given: Any) -> Path:
    """A path that leads to no pipe and no device: reading may block, and writing would replace it."""
    path = Path(given)
    refuse_special(path)
    return path


def _plain(value: Any) -> Any:
    """Numbers, truths and arrays of NumPy and columns of pandas as Python's own."""
    if isinstance(value, list | tuple):
        return type(value)([_plain(each) for each in value])
    return value.tolist() if hasattr(value, "tolist") else value


@cache
def _explained(kind: type) -> Mapping[str, str]:
    """The docstrings under the fields of a dataclass, and of those it inherits from."""
    told: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if not is_dataclass(each):
            continue
        body = ast.parse(dedent(inspect.getsource(each))).body[0]
        for field, below in pairwise(getattr(body, "body", [])):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    told[name] = " ".join(words.split())
    return told


OPTION = re.compile(r"--([a-z][a-z-]*)(?: (?:\$?'([^']*)'|([^\s,;:)-][^\s,;)]*)))?")
"""An option in a sentence, and the value behind it."""

NAMED = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
"""The name of an option in a sentence."""
Kinds = Mapping[str, tuple[str, Any]]
"""Parameters and their types, by what the command line calls them."""


def call_job(job: type, given: Mapping[str, Any], *, called: str, desk: Desk | None = None) -> Any:
    """The answer of a job to these parameters; ``called`` is the method that asks it."""
    with told_in_python(job, see=f"help({called})"):
        return ask_job(job, given, called=called).run(desk or Desk())


@contextmanager
def told_in_python(job: type, *, see: str) -> Iterator[None]:
    """Errors name parameters in place of options, ``column=["client_id=visitor"]``, and say what to do or ``see``."""
    kinds = {name: (each.name, bare(each.kind)) for each in parameters_of(job) for name in _names(each)}

    def told(words: str) -> str:
        return OPTION.sub(lambda found: _parameter(found, kinds), words)

    try:
        yield
    except AidosError as error:
        error.hint = told(error.hint) or f"see: {see}"
        error.message = NAMED.sub(lambda found: _named(found, kinds), error.message)
        error.args = (error.message,)
        if isinstance(error, InputError):
            error.problems = tuple(
                replace(each, remedy=told(each.remedy), option=told(each.option)) for each in error.problems
            )
        raise


def _names(asked: Asked) -> Iterator[str]:
    """What the command line calls a parameter, without hyphens before it."""
    yield asked.name
    for mark in getattr(asked.kind, "__metadata__", ()):
        if isinstance(mark, Named):
            yield mark.name.removeprefix("--").replace("-", "_")


def _named(found: re.Match[str], kinds: Kinds) -> str:
    """An option in what is wrong as the parameter it is, if the job has one."""
    return kinds.get(found[1].replace("-", "_"), (found[0],))[0]


def _parameter(found: re.Match[str], kinds: Kinds) -> str:
    """An option as a parameter of the job; as it stands where the job has none of that name."""
    said, value = found[1].replace("-", "_"), found[2] if found[2] is not None else found[3]
    positive = said.removeprefix("no_")
    if said not in kinds and positive not in kinds:
        return found[0]
    name, kind = kinds[said if said in kinds else positive]
    listed: Any = get_origin(kind)
    if bool in (kind, *get_args(kind)):
        switch = f"{name}={said in kinds}"
        return switch if value is None else f"{switch} {value}"
    if value is None:
        return name
    return f'{name}=["{value}"]' if listed is tuple else f'{name}="{value}"'
