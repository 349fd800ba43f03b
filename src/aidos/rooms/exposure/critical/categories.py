"""What the words of a query are about: the categories of the Empath lexicon (Fast et al. 2016, MIT licence).

The thesis takes LIWC's eighty categories, which are not free. Empath's 194 were grown from seed words over modern
fiction and checked by people; they overlap (kiss is in love, lust, affection and sexual), and that is fine: each is a
feature of its own. The package that ships the lexicon also talks to a server of its authors when asked for new
categories; it is never imported here, only its data file is read.

Words are compared as they are written, before stemming, since the lexicon lists whole words. Where the community's
analyser stems, a term stands for the words of the post that it came from; a term that the post does not hold stands for
every word of the lexicon that has this stem. What the lexicon lacks has no category, which does not make it harmless.

`Forms` are the words of a member's queries as she wrote them, with their categories. Where the analyser does not stem,
a word of a query is what stands in the post. Where it does, the same term may have come from "kisses" in one post and
from "kissing" in another, and only those words are in a lexicon. `Forms` holds, for every word of every query, the
categories of the words that gave it, post by post.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.errors import InputError, MissingExtraError
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.exposure.critical.community import Community, Longs, Material, keys_of

__all__ = ["CATEGORIES", "Forms", "Lexicon", "category_label"]

Marks = NDArray[np.bool_]

NAMES = """
achievement affection aggression air_travel alcohol ancient anger animal anonymity anticipation appearance art
attractive banking beach beauty blue_collar_job body breaking business car celebration cheerfulness childish children
cleaning clothing cold college communication competing computer confusion contentment cooking crime dance death
deception disappointment disgust dispute divine domestic_work dominant_heirarchical dominant_personality driving
eating economics emotional envy exasperation exercise exotic fabric family farming fashion fear feminine fight fire
friends fun furniture gain giving government hate healing health hearing help heroic hiking hipster home horror
hygiene independence injury internet irritability journalism joy kill law leader legend leisure liquid listen love
lust magic masculine medical_emergency medieval meeting messaging military money monster morning movement music
musical negative_emotion neglect negotiate nervousness night noise occupation ocean office optimism order pain party
payment pet philosophy phone plant play politeness politics poor positive_emotion power pride prison programming rage
reading real_estate religion restaurant ridicule royalty rural sadness sailing school science sexual shame
shape_and_size ship shopping sleep smell social_media sound speaking sports stealing strength suffering superhero
surprise swearing_terms swimming sympathy technology terrorism timidity tool torment tourism toy traveling trust
ugliness urban vacation valuable vehicle violence war warmth water weakness wealthy weapon weather wedding
white_collar_job work worship writing youth zest
"""

CATEGORIES = tuple(NAMES.split())
"""The categories by name, in the order of their features."""

LABELS: Mapping[str, str] = MappingProxyType(
    {
        "blue_collar_job": "manual work",
        "dominant_heirarchical": "rank and hierarchy",
        "dominant_personality": "dominance",
        "poor": "poverty",
        "shape_and_size": "shape and size",
        "swearing_terms": "swearing",
        "valuable": "valuables",
        "wealthy": "wealth",
        "white_collar_job": "office jobs",
    }
)


def category_label(category: str) -> str:
    """A category as people would call it."""
    return LABELS.get(category, category.replace("_", " "))


class Lexicon:
    """Which words belong to which categories; it does not change once made."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        """From the words of each category; categories that are not given have none."""
        if unknown := sorted(set(words) - set(CATEGORIES)):
            raise InputError(
                f"{len(unknown)} categories are not Empath's, the first is {unknown[0]!r}",
                hint="use the categories of Empath 0.89",
            )
        self._places: dict[str, tuple[int, ...]] = {}
        for place, category in enumerate(CATEGORIES):
            for word in sorted(set(words.get(category, ())) - {""}):
                self._places[word] = (*self._places.get(word, ()), place)

    @staticmethod
    def default() -> Lexicon:
        """Empath's, read from its data file; once."""
        return _empath()

    @property
    def words(self) -> frozenset[str]:
        """All words that have a category."""
        return frozenset(self._places)

    def table(self, words: Sequence[str]) -> Marks:
        """Which categories each word is in: a row a word, a column a category."""
        return _filled(self._places, words)

    def term_table(self, terms: Sequence[str], analyser: Analyser) -> Marks:
        """The same for terms of an analyser: the categories of all words of the lexicon that it writes so."""
        if not analyser.stemmer:
            return self.table(terms)
        words = sorted(self._places)
        folded: dict[str, set[int]] = {}
        for term, word in zip(analyser.meanings(words), words, strict=True):
            folded.setdefault(term, set()).update(self._places[word])
        return _filled({term: tuple(places) for term, places in folded.items()}, terms)


