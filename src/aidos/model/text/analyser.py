"""What counts as a word of a text: a value that prints, parses and means the same everywhere.

A term is a longest run of letters and numbers in lower case, with the marks that combine with them and with
apostrophes between letters ("don't" is one term, and the stemmer knows how to take the ``'s`` off "Anna's").
Stop words and short words are then left out, and what remains is stemmed.

What it does not do: texts are not normalised, so that full-width letters, ligatures, or accents written as separate
marks make terms of their own (normalise to NFKC before, where that matters). Scripts without blanks between words are
not cut into words: a run of Chinese is one term.

Stems are those of the Snowball algorithms (Porter 2001), through PyStemmer. Stop words stand in nearly every English
text and say little about what it is about. They are function words only: articles, pronouns, prepositions,
conjunctions, forms of be, have and do, modal verbs, and their contractions. Words that may carry meaning in a short
query stay ("first", "new", "against", "over", "work").

Characters are looked at and lower-cased one at a time, without context. Letters (Unicode categories L*) and numbers
(N*) make words; combining marks (M*) go on with a word but do not begin one. The apostrophe, straight or curly, belongs
to a word when a letter stands on both sides, and is written straight. Case is changed character by character: ``İ``
becomes ``i``, and the final sigma is written like every other sigma, so that a Greek word in capitals is the same term
as in small letters.

The tables say the same for compiled code. They follow the version of Unicode that Python brings along.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import ModuleType
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import MissingExtraError, ParameterError
from aidos.model.text.inflection import lemma

__all__ = [
    "APOSTROPHE",
    "ENGLISH",
    "LETTER",
    "MARK",
    "NUMBER",
    "OTHER",
    "Analyser",
    "Token",
    "check_language",
    "kind_of",
    "lower",
    "stem_words",
    "tables",
]

KEPT = threading.local()
"""A stemmer works for one thread, so each thread has its own."""


def check_language(language: str) -> None:
    """Refuse a language that has no stemmer."""
    if language == LEMMAS:
        return
    known = _snowball().algorithms()
    if language not in known:
        raise ParameterError(f"there is no stemmer called {language!r}", hint=f"choose from {', '.join(known)}")


def stem_words(language: str) -> Callable[[list[str]], list[str]]:
    """The function that stems a list of words of that language."""
    if language == LEMMAS:
        return lambda words: list(map(lemma, words))
    if language not in vars(KEPT):
        check_language(language)
        # Words come here once each, so a memory of its own would only cost time.
        setattr(KEPT, language, _snowball().Stemmer(language, 0))
    stem: Callable[[list[str]], list[str]] = getattr(KEPT, language).stemWords
    return stem


def _snowball() -> ModuleType:
    try:
        import Stemmer
    except ImportError as error:
        raise MissingExtraError("stemming", extra="search") from error
    snowball: ModuleType = Stemmer
    return snowball


WORDS = """
a an the this that these those
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves who whom whose which what
of to in on at by for from with into onto upon as than about
and or but nor so if because while although though whether
am is are was were be been being have has had having do does did doing
can could may might must shall should will would
not no there here when where why how then too also very just
i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd
i'll you'll he'll she'll it'll we'll they'll that's there's what's who's let's
isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't can't cannot couldn't mustn't
shan't shouldn't won't wouldn't
"""

ENGLISH = frozenset(WORDS.split())
"""About a hundred and fifty words, in small letters with straight apostrophes."""


StopWords = Literal["", "english"]
LISTS: dict[str, frozenset[str]] = {"": frozenset(), "english": ENGLISH}
LEMMAS = "lemmas"
"""What stands for a stemmer where only plurals become singulars."""


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
    """The language of the Snowball stemmer, such as english; lemmas only makes plurals singular; empty does neither."""
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
        return not self.stop_words and not self.stemmer and self.shortest == 1

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


OTHER, LETTER, NUMBER, MARK, APOSTROPHE = range(5)
KINDS = {"L": LETTER, "N": NUMBER, "M": MARK}
APOSTROPHES = "'\u2019"
FINAL_SIGMA, SIGMA = "ςσ"
CODE_POINTS = 0x110000


def kind_of(character: str) -> int:
    """What a character is to a word."""
    if character in APOSTROPHES:
        return APOSTROPHE
    return KINDS.get(unicodedata.category(character)[0], OTHER)


def lower(character: str) -> str:
    """The small letter of one character: always one character."""
    if character in APOSTROPHES:
        return "'"
    small = character.lower()[0]
    return SIGMA if small == FINAL_SIGMA else small


@cache
def tables() -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Kind and small letter of every code point."""
    everything = list(map(chr, range(CODE_POINTS)))
    kinds = np.fromiter((KINDS.get(name[0], OTHER) for name in map(unicodedata.category, everything)), dtype=np.uint8)
    small = np.arange(CODE_POINTS, dtype=np.int32)
    for point in np.flatnonzero((kinds == LETTER) | (kinds == NUMBER) | (kinds == MARK)).tolist():
        small[point] = ord(lower(everything[point]))
    for character in APOSTROPHES:
        kinds[ord(character)] = APOSTROPHE
        small[ord(character)] = ord("'")
    return kinds, small
