"""What counts as a word of a text: a value that prints, parses and means the same everywhere.

A term is a longest run of letters and numbers in lower case, with the marks that combine with them and with
apostrophes between letters ("don't" is one term, and the stemmer knows how to take the ``'s`` off "Anna's"); see
`characters`. Stop words and short words are then left out, and what remains is stemmed.

What it does not do: texts are not normalised, so that full-width letters, ligatures, or accents written as separate
marks make terms of their own (normalise to NFKC before, where that matters). Scripts without blanks between words are
not cut into words: a run of Chinese is one term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal, NamedTuple, get_args

from annotated_types import Ge

from aidos.core.checks import check_parameters
from aidos.errors import ParameterError
from aidos.model.text.characters import APOSTROPHE, LETTER, MARK, NUMBER, kind_of, lower
from aidos.model.text.stemming import check_language, stem_words
from aidos.model.text.stopwords import ENGLISH

__all__ = ["Analyser", "Token"]

StopWords = Literal["", "english"]
LISTS: dict[str, frozenset[str]] = {"": frozenset(), "english": ENGLISH}


class Token(NamedTuple):
    """A term and where its word stands: characters ``start`` to ``end`` (exclusive) of the text."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyser:
    """From texts to terms. Prints as ``words:stop_words=english,stemmer=english`` and parses from it."""

    stop_words: StopWords = ""
    """Which list of words to leave out; empty leaves none out."""
    stemmer: str = ""
    """The language of the Snowball stemmer, such as english; empty does not stem."""
    shortest: Annotated[int, Ge(1)] = 1
    """Words with fewer characters are left out (before stemming)."""

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.stemmer:
            check_language(self.stemmer)

    @classmethod
    def parse(cls, text: str) -> Analyser:
        """The analyser that prints so; only what differs from the defaults has to be said."""
        kind, _, rest = text.strip().partition(":")
        pairs = [part.strip().partition("=") for part in rest.split(",") if part.strip()]
        given = {name.strip(): value.strip() for name, _, value in pairs}
        known = [field.name for field in fields(cls)]
        if kind != "words" or not set(given) <= set(known) or len(given) < len(pairs):
            raise ParameterError(
                f"{text!r} is no analyser", hint="write words:stop_words=english,stemmer=english,shortest=2, or less"
            )
        stop_words, shortest = given.get("stop_words", ""), given.get("shortest", "1")
        for choice in get_args(StopWords):
            if stop_words == choice and shortest.isascii() and shortest.isdigit():
                return cls(stop_words=choice, stemmer=given.get("stemmer", ""), shortest=int(shortest))
        raise ParameterError(
            f"{text!r} is no analyser", hint="stop_words is english or empty, shortest a number from 1 on"
        )

    def __str__(self) -> str:
        """The text that `parse` reads."""
        said = [f"{field.name}={getattr(self, field.name)}" for field in fields(self) if self._differs(field.name)]
        return "words:" + ",".join(said) if said else "words"

    @property
    def is_plain(self) -> bool:
        """Whether every word is its own term."""
        return self == Analyser()

    def tokens(self, text: str) -> list[Token]:
        """Terms with the places of their words, for highlighting."""
        words = list(_words(text))
        meant = self.meanings([word.term for word in words])
        return [Token(term, word.start, word.end) for term, word in zip(meant, words, strict=True) if term]

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in its order."""
        return [term for term in self.meanings([word.term for word in _words(text)]) if term]

    def meanings(self, words: Sequence[str]) -> list[str]:
        """The term each lower-cased word stands for; empty where it is left out."""
        left_out = LISTS[self.stop_words]
        kept = ["" if len(word) < self.shortest or word in left_out else word for word in words]
        return stem_words(self.stemmer)(kept) if self.stemmer else kept

    def _differs(self, name: str) -> bool:
        return bool(getattr(self, name) != getattr(Analyser(), name))


def _words(text: str) -> Iterator[Token]:
    """Words as written in small letters, before any is left out."""
    kinds = [kind_of(character) for character in text]
    place = 0
    while place < len(text):
        start = place
        while place < len(text) and _goes_on(kinds, start, place):
            place += 1
        if place > start:
            yield Token("".join(map(lower, text[start:place])), start, place)
        else:
            place += 1


def _goes_on(kinds: list[int], start: int, place: int) -> bool:
    """Whether the character belongs to the word that began at ``start``."""
    match kinds[place]:
        case k if k in {LETTER, NUMBER}:
            return True
        case k if k == MARK:
            return place > start
        case k if k == APOSTROPHE:
            between = place > start and kinds[place - 1] in {LETTER, MARK}
            return between and place + 1 < len(kinds) and kinds[place + 1] == LETTER
        case _:
            return False
