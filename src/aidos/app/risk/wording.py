"""Words as people write them: an analyser cuts words to their stems, and nobody reads stems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable

from aidos.model.text.analyser import Analyser

__all__ = ["counted", "written_forms"]


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


def counted(number: int, one: str, many: str) -> str:
    """A number and its noun: 1 entry, 2 entries."""
    return f"{number:,} {one if number == 1 else many}"
