"""Many texts at once: the numbers of their terms, by compiled code over their bytes.

The result is that of `Analyser.terms`, text by text. Leaving words out and stemming is done once for every distinct
word and remembered, so that it costs nothing for the words that come again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.model.text.analyser import Analyser, tables
from aidos.model.text.kernels import scan, translate
from aidos.model.text.vocabulary import Strings, Texts, Vocabulary, arrow_chunks, packed, portions

__all__ = ["Analysed", "BatchAnalysis", "analyse", "split_words"]

PORTION = 1 << 18
"""Bytes of text that are analysed in one go: enough to be fast, little beside everything else in memory."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analysed:
    """The terms of texts: those of text i stand from ``starts[i]`` to ``starts[i + 1]``."""

    terms: NDArray[np.int32]
    """Numbers in the vocabulary."""
    starts: NDArray[np.int64]
    """One more than there are texts."""

    def __len__(self) -> int:
        return len(self.starts) - 1


class BatchAnalysis:
    """An analyser at work on a vocabulary, with its memory of what words mean."""

    def __init__(self, analyser: Analyser, vocabulary: Vocabulary) -> None:
        self.analyser = analyser
        self.vocabulary = vocabulary
        self._words = vocabulary if analyser.is_plain else Vocabulary()
        self._meanings: NDArray[np.int32] = np.zeros(0, dtype=np.int32)

    def analyse(self, texts: Texts) -> Analysed:
        """The terms of texts; new ones join the vocabulary."""
        parts = [part for chunk in arrow_chunks(texts) for part in self._portions(chunk)]
        return _joined(parts)

    def _portions(self, chunk: Strings) -> Iterator[Analysed]:
        data, bounds = packed(chunk)
        for portion in portions(bounds, PORTION):
            words, ends, starts = split_words(data, portion)
            found = self._words.intern_packed(words, ends)
            if self._words is not self.vocabulary:
                self._learn()
                found = found[: translate(found, starts, self._meanings)]
            yield Analysed(terms=found, starts=starts)

    def _learn(self) -> None:
        """Look up what the new words mean, in the order in which they came."""
        known, number = len(self._meanings), len(self._words)
        if number == known:
            return
        meant = self.analyser.meanings(self._words.terms(np.arange(known, number)))
        kept = np.array([bool(term) for term in meant])
        meanings = np.full(number, -1, dtype=np.int32)
        meanings[:known] = self._meanings
        terms = pa.array([term for term in meant if term], type=pa.large_string())
        meanings[known:][kept] = self.vocabulary.intern(terms)
        self._meanings = meanings


def analyse(texts: Texts, vocabulary: Vocabulary, *, analyser: Analyser | None = None) -> Analysed:
    """The terms of texts as numbers in a vocabulary, which grows by what is new."""
    return BatchAnalysis(analyser or Analyser(), vocabulary).analyse(texts)


def split_words(
    data: NDArray[np.uint8], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The words of packed texts, packed likewise: their bytes, their bounds, and where each text begins among them."""
    size = int(bounds[-1] - bounds[0])
    words = np.empty(2 * size, dtype=np.uint8)
    ends = np.empty(size // 2 + len(bounds) + 1, dtype=np.int64)
    starts = np.empty(len(bounds), dtype=np.int64)
    number, written = scan(data, bounds, *tables(), words, ends, starts)
    return words[:written], ends[: number + 1], starts


def _joined(parts: list[Analysed]) -> Analysed:
    if len(parts) == 1:
        return parts[0]
    sizes = np.cumsum([0, *(part.starts[-1] for part in parts)])
    starts = [part.starts[:-1] + before for part, before in zip(parts, sizes[:-1], strict=True)]
    return Analysed(
        terms=np.concatenate([np.zeros(0, dtype=np.int32), *(part.terms for part in parts)]),
        starts=np.concatenate([*starts, sizes[-1:]]),
    )
