"""JSON and TOML that somebody else wrote, read so that every failure is the same failure.

The library's own readers fail in several ways: brackets that are nested a thousand times exhaust the stack, numbers of
thousands of digits are refused by another name, and bytes need not be text. Here all of that is a
`json.JSONDecodeError` or a `tomllib.TOMLDecodeError`, and both are ValueErrors. What does come back is nested so little
that code which walks over it, or writes it again, cannot exhaust the stack either; whole numbers of JSON fit into a
float.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

__all__ = ["DEEPEST", "parse_json", "parse_toml"]

DEEPEST = 200
"""How many objects and lists may stand within each other."""
MOST_DIGITS = 300
"""A float ends at 308."""
MOST_PARTS = 2_000_000
"""Objects and lists of a text: an empty one takes two letters there, and thirty times as much in memory."""
PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{PART}\.[ \t]*+){{{DEEPEST}}}", re.MULTILINE)
"""A key of TOML with more parts than may be nested: the library's reader takes the square of their number in memory."""


def parse_json(
    text: str | bytes,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """The value of a JSON text; JSONDecodeError when it is none, is no text, or holds what is too deep or too long.

    A hook may refuse what it is given with a ValueError.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text))
        parts = text.count("[") + text.count("{")
        if parts > MOST_PARTS:
            raise ValueError("too many parts")
        value = json.loads(
            text, object_pairs_hook=object_pairs_hook, parse_constant=parse_constant, parse_int=_whole_number
        )
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        # Not the text of the error: it may quote what was read.
        reason = "nested too deeply" if isinstance(error, RecursionError) else "not to be read"
        raise json.JSONDecodeError(reason, "", 0) from None
    # Most texts have too few brackets to be deep.
    if parts > DEEPEST and _is_deep(value):
        raise json.JSONDecodeError("nested too deeply", "", 0)
    return value


def parse_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text; TOMLDecodeError when it is none, or holds what is too deep or too long."""
    if LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError("it is nested too deeply")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except (RecursionError, ValueError):
        raise tomllib.TOMLDecodeError("it holds what is nested too deeply, or a number that is too long") from None
    if _is_deep(table):
        raise tomllib.TOMLDecodeError("it is nested too deeply")
    return table


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError("a number of too many digits")
    return int(digits)


def _is_deep(value: Any) -> bool:
    """Whether it is nested too deeply; level by level, since recursion is what is to be spared."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)
