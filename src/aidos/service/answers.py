"""Reading the JSON of a search service strictly: what does not have the agreed shape is said, not guessed.

Messages name the place within the answer ("hits.hits[3]._id"), never its content.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from aidos.core.jsontext import parse_json

__all__ = ["ShapeError", "need_list", "need_object", "need_text", "parse_object", "read_number", "read_text"]


class ShapeError(Exception):
    """An answer does not have the agreed shape; the message says where."""


def parse_object(content: bytes) -> dict[str, Any]:
    """The object that a JSON text holds; ValueError when it is no JSON, ShapeError when it is no object."""
    return need_object(parse_json(content, parse_constant=_refuse), "the answer")


def need_object(value: object, where: str) -> dict[str, Any]:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise ShapeError(f"{where} is no object")
    return value


def need_list(value: object, where: str) -> list[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        raise ShapeError(f"{where} is no list")
    return value


def need_text(value: object, where: str) -> str:
    """The value, which must be a text that is not empty, or a whole number (some engines have such ids)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ShapeError(f"{where} is no text")
    return value


def read_text(source: Mapping[str, Any], key: str) -> str:
    """A text that may be missing; of a field with several values, the first."""
    value = source.get(key)
    if isinstance(value, list):
        value = value[0] if value else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ShapeError(f"{key} is no text")
    return value


def read_number(source: Mapping[str, Any], key: str) -> float | None:
    """A number that may be missing."""
    value = source.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ShapeError(f"{key} is no number")
    return float(value)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
