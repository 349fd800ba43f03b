"""Which list of a pair: said by a column, an option, or the name of a file or of the directory it lies in."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from aidos.core.resultpairs import Side

__all__ = ["is_documents", "side_of_path", "side_of_word"]

WORDS: dict[str, Side] = {
    "again": "again",
    "vanilla2": "again",
    "vanilla-again": "again",
    "second-vanilla": "again",
    "vanilla": "vanilla",
    "personalised": "personalised",
    "personalized": "personalised",
}
"""In the order of search: a file called vanilla-again is the second vanilla fetch."""
DOCUMENTS = frozenset({"documents", "docs"})
PART = re.compile(r"[^a-z0-9]+")


@lru_cache(maxsize=256)
def side_of_word(word: str) -> Side | None:
    """The side that a cell or a tag names; None where it names none."""
    return WORDS.get(PART.sub("-", word.strip().lower()).strip("-"))


def side_of_path(path: Path, root: Path | None = None) -> Side | None:
    """The side that the file's name says, or else a directory between ``root`` (or its parent) and it, the nearest."""
    above = path.relative_to(root).parts[:-1] if root is not None else path.parts[-2:-1]
    for part in (path.name, *reversed(above)):
        named = PART.split(part.lower())
        found = next((side for word, side in WORDS.items() if word in named), None)
        if found is not None:
            return found
    return None


def is_documents(path: Path) -> bool:
    """Whether the file's name says that it holds the texts of the documents that runs name."""
    return not DOCUMENTS.isdisjoint(PART.split(path.name.lower()))
