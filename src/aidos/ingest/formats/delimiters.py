"""Which character stands between the columns of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aidos.errors import Problem
from aidos.ingest.formats.layout import split_lines
from aidos.ingest.problems import describe

__all__ = ["choose_delimiter", "describe_delimiter", "in_words", "is_quoted", "suggest_delimiter"]

USUAL = "\t,;|"
UNUSUAL = "^~\x01\x1f#!"
"""Delimiters that are suggested but never assumed: plain text has them too."""
LINES_LOOKED_AT = 50
AGREEMENT = 0.9
"""The share of rows that must have the same number of columns."""
MAJORITY = 0.5
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}
ESCAPES = {"\t": "'\\t'", "\x01": "$'\\x01'", "\x1f": "$'\\x1f'"}


def choose_delimiter(lines: Sequence[str], candidates: str = USUAL) -> str:
    """The delimiter that most lines agree on, empty when there is none; of several, the one that gives most columns."""
    looked_at = [line for line in lines if line][:LINES_LOOKED_AT]
    best, best_key = "", (0.0, 0)
    for delimiter in candidates:
        key = _fit(looked_at, delimiter)
        if key > best_key:
            best, best_key = delimiter, key
    return best


def suggest_delimiter(lines: Sequence[str], wrong: str) -> str:
    """A delimiter that fits better than ``wrong``, usual or not; empty when there is none."""
    return choose_delimiter(lines, USUAL.replace(wrong, "")) or choose_delimiter(lines, UNUSUAL.replace(wrong, ""))


def is_quoted(lines: Sequence[str], delimiter: str) -> bool:
    """Whether double quotes enclose values.

    In a tab-separated file they are taken for what somebody typed (a phrase to be searched for as it stands), unless
    the first line has them too, or the rows agree on their number of columns only when quotes are heeded.
    """
    if delimiter != "\t":
        return True
    looked_at = [line for line in lines if line][:LINES_LOOKED_AT]
    if not any('"' in line for line in looked_at):
        return False
    as_typed, heeded = (_agreement(split_lines(looked_at, delimiter, quoted=quoted)) for quoted in (False, True))
    return heeded > as_typed or any(cell.startswith('"') for cell in looked_at[0].split(delimiter))


def in_words(delimiter: str) -> str:
    """What people call it."""
    return NAMES.get(delimiter, f"the character {delimiter!r}")


def describe_delimiter(file: str, found: str, better: str) -> Problem:
    """The problem that columns are separated by something better than what was expected."""
    argument = ESCAPES.get(better, f"'{better}'")
    return describe("wrong-delimiter", file, lines=(1,), found=found, better=in_words(better), delimiter=argument)


def _fit(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """How many rows agree on a number of columns, and on which; a bare majority must have the first row with it."""
    best = (0.0, 0)
    for quoted in (False, True):
        rows = split_lines(lines, delimiter, quoted=quoted)
        share, width = _agreement(rows)
        if width > 1 and (share >= AGREEMENT or (share > MAJORITY and len(rows[0]) == width)):
            best = max(best, (share, width))
    return best


def _agreement(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """The share of rows that have the most usual number of columns, and that number."""
    widths = Counter(map(len, rows)).most_common(1)
    return (widths[0][1] / len(rows), widths[0][0]) if widths else (0.0, 0)