def _filled(places: Mapping[str, tuple[int, ...]], words: Sequence[str]) -> Marks:
    marks = np.zeros((len(words), len(CATEGORIES)), dtype=np.bool_)
    for row, word in enumerate(words):
        if word in places:
            marks[row, list(places[word])] = True
    return marks


@cache
def _empath() -> Lexicon:
    return Lexicon(_read(_data_file()))


def _data_file() -> Path:
    found = find_spec("empath")
    if found is None or found.origin is None:
        raise MissingExtraError("what queries are about", extra="exposure")
    return Path(found.origin).parent / "data" / "categories.tsv"


def _read(path: Path) -> dict[str, list[str]]:
    """One category a line: its name, then its words, separated by tabs."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "Empath is installed, but its list of words cannot be read", hint='install it again: pip install "empath"'
        ) from error
    rows = [line.strip().split("\t") for line in lines if line.strip()]
    read = {name: words for name, *words in rows}
    if set(read) != set(CATEGORIES):
        raise InputError(
            f"this Empath has {len(read)} categories that are not the {len(CATEGORIES)} known ones",
            hint='install the version that is known: pip install "empath==0.89"',
        )
    return read


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forms:
    """Categories of the words of queries: one row for each term, one for no word, then one for each term in a post."""

    table: Marks
    keys: Longs
    """Posts and terms of the last rows (see `keys_of`), rising; empty where terms are what was written."""
    terms: int
    """How many rows are for terms."""

    @classmethod
    def of(cls, store: Community, material: Material, lexicon: Lexicon) -> Self:
        """Of one member."""
        analyser = Analyser.parse(store.settings.analyser)
        alone = lexicon.term_table(material.spelled, analyser)
        nothing = np.zeros((1, len(CATEGORIES)), dtype=np.bool_)
        keys, written = _written(store, material, lexicon) if analyser.stemmer else (np.zeros(0, np.int64), nothing[:0])
        return cls(table=np.concatenate([alone, nothing, written]), keys=keys, terms=len(alone))

    def marks(self, material: Material, posts: Longs, terms: Longs) -> Marks:
        """Categories of the term at each place, as the post at each place writes it."""
        rows = terms
        if len(self.keys):
            there = np.flatnonzero(terms < self.terms)
            asked = keys_of(posts[there], material.terms[terms[there]])
            found = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
            held = self.keys[found] == asked
            rows = terms.copy()
            rows[there[held]] = self.terms + 1 + found[held]
        marks: Marks = self.table[rows]
        return marks


def _written(store: Community, material: Material, lexicon: Lexicon) -> tuple[Longs, Marks]:
    """Categories of all words of the posts that give one term, by post and term."""
    vocabulary = Vocabulary()
    found = analyse(material.texts, vocabulary)
    words = vocabulary.terms(np.arange(len(vocabulary)))
    numbers = store.word_numbers(Analyser.parse(store.settings.analyser).meanings(words))
    places = np.repeat(np.arange(len(found), dtype=np.int64), np.diff(found.starts))
    known = numbers[found.terms] >= 0
    keys = keys_of(places[known], numbers[found.terms[known]])
    order = np.argsort(keys, kind="stable")
    keys, starts = np.unique(keys[order], return_index=True)
    marks = lexicon.table(words)[found.terms[known][order]]
    return keys, np.logical_or.reduceat(marks, starts, axis=0) if len(keys) else marks
