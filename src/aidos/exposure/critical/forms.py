"""The words of a member's queries as she wrote them, with their categories.

Where the analyser does not stem, a word of a query is what stands in the post. Where it does, the same term may have
come from "kisses" in one post and from "kissing" in another, and only those words are in a lexicon. `Forms` holds, for
every word of every query, the categories of the words that gave it, post by post.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from aidos.exposure.critical.categories import CATEGORIES, Lexicon
from aidos.exposure.critical.community import Community, Longs, Material, keys_of
from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import analyse
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["Forms"]

Marks = NDArray[np.bool_]


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
