"""The compiled loop of folding in: expectation maximisation for one short text after the other.

A step reads every word's row of phi twice: once for how likely the word is under the mixture, once to share the word
out among the topics. Both run over neighbouring numbers in single precision, so that the compiler takes many topics at
a time; it may add them up in any order, which changes the last digits between kinds of processors and nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aidos.model.compiled import njit

__all__ = ["fold_in"]

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
ANY_ORDER = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def _share_out(
    words: Ints, frequencies: Floats, begin: int, end: int, by_word: Floats, counts: Floats, shared: Floats
) -> bool:
    """Share every word out among the topics by their counts, but for the factor of the count; whether there was any."""
    shared[:] = 0
    seen = False
    for place in range(begin, end):
        if words[place] < 0 or frequencies[place] <= 0:
            continue
        row = by_word[words[place]]
        likely = np.float32(0)
        for topic in range(row.size):
            likely += row[topic] * counts[topic]
        if likely > 0:
            seen = True
            part = frequencies[place] / likely
            for topic in range(row.size):
                shared[topic] += part * row[topic]
    return seen


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def fold_in(
    starts: Longs,
    words: Ints,
    frequencies: Floats,
    by_word: Floats,
    prior: Floats,
    steps: int,
    begin: int,
    end: int,
    found: Floats,
) -> None:
    """Write theta of the entries from ``begin`` to ``end`` to their rows of ``found``.

    ``by_word`` is phi with a row a word. Words below 0, of frequency 0, or impossible under all topics are passed over.
    """
    counts = np.empty(prior.size, dtype=np.float32)
    shared = np.empty(prior.size, dtype=np.float32)
    for entry in range(begin, end):
        counts[:] = prior
        seen = False
        for _ in range(steps):
            seen = _share_out(words, frequencies, starts[entry], starts[entry + 1], by_word, counts, shared)
            if not seen:
                break
            for topic in range(prior.size):
                counts[topic] = counts[topic] * shared[topic] + prior[topic]
        total = np.float32(0)
        for topic in range(prior.size):
            total += counts[topic]
        scale = np.float32(1) / total if seen else np.float32(0)
        for topic in range(prior.size):
            found[entry, topic] = counts[topic] * scale
