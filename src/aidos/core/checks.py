"""Parameter limits, declared once on the field and enforced wherever the value is made."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from types import UnionType
from typing import TYPE_CHECKING, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types as at

from aidos.errors import ParameterError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["check_parameters"]


def check_parameters(spec: DataclassInstance) -> None:
    """Raise one ParameterError that names every field out of its limits; NaN and infinity are always out."""
    hints = get_type_hints(type(spec), include_extras=True)
    values = {field.name: getattr(spec, field.name) for field in fields(spec)}
    problems = [words for name, value in values.items() for words in _broken(name, value, hints[name])]
    if problems:
        raise ParameterError(f"{type(spec).__name__}: " + "; ".join(problems))


def _broken(name: str, value: object, hint: object) -> list[str]:
    kinds = get_args(hint)
    if isinstance(value, tuple) and get_origin(hint) is tuple and kinds[1:] == (Ellipsis,):
        return [words for item in value for words in _broken(f"each of {name}", item, kinds[0])]
    if isinstance(value, float) and not isfinite(value):
        return [f"{name} must be finite, got {value!r}"]
    asked = (_words_if_broken(limit, value) for limit in _limits(hint))
    return [f"{name} must be {words}, got {value!r}" for words in asked if words]


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
