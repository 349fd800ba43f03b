"""A question made of plain values: what Python's verbs, recipes and, later, requests and forms have in common.

A job's parameters are named flatly, those of the dataclasses inside it too: whoever asks need not know where a
parameter stands. Everything that is wrong with the values is told at once, by the names that were used.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
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
from aidos.errors import ParameterError, WrongParameter
from aidos.jobs.answer import Answer
from aidos.jobs.desk import Desk
from aidos.jobs.job import Commas

__all__ = [
    "Asked",
    "answer_of",
    "ask_job",
    "bare",
    "json_schema",
    "made_of",
    "nested",
    "parameters_of",
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
