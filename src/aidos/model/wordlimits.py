"""Which words may enter a model of people's texts: common enough, held by enough people, not too common.

A word that few people use may name one of them. Where it is known who wrote each text, words of too few people are left
out before anything is learnt. That is a rule of thumb, not a guarantee: what a model says about words that remain still
comes from those people's texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from aidos.core.checks import check_parameters
from aidos.errors import InputError, ParameterError
from aidos.model.text.batch import Analysed
from aidos.model.text.vocabulary import Vocabulary

__all__ = ["LIMITS", "WordLimits", "common_words", "kept_texts", "kept_words", "said_of_words"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLimits:
    """How many people and texts must have a word, and how many may."""

    least_people: Annotated[int, Ge(1)] = 20
    """The fewest people who use the word; holds where it is known who wrote each text."""
    least_texts: Annotated[int, Ge(1)] = 5
    """The fewest texts that have it."""
    most_share: Annotated[float, Gt(0), Le(1)] = 0.5
    """The largest share of all texts that may have it."""

    def __post_init__(self) -> None:
        check_parameters(self)


LIMITS = WordLimits()
"""What holds where nothing else is said."""


def kept_words(
    read: Analysed, vocabulary: Vocabulary, limits: WordLimits, people: Sequence[object] | None = None
) -> Flags:
    """Which words may enter; ``people`` says who wrote each text. InputError where none may."""
    kept = common_words(read, vocabulary, limits, people)
    if not kept.any():
        raise InputError("no word is left to learn from", hint="give more texts, or lower least_people and least_texts")
    return kept


def common_words(
    read: Analysed, vocabulary: Vocabulary, limits: WordLimits, people: Sequence[object] | None = None
) -> Flags:
    """Which words are within the limits."""
    lengths = np.diff(read.starts)
    in_texts = _holders(read.terms, np.repeat(np.arange(len(read)), lengths), len(vocabulary))
    kept: Flags = (in_texts >= limits.least_texts) & (in_texts <= limits.most_share * len(read))
    if people is not None:
        writers = np.unique(np.array(people), return_inverse=True)[1]
        if len(writers) != len(read):
            raise ParameterError(f"there are {len(read)} texts, but writers of {len(writers)}")
        kept &= _holders(read.terms, np.repeat(writers, lengths), len(vocabulary)) >= limits.least_people
    return kept


def kept_texts(read: Analysed, vocabulary: Vocabulary, kept: Flags) -> Iterator[list[str]]:
    """The words of each text that may enter, in their order."""
    names = np.array(vocabulary.terms(np.arange(len(vocabulary))), dtype=object)
    for begin, end in zip(read.starts[:-1].tolist(), read.starts[1:].tolist(), strict=True):
        words = read.terms[begin:end]
        yield names[words[kept[words]]].tolist()


def said_of_words(note: str, limits: WordLimits, people: Sequence[object] | None) -> str:
    """The note of a model, and what its words may tell about people."""
    shared = f"Each of its words was used by at least {limits.least_people} people."
    unknown = "How many people share its words was not counted: it should stay where its texts are."
    return f"{note} {unknown if people is None else shared}".strip()


def _holders(words: Ints, owners: Longs, vocabulary: int) -> Longs:
    """How many different owners each word has."""
    if not len(words):
        return np.zeros(vocabulary, dtype=np.int64)
    width = int(owners.max()) + 1
    pairs = np.unique(words.astype(np.int64) * width + owners)
    return np.bincount(pairs // width, minlength=vocabulary).astype(np.int64)
