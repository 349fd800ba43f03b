"""Cells as files write them, turned into ids and numbers in bulk.

What is no number becomes one that the checks refuse, so that good rankings pay for no closer look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aidos.ingest.formats.fields import UnreadableError, decimal, text
from aidos.ingest.rankings.rows import Floats

__all__ = ["ids_of", "labels_of", "numbers_of_texts", "numbers_of_values"]

NUMBERS = ({int}, {float}, {int, float})


def ids_of(values: Sequence[object]) -> Sequence[str]:
    """Ids as texts: numbers are written out, and what can be no id is empty."""
    if set(map(type, values)) == {str}:
        return values  # type: ignore[return-value]
    return [text(value) or "" for value in values]


def labels_of(values: Sequence[object]) -> Sequence[str]:
    """Groups or actors as texts; () when nobody has one."""
    return ids_of(values) if any(values) else ()


def numbers_of_texts(cells: Sequence[str], *, otherwise: float = math.nan) -> Floats:
    """Numbers written out; not a number where the cell is blank, ``otherwise`` where it holds something else."""
    written = "".join(cells)
    if written.isascii() and "_" not in written:  # Python reads 1_000 as a number, and digits of every script
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    return np.array([_number(cell.strip(), otherwise) for cell in cells], dtype=np.float64)


def numbers_of_values(values: Sequence[object], *, otherwise: float = math.nan) -> Floats:
    """Numbers of JSON; not a number where there is null, ``otherwise`` where there is something else."""
    if set(map(type, values)) in NUMBERS:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # a whole number of hundreds of digits
            pass
    return np.array([_value(value, otherwise) for value in values], dtype=np.float64)


def _number(cell: str, otherwise: float) -> float:
    if not cell:
        return math.nan
    try:
        return decimal(cell, "")
    except UnreadableError:
        plain = cell.lower().lstrip("+-")
        return math.inf if plain in {"inf", "infinity"} else otherwise


def _value(value: object, otherwise: float) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return otherwise
    try:
        return float(value)
    except OverflowError:
        return math.inf
