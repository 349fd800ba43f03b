"""A job as Python calls it, by a verb or by a method of an answer: what is wrong is told in Python's words.

Jobs, readers and mechanisms tell what to do with the options of the command line. Here these become parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, get_args, get_origin

from aidos.errors import AidosError, InputError
from aidos.jobs.asking import Asked, ask_job, bare, parameters_of
from aidos.jobs.desk import Desk
from aidos.jobs.job import Named

__all__ = ["call_job", "told_in_python"]

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
