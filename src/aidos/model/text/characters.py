"""Which characters make words, and how they are lower-cased: one at a time, without context.

Letters (Unicode categories L*) and numbers (N*) make words; combining marks (M*) go on with a word but do not begin
one. The apostrophe, straight or curly, belongs to a word when a letter stands on both sides, and is written straight.
Case is changed character by character: ``İ`` becomes ``i``, and the final sigma is written like every other sigma, so
that a Greek word in capitals is the same term as in small letters.

The tables say the same for compiled code. They follow the version of Unicode that Python brings along.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["APOSTROPHE", "LETTER", "MARK", "NUMBER", "OTHER", "kind_of", "lower", "tables"]

OTHER, LETTER, NUMBER, MARK, APOSTROPHE = range(5)
KINDS = {"L": LETTER, "N": NUMBER, "M": MARK}
APOSTROPHES = "'\u2019"
FINAL_SIGMA, SIGMA = "ςσ"
CODE_POINTS = 0x110000


def kind_of(character: str) -> int:
    """What a character is to a word."""
    if character in APOSTROPHES:
        return APOSTROPHE
    return KINDS.get(unicodedata.category(character)[0], OTHER)


def lower(character: str) -> str:
    """The small letter of one character: always one character."""
    if character in APOSTROPHES:
        return "'"
    small = character.lower()[0]
    return SIGMA if small == FINAL_SIGMA else small


@cache
def tables() -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Kind and small letter of every code point."""
    everything = list(map(chr, range(CODE_POINTS)))
    kinds = np.fromiter((KINDS.get(name[0], OTHER) for name in map(unicodedata.category, everything)), dtype=np.uint8)
    small = np.arange(CODE_POINTS, dtype=np.int32)
    for point in np.flatnonzero((kinds == LETTER) | (kinds == NUMBER) | (kinds == MARK)).tolist():
        small[point] = ord(lower(everything[point]))
    for character in APOSTROPHES:
        kinds[ord(character)] = APOSTROPHE
        small[ord(character)] = ord("'")
    return kinds, small
