"""Texts for people to read: the words that count marked, what is far from them left out, words and no stems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from aidos.model.text.analyser import Analyser

__all__ = ["excerpt", "written_forms"]

AROUND = 90
"""Characters that are shown on either side of a marked word."""
WHOLE = 420
"""Posts up to so many characters are shown whole."""
GAP = " \u2026 "


def excerpt(text: str, analyser: Analyser, terms: Collection[str]) -> tuple[tuple[str, bool], ...]:
    """The text in pieces, each with whether it is one of the terms."""
    marked = [(token.start, token.end) for token in analyser.tokens(text) if token.term in terms]
    shown = [(0, len(text))] if len(text) <= WHOLE else _windows(text, marked)
    pieces: list[tuple[str, bool]] = []
    for begin, end in shown:
        if begin > 0:
            pieces.append((GAP, False))
        here = begin
        for start, stop in marked:
            if begin <= start and stop <= end:
                pieces += [(text[here:start], False), (text[start:stop], True)]
                here = stop
        pieces.append((text[here:end], False))
    if shown[-1][1] < len(text):
        pieces.append((GAP, False))
    return tuple((piece, mark) for piece, mark in pieces if piece)


def written_forms(texts: Iterable[str], analyser: Analyser, terms: Collection[str]) -> dict[str, str]:
    """For each term the word of the texts that most often stands for it; a term of no text stays as it is."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for token in analyser.tokens(text):
            if token.term in terms:
                found[token.term][text[token.start : token.end].lower()] += 1
    # Of words as common as each other the one that comes first in the alphabet, so that pages repeat.
    common = {term: min(forms, key=lambda form: (-forms[form], form)) for term, forms in found.items()}
    return {term: common.get(term, term) for term in terms}


def _windows(text: str, marked: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches of the text around marked words, cut at blanks; its beginning where nothing is marked."""
    found: list[tuple[int, int]] = []
    for start, stop in marked or [(0, 0)]:
        begin, end = max(0, start - AROUND), min(len(text), stop + AROUND)
        begin = text.find(" ", begin, start) + 1 or begin if begin else 0
        cut = text.rfind(" ", stop, end)
        end = cut if cut > stop and end < len(text) else end
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found[:3]
