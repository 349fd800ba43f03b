"""Parameter limits, declared once on the field and enforced wherever the value is made; parameters written as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types as at

from aidos.errors import ParameterError, WrongParameter

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_parameters", "did_you_mean", "read_parameters", "shown", "wrong_kind"]

KINDS: dict[object, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((Integral,), "a whole number"),
    float: ((Real,), "a number"),
    str: ((str,), "a text"),
    Path: ((str, PathLike), "a path"),
    NoneType: ((NoneType,), "None"),
}
"""What a value of each type may be, and what people call it. NumPy's numbers are numbers."""


MOST_BITS = 1023
"""Of a number that a float can hold."""


def check_parameters(spec: DataclassInstance) -> None:
    """Raise one ParameterError that names every field out of its limits; NaN and infinity are always out."""
    hints = get_type_hints(type(spec), include_extras=True)
    values = {field.name: getattr(spec, field.name) for field in fields(spec)}
    broken = [WrongParameter(*words, name) for name, value in values.items() for words in _broken(value, hints[name])]
    if broken:
        raise ParameterError(f"{type(spec).__name__}: " + "; ".join(map(str, broken)), parameters=broken)


def read_parameters(
    name: str, known: Sequence[str], parts: Sequence[str], settle: Callable[[str, str], object]
) -> dict[str, Any]:
    """Parameters of what is called ``name``, each written as ``key=value``; ``settle`` makes a value of the text."""
    found: dict[str, object] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not known:
            raise ParameterError(f"{name} takes no parameters", hint=f"write {name}")
        if not equals:
            raise ParameterError(f"{name}: a parameter is written name=value", hint=f"it has {', '.join(known)}")
        if key not in known:
            raise ParameterError(f"{name} has no parameter {key!r}", hint=did_you_mean(key, known))
        if key in found:
            raise ParameterError(f"{name}: {key} is given twice", hint="give it once")
        found[key] = settle(key, value)
    return found


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint for whoever mistyped a name: the nearest one, and all that there are."""
    close = get_close_matches(word, known, n=1)
    return (f"did you mean {close[0]}? " if close else "") + f"there are {', '.join(known)}"


def wrong_kind(value: object, hint: object) -> str:
    """What a parameter with this type must be, when the value is none; types without a name for people pass."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return wrong_kind(value, parts[0])
    if origin in {Union, UnionType}:
        wrong = [wrong_kind(value, part) for part in parts]
        return " or ".join(words for words in wrong if words != "None") if all(wrong) else ""
    if origin is tuple and parts[1:] == (Ellipsis,):
        if not isinstance(value, list | tuple):
            return "a list"
        return next((f"a list, each {words}" for each in value if (words := wrong_kind(each, parts[0]))), "")
    allowed, words = KINDS.get(hint, ((), "")) if isinstance(hint, type) else ((), "")
    if not allowed or (isinstance(value, allowed) and (hint is bool or not isinstance(value, bool))):
        return ""
    return words


def _broken(value: object, hint: object) -> list[tuple[str, str]]:
    """What stands before the name of a parameter, and what behind it, for each thing that is wrong."""
    if words := wrong_kind(value, hint):
        return [("", f"must be {words}, got {shown(value)}")]
    listed = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    kinds = get_args(listed)
    if isinstance(value, tuple) and get_origin(listed) is tuple and kinds[1:] == (Ellipsis,):
        return [(f"each of {before}", behind) for item in value for before, behind in _broken(item, kinds[0])]
    if isinstance(value, float) and not isfinite(value):
        return [("", f"must be finite, got {value!r}")]
    if _too_long(value) and not wrong_kind(0.5, hint):
        return [("", f"must be at most 1e308, got {shown(value)}")]
    told = shown(value) if _too_long(value) else repr(value)
    asked = (_words_if_broken(limit, value) for limit in _limits(hint))
    return [("", f"must be {words}, got {told}") for words in asked if words]


def shown(value: object) -> str:
    """A value of the wrong kind: a text as it was written, of anything else only what it is."""
    if _too_long(value):
        return "a number that is far too long"
    return repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


def _too_long(value: object) -> bool:
    """Whether a whole number is beyond what floats hold: no arithmetic takes it, and nobody reads its digits."""
    return isinstance(value, int) and value.bit_length() > MOST_BITS


def _limits(hint: object) -> tuple[object, ...]:
    """What is declared beside a type, also where it may be None; the choices of a Literal are a limit too."""
    if get_origin(hint) is Literal:
        return (hint,)
    halves = [half for half in get_args(hint) if half is not type(None)]
    if get_origin(hint) in {Union, UnionType} and len(halves) == 1:
        return _limits(halves[0])
    return tuple(getattr(hint, "__metadata__", ()))


def _words_if_broken(limit: object, value: object) -> str:
    """What the limit asks for, when the value does not keep it; None stands for "not given" and keeps every limit."""
    if value is None:
        return ""
    if get_origin(limit) is Literal:
        return "" if value in get_args(limit) else f"one of {', '.join(map(str, get_args(limit)))}"
    match limit:
        case at.Gt(gt=bound) if not value > bound:  # type: ignore[operator]
            return f"greater than {bound}"
        case at.Ge(ge=bound) if not value >= bound:  # type: ignore[operator]
            return f"at least {bound}"
        case at.Lt(lt=bound) if not value < bound:  # type: ignore[operator]
            return f"less than {bound}"
        case at.Le(le=bound) if not value <= bound:  # type: ignore[operator]
            return f"at most {bound}"
        case _:
            return ""
