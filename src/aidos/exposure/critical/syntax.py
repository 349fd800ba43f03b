"""How a post is written: signs of emotion and of content that its author may not want to be found by.

The thesis' seven marks (section 5.4), each true or false for a post. They are found by patterns over the text, so they
see what stands there and not what is meant: "XIII" has a vowel three times in a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["ADDRESSES", "MARKS", "MENTIONS", "syntactic_marks"]

ADDRESSES = r"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"]+"
"""Addresses on the web as people write them; for compiled code (RE2)."""
MENTIONS = r"(^|[^\pL\pN_@.])@[\pL\pN_]+"
"""A name after an at sign, but no e-mail address. The first group is what stands before."""

APART = r"(?:^|[^\pL\pN_])"
"""What an emoticon does not follow: a letter or a number, as in 10:30."""
FACES = (
    r"[<>]?[:;=][-o'^*]{0,2}[)(\]\[DPpOo/\\|3*$@]+",
    r"\([-'^]?[:;=]",
    r"[xX]D+",
    r"\^[_.-]?\^",
    r"[oO][_.][oO]",
    r"-[_.]-",
    r"<3+",
    r"\\o/",
)
PICTURES = r"[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]"

MARKS: Mapping[str, str] = MappingProxyType(
    {
        "has_url": ADDRESSES,
        "has_at_mention": MENTIONS,
        "has_hashtag": r"(?:^|[^\pL\pN_#&/])#[\pN_]*\pL",
        "has_emoticon": rf"{APART}(?:{'|'.join(FACES)})(?:$|[^\pL\pN_])|{PICTURES}",
        "has_repeated_punctuation": r"(?:!!|\?\?|\.\.\.|\x{2026})(?:\s|$)",
        "has_repeated_vowels": r"(?i)aaa|eee|iii|ooo|uuu",
        "has_laughter": r"(?i)haha|hehe|hihi|hoho|huhu",
    }
)
"""What is looked for, by the name of the mark. A hashtag has a letter; a token ends where a blank follows."""


def syntactic_marks(texts: pa.LargeStringArray) -> NDArray[np.bool_]:
    """Which marks each text has: a row a text, a column a mark, in the order of `MARKS`."""
    without = pc.replace_substring_regex(texts, ADDRESSES, " ")
    # An address may end in dots that trail off; what else stands in it was not written by the author.
    whole = {"has_url", "has_repeated_punctuation"}
    columns = [_has(texts if name in whole else without, pattern) for name, pattern in MARKS.items()]
    return np.stack(columns, axis=1)


def _has(texts: pa.LargeStringArray, pattern: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(np.bool_)
    return found
