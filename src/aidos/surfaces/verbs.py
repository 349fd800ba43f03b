"""Verbs: jobs as functions of Python, ``aidos.rerank(table, quality_floor=0.9)``.

A verb takes what its job takes, each parameter by its own name, also those of the mechanism inside. Data may be files,
tables, or what `aidos.read` gave. What is wrong with data is told in Python's words: ``skip_bad_rows=True``. The types
an editor shows stand in ``aidos/__init__.pyi``, which is written from the same jobs (``tools/stubs.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import MISSING, fields
from typing import Any, Literal, get_origin, get_type_hints

from aidos.core.checks import did_you_mean
from aidos.errors import ParameterError
from aidos.jobs.answer import Answer
from aidos.jobs.asking import answer_of, ask_job, bare, parameters_of
from aidos.jobs.calling import told_in_python
from aidos.jobs.desk import Desk
from aidos.jobs.extras import checked
from aidos.jobs.inputs import Data, Lasting, as_files, how_read
from aidos.surfaces.registry import GROUPS, VERBS, find_job, jobs_of

__all__ = ["ANY", "any_help", "job_of", "make_verb"]

ANY = " *"
"""Ends the words of a verb that asks any job of a group, or any at all; the first thing it takes says which."""
ANY_JOB = """Ask any job by the words of its command.

        For example:
            aidos.ask("shield profile build", ["bookmarks.html", "notes/"], output="profile.json")
            aidos.ask("fair measure", "served.jsonl").to_pandas()
        """


def job_of(verb: str) -> type[Any]:
    """The job that a verb asks."""
    return find_job(VERBS[verb])


def make_verb(verb: str) -> Callable[..., Answer]:
    """The function of that name."""
    words = VERBS[verb]
    if words.endswith(ANY):
        return _any_of(words.removesuffix(ANY), verb)
    return _asker(words, f"aidos.{verb}", verb)


def any_help(group: str) -> str:
    """What a verb that asks any job of a group is for."""
    return GROUPS[group].help if group else ANY_JOB


def _any_of(group: str, verb: str) -> Callable[..., Answer]:
    """A verb that asks the jobs of a group by name: ``aidos.study("mediator")``."""
    names = jobs_of(group)

    def ask(name: str = "", /, *given: Any, desk: Desk | None = None, **parameters: Any) -> Answer:
        if name not in names:
            wrong = f"knows no {name!r}" if name else "needs the name of what is asked"
            raise ParameterError(f"aidos.{verb} {wrong}", hint=did_you_mean(str(name), names))
        return _asker(f"{group} {name}".strip(), f"aidos.{verb}({name!r})", verb)(*given, desk=desk, **parameters)

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = f"{any_help(group).strip()}\n\n        The first argument names one of {', '.join(names)}.\n        "
    return ask


def _asker(words: str, called: str, verb: str) -> Callable[..., Answer]:
    job = find_job(words)
    wanted = [each.name for each in fields(job) if not each.kw_only]
    least = [each.name for each in fields(job) if not each.kw_only and each.default is MISSING]

    def ask(*given: Any, desk: Desk | None = None, **parameters: Any) -> Answer:
        values = {**parameters, **dict(zip(wanted, given, strict=False))}
        if len(values) < len(parameters) + len(given) or not values.keys() >= set(least):
            named = ", ".join(wanted) or "parameters by name alone"
            raise ParameterError(f"{called} takes {named}", hint=f"see: help(aidos.{verb})")
        if not isinstance(desk, Desk | None):
            raise ParameterError(f"desk cannot be a {type(desk).__name__}", hint="give an aidos.jobs.desk.Desk")
        with ExitStack() as stack:
            first = get_origin(bare(get_type_hints(job)[wanted[0]])) if wanted else None
            data = values[wanted[0]] if wanted and first is not Literal and wanted[0] in values else None
            if data is not None or (values.keys() & {*least} and first is tuple):
                files = stack.enter_context(as_files(data))
                own = {wanted[0]: files if first is tuple else files[0]}
                values = {**_as_read_before(called, job, data), **values, **own}
            with told_in_python(job, see=f"help(aidos.{verb})"):
                question = ask_job(job, values, called=called)
                answer = checked(words, answer_of)(question, desk or Desk())
            if isinstance(answer, Lasting):
                answer.holds.push(stack.pop_all())
            return answer

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "aidos"
    ask.__doc__ = job.__doc__
    return ask


def _as_read_before(called: str, job: type, data: Data) -> dict[str, Any]:
    """The options by which the data were read before; a job that has no such option would read something else."""
    known = [each.name for each in parameters_of(job)]
    options = how_read(data)
    if lacking := [name for name in options if name not in known]:
        raise ParameterError(
            f"{called} has no parameter {lacking[0]}, by which the data were read", hint="give it the files instead"
        )
    return options
