"""The extras: what each brings, and which command needs which, known before the command works.

A command that lacks packages is refused at once, with one hint that names all extras it lacks. The library below says
what is missing only when it gets there. A test compares these tables with what the code imports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from aidos.errors import MissingExtraError

__all__ = ["EXTRAS", "NEEDS", "NEEDS_BY_OPTION", "Extra", "checked", "missing", "needs"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Extra(NamedTuple):
    """What an extra is for, and its packages by the names they are imported by."""

    purpose: str
    packages: tuple[str, ...]


EXTRAS: Mapping[str, Extra] = {
    "audit": Extra("aidos audit, aidos evaluate audit", ("numba", "scipy", "Stemmer", "tomotopy")),
    "collect": Extra("aidos audit collect", ("playwright",)),
    "exposure": Extra("aidos expose, aidos evaluate exposure", ("empath", "numba", "scipy", "sklearn", "Stemmer")),
    "fairness": Extra("aidos fair, aidos rank", ("highspy", "ir_measures", "numba", "scipy")),
    "ir-datasets": Extra("logs named ir_datasets:ID", ("ir_datasets",)),
    "lambdarank": Extra("aidos expose train --learner lambdarank", ("lightgbm",)),
    "pyterrier": Extra("the re-ranker as a step of a PyTerrier pipeline", ("pyterrier",)),
    "report": Extra("charts in pages; without it pages have tables", ("vl_convert",)),
    "risk": Extra("aidos risk, aidos evaluate risk", ("gensim", "numba", "scipy", "Stemmer", "tomotopy")),
    "search": Extra(
        "aidos shield, aidos mediate, aidos taxonomy find, every other aidos evaluate", ("numba", "Stemmer")
    ),
    "services": Extra("search services over HTTP, PostgreSQL", ("httpx", "psycopg")),
    "studies": Extra("aidos evaluate, each beside the extra above that names it", ("ir_measures", "scipy")),
    "taxonomies": Extra("aidos taxonomy import icd-10-cm", ("simple_icd_10_cm",)),
}

NEEDS: Mapping[str, tuple[str, ...]] = {
    "audit": ("audit",),
    "audit bookmarklet": (),
    "audit collect": ("collect",),
    "evaluate": ("search", "studies"),
    "evaluate audit": ("audit", "studies"),
    "evaluate exposure": ("exposure", "studies"),
    "evaluate risk": ("risk", "studies"),
    "expose": ("exposure",),
    "fair measure": ("fairness",),
    "fair rerank": ("fairness",),
    "fair simulate": ("fairness",),
    "mediate": ("search",),
    "rank": ("fairness",),
    "risk": ("risk",),
    "shield": ("search",),
    "shield rules": (),
    "taxonomy find": ("search",),
}
"""The extras of a command, or of all commands that begin so; the longest line counts, and who has none needs none."""

NEEDS_BY_OPTION: Mapping[tuple[str, str, object], str] = {
    ("expose train", "learner", "lambdarank"): "lambdarank",
    ("taxonomy import", "index", True): "search",
    ("taxonomy import", "source", "icd-10-cm"): "taxonomies",
}
"""What a command needs besides where an argument, by its name in Python, has that value."""


def needs(command: str, given: Mapping[str, object] | None = None) -> frozenset[str]:
    """The extras that a command needs, given its arguments by name."""
    words = command.split()
    lines = (" ".join(words[:length]) for length in range(len(words), 0, -1))
    always = next((NEEDS[line] for line in lines if line in NEEDS), ())
    given = given or {}
    asked = [
        extra for (line, name, value), extra in NEEDS_BY_OPTION.items() if line == command and given.get(name) == value
    ]
    return frozenset((*always, *asked, *_by_source(given.values())))


def missing(extras: Iterable[str]) -> list[str]:
    """Those of the extras that are not wholly installed, sorted."""
    return sorted(extra for extra in set(extras) if not all(map(find_spec, EXTRAS[extra].packages)))


def checked(command: str, function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function of a command, refused before it works where packages for it are missing."""

    @wraps(function)
    def run(*arguments: Given.args, **options: Given.kwargs) -> Result:
        needed = needs(command, dict(_flat(signature(function).bind(*arguments, **options).arguments)))
        if lacking := missing(needed):
            raise MissingExtraError(command, extra=",".join(lacking))
        try:
            return function(*arguments, **options)
        except MissingExtraError as error:
            # A package that is there and cannot be imported: what several extras bring is named by those asked for.
            brought = {package for extra in needed for package in EXTRAS[extra].packages}
            if error.extra in needed or not brought.issuperset(EXTRAS[error.extra].packages):
                raise
            raise MissingExtraError(command, extra=",".join(sorted(needed))) from error

    return run


def _flat(given: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Arguments by name, with those of a job, or of options that belong together, in its place."""
    for name, value in given.items():
        if is_dataclass(value):
            yield from _flat({each.name: getattr(value, each.name) for each in fields(value)})
        else:
            yield name, value


def _by_source(given: Iterable[object]) -> Iterator[str]:
    """Wherever a file may be named, the name may stand for a package that has the data."""
    for value in given:
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, str | Path) and str(each).startswith("ir_datasets:"):
                yield "ir-datasets"
            if each == Path("icd-10-cm"):
                yield "taxonomies"
