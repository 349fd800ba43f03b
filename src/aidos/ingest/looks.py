"""What a column looks like, as far as the first rows tell: advice for the owner, never a decision.

A column that is the same in every row cannot say who somebody is, nor can one that differs in every row, nor one that
holds texts. Names alone do not tell: ``ecs.version`` is spelled much like ``person``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from aidos.ingest.timestamps import parse_time, suggest_time_format

__all__ = ["ROWS_LOOKED_AT", "Look", "look_at"]

ROWS_LOOKED_AT = 2000
"""How many first rows advice is made from."""
TIMES_LOOKED_AT = 50
FEW = 0.1
"""The share of cells that may be otherwise: a few texts make a column of texts, a few oddities are no times."""
NEARLY_ALL = 0.98
FEWEST_PEOPLE, MANY_CELLS = 5, 50
"""Where so many rows know fewer people, they are services or roles."""
WORDS_OF_TEXT = 3
LONG = 40
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
NAME = re.compile(r"[\w.:@/+=-]+", re.ASCII)
"""How keys, hashes and addresses are written, however long they are."""
ADDRESS = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
EPOCHS = tuple((6e8 * unit, 4e9 * unit) for unit in (1, 1e3, 1e6))
"""Numbers that are times of computers: from 1989 to 2096 in seconds, milliseconds and microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the cells of one column have in common; blank cells do not count."""

    cells: int
    different: int
    """How many different ones there are."""
    is_text: bool
    """Whether people wrote it: several words, or mark-up."""
    is_time: bool
    is_whole: bool
    """Whole numbers throughout."""
    is_address: bool

    @property
    def is_constant(self) -> bool:
        """Whether all rows say the same, or nothing."""
        return self.different < 2

    @property
    def is_unique(self) -> bool:
        """Whether (nearly) every row says something else."""
        return self.different > NEARLY_ALL * self.cells

    def no_person(self) -> str:
        """Why the column cannot say whose row it is; empty when it may."""
        if self.is_constant:
            return "says the same in every row"
        if self.is_unique:
            return "says something else in every row"
        if self.different < FEWEST_PEOPLE and self.cells >= MANY_CELLS:
            return f"says one of only {self.different} things"
        if self.is_text:
            return "holds text"
        return "holds addresses" if self.is_address else ""


def look_at(names: Sequence[str], rows: Iterable[Sequence[str]]) -> dict[str, Look]:
    """The look of every column, by name; rows of another length are left out."""
    fitting = list(islice((row for row in rows if len(row) == len(names)), ROWS_LOOKED_AT))
    return {name: _look([row[place] for row in fitting]) for place, name in enumerate(names)}


def _look(column: Sequence[str]) -> Look:
    cells = [cell.strip() for cell in column if cell.strip()]
    return Look(
        cells=len(cells),
        different=len(set(cells)),
        is_text=_many(map(_is_text, cells), cells),
        is_time=_is_time(cells[:TIMES_LOOKED_AT]),
        is_whole=bool(cells) and all(cell.isdecimal() for cell in cells),
        is_address=_many((ADDRESS.match(cell) is not None for cell in cells), cells),
    )


def _many(found: Iterable[bool], cells: Sequence[str]) -> bool:
    return sum(found) > FEW * len(cells)


def _is_text(cell: str) -> bool:
    return (
        len(cell.split(maxsplit=WORDS_OF_TEXT - 1)) == WORDS_OF_TEXT
        or "<" in cell
        or (len(cell) > LONG and NAME.fullmatch(cell) is None)
    )


def _is_time(cells: Sequence[str]) -> bool:
    if not cells:
        return False
    return not _many((not _is_moment(cell) for cell in cells), cells) or suggest_time_format(cells) != ""


def _is_moment(cell: str) -> bool:
    if NUMBER.fullmatch(cell):
        return any(low < float(cell) < high for low, high in EPOCHS)
    return parse_time(cell) is not None
