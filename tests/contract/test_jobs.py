"""One contract for every job: declared once, understood from its declaration alone, the same on every surface."""

import ast
import dataclasses
import importlib
import inspect
import itertools
import textwrap
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from annotated_types import Ge, Gt, Le, Lt

from aidos.jobs.answer import Answer, Finding, Release
from aidos.jobs.asking import bare
from aidos.rooms.publish.catalogue import find_mechanism, mechanism_names
from aidos.surfaces.cli import grow
from aidos.surfaces.registry import VERBS
from aidos.surfaces.verbs import ANY, job_of


def commands(known, words=()):
    for name in known:
        if not name.startswith("-"):
            line, parts = (*words, name), [part for part in known[name] if not part.startswith("-")]
            yield from commands(known[name], line) if parts else [(" ".join(line), known[name].default_command)]


JOBS = {line: function.job for line, function in commands(grow()) if hasattr(function, "job") and line != "run"}


@pytest.fixture(params=JOBS)
def line(request):
    return request.param


@pytest.fixture
def job(line):
    return JOBS[line]


def with_nested(kind):
    yield kind
    for hint in get_type_hints(kind).values():
        for part in (hint, *get_args(hint)):
            if dataclasses.is_dataclass(part):
                yield from with_nested(part)


def documented(kind):
    """The fields of a class, those it inherits too, that have a docstring under them."""
    for each in kind.__mro__[:-1]:
        yield from declared(each)


def declared(kind):
    """The fields that a class itself declares with a docstring."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body
    for field, below in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield field.target.id, below.value.value


def test_there_are_jobs_and_every_verb_is_one():
    assert len(JOBS) >= 6
    assert {job_of(verb) for verb, words in VERBS.items() if not words.endswith(ANY)} <= set(JOBS.values())


def test_a_job_is_a_frozen_value(job):
    for kind in with_nested(job):
        assert kind.__dataclass_params__.frozen, kind


def test_its_docstring_has_an_example_of_its_command(line, job):
    assert f"aidos {line}" in job.__doc__.partition("For example:")[2]


def test_every_parameter_is_explained_once_and_no_default_is_typed_by_hand(job):
    for kind in with_nested(job):
        told = dict(documented(kind))
        hints = get_type_hints(kind)
        silent = [
            each.name
            for each in dataclasses.fields(kind)
            if each.name not in told
            and not any(dataclasses.is_dataclass(part) for part in (hints[each.name], *get_args(hints[each.name])))
        ]
        assert silent == [], kind
        assert [name for name, words in told.items() if "unless given" in words] == [], kind


TWICE = {
    ("delta", "Chance that the promise fails."): "Zealous promises it; the study of mechanisms compares at it",
}
"""Options that may be declared twice, and why."""


def plans():
    """What the studies try: most of it is options of their jobs."""
    for study in ("audit", "risk", "ups", "utility"):
        module = importlib.import_module(f"aidos.studies.{study}.plan")
        yield from (kind for kind in vars(module).values() if dataclasses.is_dataclass(kind) and isinstance(kind, type))


def test_no_option_is_declared_twice():
    """Jobs that share an option, by its name, type and words, inherit it, for example from `aidos.jobs.options`."""
    asked = itertools.chain.from_iterable(map(with_nested, JOBS.values()))
    named = itertools.chain(asked, map(find_mechanism, mechanism_names()), plans())
    kinds = dict.fromkeys(each for kind in named for each in kind.__mro__[:-1] if dataclasses.is_dataclass(each))
    places = {}
    for kind in kinds:
        hints = get_type_hints(kind, include_extras=True)
        for name, words in declared(kind):
            option = (name, str(bare(hints[name])), " ".join(words.split()))
            places.setdefault(option, []).append(f"{kind.__module__}.{kind.__qualname__}")
    found = {(name, words): classes for (name, _, words), classes in places.items() if len(classes) > 1}
    assert {option: classes for option, classes in found.items() if option not in TWICE} == {}
    assert TWICE.keys() <= found.keys(), "permitted, but declared once"


CHECK_THEMSELVES = {"World.size", "World.topics"}
"""Whole numbers whose limits the class itself tells: a size may be a word, topics are as many as the taxonomy has."""


def whole_numbers(hint, marks=()):
    """The limits of every whole number that a parameter is, or holds."""
    if get_origin(hint) is Annotated:
        yield from whole_numbers(get_args(hint)[0], hint.__metadata__)
    elif hint is int:
        yield marks
    elif get_origin(hint) is not Literal:
        alone = get_origin(hint) in {Union, UnionType}
        yield from itertools.chain.from_iterable(whole_numbers(part, marks * alone) for part in get_args(hint))


def test_every_whole_number_has_limits():
    asked = itertools.chain.from_iterable(map(with_nested, JOBS.values()))
    unlimited = {
        f"{kind.__name__}.{each.name}"
        for kind in {*asked, *map(find_mechanism, mechanism_names())}
        for each in dataclasses.fields(kind)
        for marks in whole_numbers(get_type_hints(kind, include_extras=True)[each.name])
        if not any(isinstance(mark, Le | Lt) for mark in marks) or not any(isinstance(mark, Ge | Gt) for mark in marks)
    }
    assert unlimited == CHECK_THEMSELVES


def test_its_answer_is_a_release_or_a_finding_and_nothing_else(job):
    answer = get_type_hints(job.run)["return"]
    assert issubclass(answer, Answer)
    assert issubclass(answer, Release) != issubclass(answer, Finding)
    assert "__repr__" not in vars(answer), "an answer prints in one line: dataclass(repr=False)"
