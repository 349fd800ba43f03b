"""Verbs: jobs as functions of Python, ``aidos.rerank(table, quality_floor=0.9)``.

A verb takes what its job takes, each parameter by its own name, also those of the mechanism inside. Data may be files
or tables. The types an editor shows stand in ``aidos/__init__.pyi``, which is written from the same jobs
(``tools/stubs.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import MISSING, fields
from typing import Any, get_origin, get_type_hints

from aidos.app.extras import checked
from aidos.app.registry import GROUPS, VERBS, find_job, parts_of
from aidos.core.checks import did_you_mean
from aidos.errors import ParameterError
from aidos.jobs.answer import Answer
from aidos.jobs.asking import answer_of, ask_job, bare
from aidos.jobs.desk import Desk
from aidos.jobs.inputs import as_files

__all__ = ["ANY", "job_of", "make_verb"]

ANY = " *"
"""Ends the words of a verb that asks any job of a group; the first thing it takes says which."""


def job_of(verb: str) -> type[Any]:
    """The job that a verb asks."""
    return find_job(VERBS[verb])


def make_verb(verb: str) -> Callable[..., Answer]:
    """The function of that name."""
    words = VERBS[verb]
    if words.endswith(ANY):
        return _any_of(words.removesuffix(ANY), verb)
    return _asker(words, f"aidos.{verb}", verb)


def _any_of(group: str, verb: str) -> Callable[..., Answer]:
    """A verb that asks the jobs of a group by name: ``aidos.study("mediator")``."""
    names = tuple(parts_of(group))

    def ask(name: str, /, *given: Any, desk: Desk | None = None, **parameters: Any) -> Answer:
        if name not in names:
            raise ParameterError(f"aidos.{verb} knows no {name!r}", hint=did_you_mean(str(name), names))
        return _asker(f"{group} {name}", f"aidos.{verb}({name!r})", verb)(*given, desk=desk, **parameters)

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = (
        f"{GROUPS[group].help.strip()}\n\n        The first argument names one of {', '.join(names)}.\n        "
    )
    return ask


def _asker(words: str, called: str, verb: str) -> Callable[..., Answer]:
    job = find_job(words)
    wanted = [each.name for each in fields(job) if not each.kw_only]
    least = [each.name for each in fields(job) if not each.kw_only and each.default is MISSING]

    def ask(*given: Any, desk: Desk | None = None, **parameters: Any) -> Answer:
        if not len(least) <= len(given) <= len(wanted):
            named = ", ".join(wanted) or "parameters by name alone"
            raise ParameterError(f"{called} takes {named}", hint=f"see: help(aidos.{verb})")
        with ExitStack() as stack:
            values = dict(zip(wanted, given, strict=False))
            if given:
                files = stack.enter_context(as_files(given[0]))
                several = get_origin(bare(get_type_hints(job)[wanted[0]])) is tuple
                values[wanted[0]] = files if several else files[0]
            question = ask_job(job, {**values, **parameters}, called=called)
            return checked(words, answer_of)(question, desk or Desk())

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = job.__doc__
    return ask
