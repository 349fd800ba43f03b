"""Docstrings are written for people who read code; a few of their habits need help to become a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["tidy_docstring"]

EXAMPLES = ("For example:", "Examples:")
PARAMETERS = ["Parameters", "----------"]
TREE = ("├", "└", "│")
BARS = re.compile(r"\|(\w(?:[^|`]*[\w)])?)\|")
"""An absolute value such as |X| or |A - B|, which would be taken for a substitution."""


def tidy_docstring(_app: object, what: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """Show trees, examples and |x| as typed, and parameters of commands as fields; the list is changed in place."""
    lines[:] = [BARS.sub(r"\|\1\|", line) for line in lines]
    if what in {"function", "module"}:
        lines[:] = [line for block in _blocks(lines) for line in (*_tidied(block), "")]


def _tidied(block: list[str]) -> list[str]:
    if any(line.startswith(TREE) for line in block):
        return [".. code-block:: text", "", *(f"   {line}" for line in block)]
    if block[0].strip() in EXAMPLES:
        return [block[0], "", ".. code-block:: text", "", *block[1:]]
    if block[:2] == PARAMETERS:
        return [line if line.startswith(" ") else f":param {line}:" for line in block[2:]]
    return block


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Lines between empty ones."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]
