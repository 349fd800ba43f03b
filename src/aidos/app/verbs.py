"""Verbs: jobs as functions of Python, ``aidos.rerank(table, quality_floor=0.9)``.

A verb takes what its job takes, each parameter by its own name, also those of the mechanism inside. Data may be files
or tables. The types an editor shows stand in ``aidos/__init__.pyi``, which is written from the same jobs
(``tools/stubs.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields
from typing import Any, get_origin, get_type_hints

from aidos.app.registry import VERBS, find_job
from aidos.errors import ParameterError
from aidos.jobs.answer import Answer
from aidos.jobs.asking import ask_job
from aidos.jobs.desk import Desk
from aidos.jobs.inputs import as_files

__all__ = ["job_of", "make_verb"]


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
        with ExitStack() as stack:
            values = dict(zip(wanted, given, strict=True))
            if wanted:
                files = stack.enter_context(as_files(given[0]))
                values[wanted[0]] = files if get_origin(get_type_hints(job)[wanted[0]]) is tuple else files[0]
            question = ask_job(job, {**values, **parameters}, called=f"aidos.{verb}")
            answer: Answer = question.run(desk or Desk())
            return answer

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = job.__doc__
    return ask
