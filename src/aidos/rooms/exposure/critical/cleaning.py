"""Queries that nobody would read anything into, marked before ranking (thesis, section 5.5).

A row is left out when a word of its query is shorter than three characters, is a number, stands in the post only within
a web address or only as the name of another account, or when none of its words is in the dictionary; partial matches
are marked as well. The first reason that holds is given. The rows themselves stay: for some people exactly a number or
an address is what hurts, so the raw set is never thrown away, and every list of ranked queries says what it left out.

A dictionary says which words are words of a language: what tells a query that means something from noise. The default
knows English as far as aidos does: the words of the Empath lexicon, of the default taxonomy (typical words, names and
descriptions of its topics) and the stop words, some ten thousand, each with everything that has the same stem. It is no
full dictionary: slang and rare words are missing, and since a query is kept when any of its words is known, that rarely
matters. A community of another language brings its own list, one word a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from aidos.engine.inputs import read_text
from aidos.errors import InputError
from aidos.model.text.analyser import ENGLISH, Analyser, stem_words
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.model.topics import default_taxonomy
from aidos.rooms.exposure.critical.categories import Lexicon
from aidos.rooms.exposure.critical.community import Community, Ints, Longs, Material, gather, keys_of
from aidos.rooms.exposure.critical.features import ADDRESSES, MENTIONS
from aidos.rooms.exposure.queries.records import Exposures

__all__ = ["KEPT", "REASONS", "Cleaned", "Dictionary", "clean", "clean_member"]

Marks = NDArray[np.bool_]

REASONS = ("kept", "partial match", "short word", "number", "web address", "mention", "no dictionary word")
"""Why rows are left out, in the order of precedence, from the second on."""
KEPT, PARTIAL, SHORT, NUMBER, ADDRESS, MENTION, UNKNOWN = range(len(REASONS))
SHORTEST = 3
"""Characters of the shortest word that may say something."""
OF_ADDRESSES = frozenset({"http", "https", "www"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cleaned:
    """For each row why it is left out, or that it is kept."""

    reasons: NDArray[np.uint8]
    """Places in `REASONS`."""

    @property
    def kept(self) -> Marks:
        """Whether each row is kept."""
        kept: Marks = self.reasons == KEPT
        return kept

    def counts(self) -> dict[str, int]:
        """How many rows are left out, by reason; reasons without rows are not listed."""
        found = np.bincount(self.reasons, minlength=len(REASONS)).tolist()
        return {REASONS[code]: found[code] for code in range(1, len(REASONS)) if found[code]}


def clean(
    store: Community, exposures: Exposures, *, dictionary: Dictionary | None = None, partial: bool = False
) -> Cleaned:
    """Mark rows of any members, with the default dictionary if none is given; ``partial`` keeps partial matches."""
    reasons = np.zeros(len(exposures), dtype=np.uint8)
    order = np.argsort(exposures.members, kind="stable")
    _, starts = np.unique(exposures.members[order], return_index=True)
    for rows in np.split(order, starts[1:]):
        own = exposures.take(rows)
        if len(own):
            marked = clean_member(store, own, gather(store, own), dictionary=dictionary, partial=partial)
            reasons[rows] = marked.reasons
    return Cleaned(reasons=reasons)


def clean_member(
    store: Community,
    exposures: Exposures,
    material: Material,
    *,
    dictionary: Dictionary | None = None,
    partial: bool = False,
) -> Cleaned:
    """Mark the rows of one member from what was gathered for them."""
    words = dictionary or Dictionary.default()
    analyser = Analyser.parse(store.settings.analyser)
    posts = material.post_places(exposures)
    first, second = material.term_places(exposures.first), material.term_places(exposures.second)
    none = len(material.terms)
    tables = _by_term(material.spelled)
    known = np.append(words.known(material.spelled, analyser), False)
    linked, mentioned = _inside(store, material, analyser)
    reasons = np.zeros(len(exposures), dtype=np.uint8)
    # The weakest reason first: a stronger one overwrites it.
    reasons[~(known[first] | known[second])] = UNKNOWN
    for code, keys in ((MENTION, mentioned), (ADDRESS, linked)):
        for places in (first, second):
            reasons[_among(keys, material, posts, places)] = code
    for code in (ADDRESS, NUMBER, SHORT):
        marks = tables[code]
        reasons[marks[first] | (marks[second] & (second < none))] = np.uint8(code)
    if not partial:
        reasons[~exposures.whole] = PARTIAL
    return Cleaned(reasons=reasons)


def _by_term(spelled: tuple[str, ...]) -> dict[int, Marks]:
    """What a word alone says, with one place behind where there is no word."""

    def marks(flags: list[bool]) -> Marks:
        return np.array([*flags, False], dtype=np.bool_)

    return {
        ADDRESS: marks([word in OF_ADDRESSES for word in spelled]),
        NUMBER: marks([not any(map(str.isalpha, word)) for word in spelled]),
        SHORT: marks([len(word) < SHORTEST for word in spelled]),
    }


def _inside(store: Community, material: Material, analyser: Analyser) -> tuple[Longs, Longs]:
    """Words of posts (as keys) that stand only within addresses, and only as names of accounts."""
    touched = np.flatnonzero(
        pc.match_substring_regex(material.texts, f"(?:{ADDRESSES})|(?:{MENTIONS})").to_numpy(False)
    )
    texts = material.texts.take(touched)
    without_links = pc.replace_substring_regex(texts, ADDRESSES, " ")
    without_both = pc.replace_substring_regex(without_links, MENTIONS, r"\1 ")
    there = material.keys[_in_order(touched, material.keys >> 32)]
    outside = _in_order(_keys(store, touched, without_links, analyser), there)
    left = _in_order(_keys(store, touched, without_both, analyser), there)
    return there[~outside], there[outside & ~left]


def _keys(store: Community, places: Longs, texts: pa.LargeStringArray, analyser: Analyser) -> Longs:
    """The words of the texts of posts at some places, as keys, rising."""
    vocabulary = Vocabulary()
    found = analyse(texts, vocabulary, analyser=analyser)
    numbers: Ints = store.word_numbers(vocabulary.terms(np.arange(len(vocabulary))))
    return np.sort(keys_of(np.repeat(places, np.diff(found.starts)), numbers[found.terms]))


def _in_order(rising: Longs, asked: Longs) -> Marks:
    """Whether each number is among others that rise."""
    if not len(rising):
        return np.zeros(len(asked), dtype=np.bool_)
    found = np.minimum(np.searchsorted(rising, asked), len(rising) - 1)
    inside: Marks = rising[found] == asked
    return inside


def _among(keys: Longs, material: Material, posts: Longs, terms: Longs) -> Marks:
    """Whether the term at each place stands in its post only where these keys say."""
    words = np.append(material.terms, -1)[terms]
    return _in_order(keys, keys_of(posts, words)) & (words >= 0)


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
        lines = read_text(path, hint="give a text file in UTF-8 with one word a line").splitlines()
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
