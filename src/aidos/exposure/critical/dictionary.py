"""Which words are words of a language: what tells a query that means something from noise.

The default knows English as far as aidos does: the words of the Empath lexicon, of the default taxonomy (typical words,
names and descriptions of its topics) and the stop words, some ten thousand, each with everything that has the same
stem. It is no full dictionary: slang and rare words are missing, and since a query is kept when any of its words is
known, that rarely matters. A community of another language brings its own list, one word a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError
from aidos.exposure.critical.categories import Lexicon
from aidos.model.text.analyser import Analyser
from aidos.model.text.stemming import stem_words
from aidos.model.text.stopwords import ENGLISH
from aidos.model.topics import default_taxonomy

__all__ = ["Dictionary"]


class Dictionary:
    """A set of words, and of all words with the same stem where a stemmer is given; it does not change once made."""

    def __init__(self, words: Iterable[str], *, stemmer: str = "") -> None:
        self.words = frozenset(word.lower() for word in words)
        self.stemmer = stemmer
        self._stems = frozenset(self._stemmed(sorted(self.words)))
        self._accepted: dict[Analyser, frozenset[str]] = {}

    @staticmethod
    def default() -> Dictionary:
        """English, as far as aidos knows it; made once."""
        return _english()

    @classmethod
    def read(cls, path: Path) -> Dictionary:
        """A list of words: a text file in UTF-8, one word a line. It takes the place of the default."""
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError as error:
            raise InputError(f"{path}: there is no such file", hint="give a text file with one word a line") from error
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: it cannot be read as text", hint="give a text file in UTF-8") from error
        words = [line.strip() for line in lines if line.strip()]
        if not words:
            raise InputError(f"{path}: it holds no word", hint="give a text file with one word a line")
        if phrases := [number for number, line in enumerate(lines, start=1) if len(line.split()) > 1]:
            raise InputError(f"{path}, line {phrases[0]}: more than one word", hint="write one word a line")
        return cls(words)

    def known(self, terms: Sequence[str], analyser: Analyser) -> NDArray[np.bool_]:
        """Whether each term of an analyser is, or comes from, a word of the dictionary."""
        if analyser not in self._accepted:
            self._accepted[analyser] = self.words | {term for term in analyser.meanings(sorted(self.words)) if term}
        accepted = self._accepted[analyser]
        plainly = [term in accepted for term in terms]
        by_stem = [stem in self._stems for stem in self._stemmed(list(terms))] if self.stemmer else plainly
        return np.array(plainly, dtype=np.bool_) | np.array(by_stem, dtype=np.bool_)

    def _stemmed(self, words: list[str]) -> list[str]:
        return stem_words(self.stemmer)(words) if self.stemmer else words


@cache
def _english() -> Dictionary:
    analyser = Analyser()
    texts = (f"{topic.name} {topic.description} {' '.join(topic.words)}" for topic in default_taxonomy().walk())
    words = {term for text in texts for term in analyser.terms(text)}
    return Dictionary(words | Lexicon.default().words | ENGLISH, stemmer="english")
