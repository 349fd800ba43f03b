"""Verbs: jobs as functions of Python, ``aidos.rerank(table, quality_floor=0.9)``.

A verb takes what its job takes, each parameter by its own name, also those of the mechanism inside. Data may be files
or tables. The types an editor shows stand in ``aidos/__init__.pyi``, which is written from the same jobs
(``tools/stubs.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_type_hints

from aidos.app.registry import VERBS, find_job
from aidos.core.checks import wrong_kind
from aidos.errors import ParameterError
from aidos.jobs.answer import Answer
from aidos.jobs.desk import Desk
from aidos.jobs.inputs import as_files

__all__ = ["job_of", "make_verb", "parameters_of"]


def job_of(verb: str) -> type[Any]:
    """The job that a verb asks."""
    return find_job(VERBS[verb])


def make_verb(verb: str) -> Callable[..., Answer]:
    """The function of that name."""
    job = job_of(verb)
    wanted = [each.name for each in fields(job) if not each.kw_only]

    def ask(*given: Any, desk: Desk | None = None, **parameters: Any) -> Answer:
        if len(given) != len(wanted):
            named = ", ".join(wanted) or "parameters by name alone"
            raise ParameterError(f"aidos.{verb} takes {named}", hint=f"see: help(aidos.{verb})")
        _refuse_unknown(verb, job, parameters)
        with ExitStack() as stack:
            values = dict(zip(wanted, given, strict=True))
            if wanted:
                files = stack.enter_context(as_files(given[0]))
                values[wanted[0]] = files if get_type_hints(job)[wanted[0]] == tuple[str, ...] else files[0]
            answer: Answer = _fill(job, {**values, **parameters}).run(desk or Desk())
            return answer

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = job.__doc__
    return ask


def parameters_of(job: type) -> Iterator[tuple[str, Any, Any]]:
    """Every parameter of a job with its type and default, those of the dataclasses inside it in their place."""
    hints = get_type_hints(job)
    for each in fields(job):
        nested = _nested(hints[each.name])
        if nested is not None:
            yield from parameters_of(nested)
        else:
            yield each.name, hints[each.name], each.default


def _fill(kind: type, given: Mapping[str, Any]) -> Any:
    """A dataclass with these parameters, and what is inside it; an inner one that may be missing is, if none is its."""
    hints = get_type_hints(kind)
    made: dict[str, Any] = {}
    for each in fields(kind):
        if each.name in given:
            made[each.name] = _settled(each.name, given[each.name], hints[each.name])
        elif (inner := _nested(hints[each.name])) is not None:
            own = {name: given[name] for name, _, _ in parameters_of(inner) if name in given}
            if own:
                made[each.name] = _fill(inner, own)
    return kind(**made)


def _settled(name: str, value: Any, hint: Any) -> Any:
    """A value as its job declares it: a text may be a path, and a list a tuple."""
    if words := wrong_kind(value, hint):
        remedy = f"write {name}=[{value!r}]" if words == "a list" and isinstance(value, str) else f"give {words}"
        raise ParameterError(f"{name} must be {words}, got a {type(value).__name__}", hint=remedy)
    if isinstance(value, list):
        return tuple(value)
    return Path(value) if isinstance(value, str) and Path in (hint, *get_args(hint)) else value


def _nested(hint: Any) -> type | None:
    return next((part for part in (hint, *get_args(hint)) if is_dataclass(part) and isinstance(part, type)), None)


def _refuse_unknown(verb: str, job: type, given: Mapping[str, Any]) -> None:
    known = [name for name, _, _ in parameters_of(job)] + [each.name for each in fields(job)]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known)}"
            raise ParameterError(f"aidos.{verb} has no parameter {name}", hint=hint)
