"""What people search for, and in which words.

A *need* is a topic and a rank in it: needs of low rank are asked by many, and the tail has no end. A need is put into
words in four *forms*: as it is, with a word more, with another last word, with a word less; sessions move from form to
form. The words follow from the seed, the need and the form alone, so the same need reads the same for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aidos.world.names import SITES, rare_texts, site_names
from aidos.world.streams import Floats, Ints, hash_numbers, hash_units
from aidos.world.vocabulary import WORDS_PER_TOPIC, Vocabulary, pick, zipf_cumulative

__all__ = ["FORMS", "draw_ranks", "draw_sites", "pack_queries", "query_texts", "query_words"]

FORMS = 4
SLOTS = 6
TAIL = 1.2
"""How fast the tail falls: about 1 / (1 + TAIL) of the distinct needs are asked once, however large the world."""
HEAD = 60.0
"""Ranks over which frequencies are nearly level."""
MAX_RANK = 2**30 - 1

SHORT_NEEDS = 20
SHORT_LENGTHS = np.cumsum([0.35, 0.45, 0.20])
LONG_LENGTHS = np.cumsum([0.02, 0.13, 0.30, 0.30, 0.17, 0.08])
BACKGROUND_SHARE = 0.22
RARE_FROM = 200
RARE_SHARE = 0.10
SITE_FORMS = (("{site}",), ("{site}", "login"), ("www", "{site}"), ("{site}", "site"))


def draw_ranks(units: Floats) -> Ints:
    """Ranks of needs for fractions in [0, 1), by a Zipf-Mandelbrot law without an end."""
    ranks = HEAD * ((1.0 - units) ** (-1.0 / TAIL) - 1.0)
    return np.minimum(ranks, MAX_RANK).astype(np.int64)


def draw_sites(units: Floats) -> Ints:
    """Ranks of sites for fractions in [0, 1)."""
    return pick(zipf_cumulative(SITES, shift=1.0), units)


def pack_queries(topics: Ints, ranks: Ints, forms: Ints) -> Ints:
    """One number for a topic, a rank and a form; the topic after the last stands for sites."""
    return ((topics << 30) + ranks) * FORMS + forms


@dataclass(frozen=True, slots=True)
class _Unpacked:
    topics: Ints
    ranks: Ints
    forms: Ints


def _unpack(queries: Ints) -> _Unpacked:
    needs = queries // FORMS
    return _Unpacked(needs >> 30, needs & MAX_RANK, queries % FORMS)


def query_texts(seed: int, vocabulary: Vocabulary, queries: Ints) -> pa.Array:
    """The words of packed queries, as typed."""
    known = vocabulary.arrow_words()
    numbers, lengths, rare = query_words(seed, vocabulary, queries)
    is_rare = np.isin(numbers, -1)
    numbers[is_rare] = len(known) + np.flatnonzero(rare >= 0).cumsum() * 0 + np.arange(int(is_rare.sum()))
    return numbers, lengths
