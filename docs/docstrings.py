"""Docstrings are written for people who read code; a few of their habits need help to become a page."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence

__all__ = ["skip_foreign", "tidy_docstring"]

EXAMPLES = ("For example:", "Examples:")
PARAMETERS = ["Parameters", "----------"]
TREE = ("├", "└", "│")
INDENT = "    "
BARS = re.compile(r"\|(\w(?:[^|`]*[\w)])?)\|")
"""An absolute value such as |X| or |A - B|, which would be taken for a substitution."""


def tidy_docstring(_app: object, what: str, _name: str, _value: object, _options: object, lines: list[str]) -> None:
    """Show trees, tables, examples and |x| as typed, parameters of commands as fields; the list is changed in place."""
    blocks = _blocks(lines)
    if what not in {"function", "module"} and not any(block[0].strip() in EXAMPLES for block in blocks):
        lines[:] = _without_bars(lines)
        return
    ends = ["", *(block[-1] for block in blocks)]
    tidied = [_tidied(block, before) for block, before in zip(blocks, ends, strict=False)]
    lines[:] = [line for block in tidied for line in (*block, "")]


def _tidied(block: list[str], before: str) -> list[str]:
    """A block as a page needs it; ``before`` is the line that comes before it."""
    if all(line.startswith(INDENT) for line in block):
        # Formulas and tables in columns; after two colons they are shown as typed anyway.
        return block if before.endswith("::") else [".. code-block:: text", "", *block]
    if any(line.startswith(TREE) for line in block):
        return [".. code-block:: text", "", *(f"   {line}" for line in block)]
    if block[0].strip() in EXAMPLES:
        return [block[0], "", ".. code-block:: text", "", *block[1:]]
    lines = _without_bars(block)
    if lines[:2] == PARAMETERS:
        return [line if line.startswith(" ") else f":param {line}:" for line in lines[2:]]
    return lines


def _without_bars(lines: Sequence[str]) -> list[str]:
    return [BARS.sub(r"\|\1\|", line) for line in lines]


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Lines between empty ones."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def skip_foreign(
    _app: object,
    what: str,
    _name: str,
    found: object,
    skip: bool,  # noqa: FBT001 - the same
    _options: object,
) -> bool:
    """Leave out functions and classes of other packages that a module passes on: their own pages describe them."""
    if (inspect.isroutine(found) or inspect.isclass(found)) and what == "module":
        return skip or not str(getattr(found, "__module__", "")).startswith("aidos")
    return skip
