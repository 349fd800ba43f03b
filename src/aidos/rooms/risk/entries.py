"""Entries as numbers: bags of words, and buckets of time."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aidos.model.text.analyser import Analyser
from aidos.model.text.batch import BatchAnalysis
from aidos.model.text.vocabulary import Vocabulary
from aidos.rooms.risk.kernels import count_words

__all__ = ["BUCKET_ORIGIN", "Bags", "bags_of", "bucket_numbers", "count_bags", "join_bags"]

Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]

DAY = 86_400
BUCKET_ORIGIN = 4 * DAY
"""Buckets are counted from Monday, 5 January 1970 (UTC), in seconds of Unix time: weeks begin on Mondays."""


class Bags(NamedTuple):
    """Entries as bags of words: those of entry i stand from ``starts[i]`` to ``starts[i + 1]``, each word once."""

    starts: Longs
    words: Ints
    """Numbers in a vocabulary, rising within an entry."""
    frequencies: Ints

    def part(self, first: int, last: int) -> Bags:
        """The entries from one number up to another; only the starts are copied."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        return Bags(self.starts[first : last + 1] - begin, self.words[begin:end], self.frequencies[begin:end])


def bucket_numbers(times: Longs, bucket_days: int) -> Longs:
    """The time bucket of every moment, counted from `BUCKET_ORIGIN`; earlier ones are negative."""
    return (times - BUCKET_ORIGIN) // (bucket_days * DAY)


def bags_of(texts: list[str], vocabulary: Vocabulary, analyser: Analyser) -> Bags:
    """Texts as bags of words; new words join the vocabulary."""
    return count_bags(BatchAnalysis(analyser, vocabulary), pa.array(texts, type=pa.large_string()))


def count_bags(analysis: BatchAnalysis, texts: pa.Array[Any]) -> Bags:
    """The words of texts, counted; new words join the vocabulary of the analysis."""
    found = analysis.analyse(texts)
    starts = np.zeros(len(found.starts), dtype=np.int64)
    words, frequencies = np.empty_like(found.terms), np.empty_like(found.terms)
    used = count_words(found.terms, found.starts, starts, words, frequencies)
    return Bags(starts, words[:used].copy(), frequencies[:used].copy())


def join_bags(parts: list[Bags]) -> Bags:
    """One after the other."""
    before = np.cumsum([0, *(int(part.starts[-1]) for part in parts)])
    starts = [part.starts[:-1] + at for part, at in zip(parts, before[:-1].tolist(), strict=True)]
    return Bags(
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.frequencies for part in parts]),
    )
