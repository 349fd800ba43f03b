"""Rankings as files hold them: what a reader hands out, one ranking at a time, and what a writer takes.

Both are neutral: they know names and numbers, and nothing of who shares attention among the ranked.

Cells are turned into ids and numbers in bulk. What is no number becomes one that the checks refuse, so that good
rankings pay for no closer look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aidos.errors import ParameterError
from aidos.ingest.formats.fields import UnreadableError, decimal, text

__all__ = [
    "Floats",
    "Ints",
    "RankedRows",
    "RankingRows",
    "RawRanking",
    "ids_of",
    "labels_of",
    "numbers_of_texts",
    "numbers_of_values",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RankingRows:
    """One ranking as it was read, checked: ids that are not blank and differ, scores that can be relevance."""

    ranking_id: str
    query_id: str
    """Empty when the file names the ranking but not its query."""
    searcher_id: str
    """Empty when the file does not say who searched."""
    system: str
    """Empty when the file does not say which system ranked."""
    object_ids: tuple[str, ...]
    """Those ranked, in the order of the file."""
    scores: Floats = field(repr=False)
    """One per object: finite, not negative, not all 0."""
    positions: Ints | None = field(repr=False)
    """As written; None when the file has none for one of the objects."""
    groups: tuple[str, ...] = field(repr=False)
    """One per object, empty for who has none; () when nobody has one."""
    actors: tuple[str, ...] = field(repr=False)
    """One per object, empty for who has none; () when nobody has one."""
    place: str
    """Where it begins: "file, line 12" or "file, row 12"."""

    def __len__(self) -> int:
        return len(self.object_ids)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedRows:
    """One ranking as it is to be served, for a writer. Every sequence is in the order to be served."""

    ranking_id: str
    object_ids: Sequence[str]
    scores: Floats = field(repr=False)
    """The relevance of each object, as it was given."""
    original_positions: Ints = field(repr=False)
    """Where each object stood before, counted from 1."""
    attention: Floats = field(repr=False)
    """What the first positions receive; positions beyond receive 0."""
    quality: float = 1.0
    """How good the order is against the order by relevance."""
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""
    groups: Sequence[str] = ()
    """One per object, or none at all."""
    actors: Sequence[str] = ()
    """One per object, or none at all."""

    def __post_init__(self) -> None:
        number = len(self.object_ids)
        for name in ("scores", "original_positions"):
            if len(getattr(self, name)) != number:
                raise ParameterError(f"{number} objects but {len(getattr(self, name))} {name}")
        for name in ("groups", "actors"):
            if len(getattr(self, name)) not in {0, number}:
                raise ParameterError(f"{number} objects but {len(getattr(self, name))} {name}")
        if not number or len(self.attention) > number:
            raise ParameterError(f"attention for {len(self.attention)} positions but {number} objects")

    def __len__(self) -> int:
        return len(self.object_ids)

    def padded_attention(self) -> Floats:
        """What each object receives, those on the positions beyond included."""
        padded = np.zeros(len(self))
        padded[: len(self.attention)] = self.attention
        return padded


@dataclass(slots=True, kw_only=True)
class RawRanking:
    """The rows of one ranking, not yet checked."""

    ranking_id: str
    query_id: str = ""
    searcher_id: str = ""
    system: str = ""
    object_ids: Sequence[str]
    """Empty texts where the file has none."""
    scores: Floats
    """Not a number where the file has none, or something else."""
    positions: Floats | Ints | None = None
    """Whole numbers that were found in order already; or not a number where the file has none, infinite where it has
    something else."""
    groups: Sequence[str] = ()
    actors: Sequence[str] = ()
    lines: Sequence[int]
    """The line or row of each object; a single one where the whole ranking stands in one line."""
    sound: bool = False
    """Scores and positions were found in order already, those of many rankings at once."""
    spoiled: bool = False
    """A row that could not be read touches it: the trouble was told, and the ranking is not whole."""


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
