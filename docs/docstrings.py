"""Docstrings are written for people who read code; a few of their habits need help to become a page."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tidy_docstring"]

EXAMPLES = "Examples:"
TREE = ("├", "└", "│")


def tidy_docstring(
    _app: object, what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Set drawn trees and examples of commands as they stand; Sphinx wants the list changed in place."""
    if what in {"function", "module"}:
        lines[:] = _with_literal_trees(_with_literal_examples(lines))


def _with_literal_trees(lines: Sequence[str]) -> list[str]:
    """A block that holds the branches of a drawn tree is shown as typed."""
    tidied: list[str] = []
    for block in _blocks(lines):
        if any(line.startswith(TREE) for line in block):
            tidied += [".. code-block:: text", "", *(f"   {line}" for line in block), ""]
        else:
            tidied += [*block, ""]
    return tidied


def _with_literal_examples(lines: Sequence[str]) -> list[str]:
    """The indented lines below ``Examples:`` are commands."""
    tidied: list[str] = []
    inside = False
    for line in lines:
        if line.strip() == EXAMPLES:
            inside = True
            tidied += [EXAMPLES, "", ".. code-block:: console", ""]
            continue
        inside = inside and (not line or line.startswith(" "))
        tidied.append(line)
    return tidied


def _blocks(lines: Sequence[str]) -> list[list[str]]:
    """Lines between empty ones."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]
